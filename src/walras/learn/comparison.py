"""``compare``: methods x settings x sizes x seeds, in parallel processes, resumable, one table.

A cell is one setting, size, round size and seed; its methods share split, rounds, oracle and
two-stage start. A finished cell is a file, so a stopped comparison goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras import checks
from walras.deprecated import renamed_keywords
from walras.errors import DataError, EngineError, InputError, WalrasError
from walras.files import write_text
from walras.learn.decide import placed_by, tuned_margin
from walras.learn.fit import fit
from walras.learn.fitting import FittedModel, fit_problem, two_stage, view_of, viewed
from walras.learn.run_config import LOG, RunConfig, by_name, grid
from walras.learn.settings import LINEAR, THROUGH, LearnSettings
from walras.learn.training_problem import (
    Evaluator,
    TrainingProblem,
    complete,
    draw,
    training_problem,
)
from walras.machine import cores
from walras.pool import deaf_children, open_pool
from walras.predict import Predictor, Recipe, Tasks
from walras.progress import OnProgress, counts, tell
from walras.status import Status
from walras.types import Ints

__all__ = ["COLUMNS", "KEYS", "METRICS", "RunConfig", "compare", "finished", "measured", "run_cell"]

METRICS = (
    "elastic_regret",
    "hard_regret",
    "paper_regret",
    "violations",
    "shortfall",
    "penalised_regret",
    "reliability",
    "utilisation",
)
KEYS = ("method", "setting", "train_tasks", "tasks_per_round", "seed")
COLUMNS = (*KEYS, *METRICS, "seconds", "source", "error")


@renamed_keywords(counts, progress="on_progress")
def compare(
    methods: Sequence[str | LearnSettings] | Mapping[str, LearnSettings],
    settings: Sequence[Sequence[str] | str] | None = None,
    *,
    train_tasks: Sequence[int] | None = None,
    tasks_per_round: Sequence[int] = (5,),
    seeds: int | Sequence[int] = 20,
    data: str | Tasks = "nb201",
    min_success: float | None = None,
    test_rounds: int = 300,
    workers: int | None = None,
    folder: str | Path | None = None,
    on_progress: OnProgress | None = None,
    recipe_options: Mapping[str, Any] | None = None,
    **changes: Any,
) -> pd.DataFrame:
    """Train and judge methods on the same splits and rounds.

    Args:
        methods: Names of ``walras.learn.METHODS``, complete settings, or names of your own with
            settings.
        settings: Lists of clusters, or the letters of known settings; the recipe's own clusters, A
            of ``nb201``, if None.
        train_tasks: Numbers of tasks to train on. If None: 40; of a log, all that are not held out.
        tasks_per_round: Numbers of tasks in a round.
        seeds: How many, from 0; or which.
        data: Name of the recipe; or tasks of a log of yours, of which each seed holds a quarter out
            to validate on and a quarter to judge by.
        min_success: Least mean success of a round, 0 to 1; one that binds in half of the rounds if
            None.
        test_rounds: Rounds that each cell is judged by.
        workers: Processes of one thread each; one for each core if None, 1 for this process alone.
        folder: Folder of finished cells, which a later call goes on from.
        on_progress: Called with a Progress that counts the cells; True returns those so far.
        recipe_options: Other options of :func:`walras.predict.recipe`.
        changes: Settings of every method, by name.

    Returns:
        One row a method, setting, size and seed; columns ``COLUMNS``. ``elastic_regret`` is that of
        the elastic decoder, the rest that of the decoder under a hard floor. ``paper_regret`` is
        equation 6 of Huo et al. (ICPP 2025): seconds of makespan a task above the oracle's, which
        places exactly under the floor; negative where missing the floor saves time. A method that
        failed has its error and no numbers. ``attrs["complete"]`` is False after Ctrl-C or where
        ``on_progress`` stopped it, which keep the finished cells; ``attrs["status"]`` says so.

    Raises:
        InputError: A name is unknown, tasks are too few, the methods' terms differ, or the folder
            holds another comparison.
        DataError: The folder cannot be used.
        EngineError: A worker process ended: a script that calls this needs the guard ``if __name__
            == "__main__"``, since workers import it.

    Example:
        >>> import walras as wl
        >>> sizes = {"validation_tasks": 80, "test_tasks": 40, "synthetic": True}
        >>> frame = wl.learn.compare(["tam", "tsm-log"], ["A"], seeds=1, test_rounds=20, workers=1,
        ...                          recipe_options=sizes, rounds=20)
        >>> frame[["method", "tasks_per_round", "seed"]].values.tolist()
        [['tam', 5, 0], ['tsm-log', 5, 0]]
    """
    if workers is not None:
        workers = checks.whole(workers, "setting workers", 1, 10**6)
    chosen = by_name(methods, changes)
    tasks = _own_tasks(data, settings, recipe_options)
    if train_tasks is None:
        train_tasks = (40,) if tasks is None else (len(tasks) - 2 * round(len(tasks) / 4),)
    rest = {
        "recipe": data if tasks is None else f"{LOG}-{_digest(tasks)}",
        "test_rounds": test_rounds,
        "min_success": min_success,
        "options": tuple(sorted((recipe_options or {}).items())),
    }
    cells = grid(settings, train_tasks, tasks_per_round, seeds, rest, tasks)
    store = _Store(None if folder is None else Path(folder), chosen)
    work = partial(run_cell, methods=chosen, tasks=tasks)
    rows, stopped = _rows(cells, work, store, workers or cores(), on_progress)
    frame = pd.DataFrame([row for cell in cells for row in rows.get(cell, ())], columns=COLUMNS)
    frame.attrs["complete"] = not stopped
    frame.attrs["status"] = str(Status.INTERRUPTED if stopped else Status.FEASIBLE)
    return frame


def _own_tasks(
    data: object, settings: object, recipe_options: Mapping[str, Any] | None
) -> Tasks | None:
    """The user's own tasks, or None where a recipe is named.

    Raises:
        InputError: It is neither, or what only recipes have is given with tasks.
    """
    if isinstance(data, str):
        return None
    allowed = "the name of a recipe, or tasks of a log"
    remedy = "make tasks with walras.predict.read_log(path).tasks(features)"
    tasks = checks.of_kind(data, Tasks, "data", allowed, remedy=remedy)
    for name, given in (("settings", settings), ("recipe_options", recipe_options)):
        if given is not None:
            raise InputError(
                "is given with tasks of a log",
                where=name,
                allowed="None: a log has its own clusters",
                remedy="leave it out, or filter the log before",
            )
    return tasks


def _digest(tasks: Tasks) -> str:
    """Of the tasks, so that a folder keeps cells of one log apart from those of another."""
    found = hashlib.sha256(repr((tasks.names, tasks.clusters)).encode())
    for array in (tasks.features, tasks.times, tasks.success):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:8]


Work = Callable[[RunConfig], list[dict[str, Any]]]
Finished = Callable[[RunConfig, list[dict[str, Any]]], bool]  # whether to stop


def _rows(
    cells: Sequence[RunConfig],
    work: Work,
    store: _Store,
    workers: int,
    on_progress: OnProgress | None,
) -> tuple[dict[RunConfig, list[dict[str, Any]]], bool]:
    """The rows of each cell, those that are missing run now; and whether it was stopped."""
    rows = {cell: kept for cell in cells if (kept := store.read(cell)) is not None}
    todo = [cell for cell in cells if cell not in rows]

    def finished(cell: RunConfig, own: list[dict[str, Any]]) -> bool:
        rows[cell] = own
        store.write(cell, own)
        return tell(on_progress, len(rows), len(cells)) and len(rows) < len(cells)

    count = min(workers, max(1, len(todo)))
    stopped = _here(todo, work, finished) if count == 1 else _apart(todo, work, finished, count)
    return rows, stopped


def _here(
    todo: Sequence[RunConfig],
    work: Work,
    finished: Finished,
) -> bool:
    try:
        for cell in todo:
            if finished(cell, work(cell)):
                return True
    except KeyboardInterrupt:
        return True
    return False


def _apart(
    todo: Sequence[RunConfig],
    work: Work,
    finished: Finished,
    workers: int,
) -> bool:
    try:
        with open_pool(workers, _alone) as pool:
            with deaf_children():
                jobs = {pool.submit(work, cell): cell for cell in todo}
            for job in as_completed(jobs):
                if finished(jobs[job], job.result()):
                    return True
    except KeyboardInterrupt:
        return True
    except BrokenProcessPool as error:
        raise EngineError(
            "ended at once; finished cells are kept",
            where=f"a process of workers={workers}",
            allowed="a script whose own work stands below: if __name__ == '__main__'",
            remedy="guard the script so, or give workers=1; or it ran out of memory",
        ) from error
    return False


def _alone() -> None:
    """A worker has one thread, and leaves Ctrl-C to the process that asked for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Imported here: torch is an optional extra.
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec("torch") is not None:
        import torch  # noqa: PLC0415

        torch.set_num_threads(1)


def run_cell(
    cell: RunConfig, methods: Mapping[str, LearnSettings], tasks: Tasks | None = None
) -> list[dict[str, Any]]:
    """Train every method on a cell and judge it on the test set, which nothing was chosen by."""
    data = cell.load(tasks)
    starts: dict[str, tuple[Predictor, float]] = {}
    evaluators: dict[str, tuple[TrainingProblem, Evaluator]] = {}
    rows = []
    for name, settings in methods.items():
        own = settings.with_(seed=cell.seed)
        row = {
            "method": name,
            "setting": cell.setting,
            "train_tasks": cell.train_tasks,
            "tasks_per_round": cell.tasks_per_round,
            "seed": cell.seed,
            "source": data.source,
            "error": "",
        }
        try:
            made, evaluator = _judge(cell, data, own, evaluators)
            learned, seconds = _timed(cell, data, made, own, starts)
            row |= {**_metrics(learned, made, evaluator), "seconds": seconds}
        except WalrasError as error:
            row["error"] = str(error)
        rows.append(row)
    return rows


def _judge(
    cell: RunConfig,
    data: Recipe,
    settings: LearnSettings,
    known: dict[str, tuple[TrainingProblem, Evaluator]],
) -> tuple[TrainingProblem, Evaluator]:
    """A training problem and its test rounds; methods of equal terms share them and the oracle."""
    key = repr((settings.objective, settings.price, settings.speedup, settings.rounds))
    if key not in known:
        made = training_problem(
            data, settings, tasks_per_round=cell.tasks_per_round, min_success=cell.min_success
        )
        rounds = draw(complete(data.test), cell.test_rounds, cell.tasks_per_round, (cell.seed, 25))
        known[key] = made, Evaluator(data.test, rounds, made.terms)
    return known[key]


def _timed(
    cell: RunConfig,
    data: Recipe,
    made: TrainingProblem,
    settings: LearnSettings,
    starts: dict[str, tuple[Predictor, float]],
) -> tuple[FittedModel, float]:
    """The trained method and its seconds, those of its two-stage start among them."""
    begin = time.perf_counter()
    if settings.method == "auto":
        found = fit(
            settings, data, tasks_per_round=cell.tasks_per_round, min_success=cell.min_success
        )
        return found, time.perf_counter() - begin
    if settings.method not in (*THROUGH, *LINEAR):
        found = fit_problem(made, settings)
        return found, time.perf_counter() - begin
    key = repr(
        (
            settings.model,
            settings.link,
            settings.trunk,
            settings.members,
            settings.epochs,
            settings.decoder,
            settings.margin,
        )
    )
    if key not in starts:
        starts[key] = two_stage(view_of(made, settings), settings), time.perf_counter() - begin
    start, spent = starts[key]
    begin = time.perf_counter()
    found = fit_problem(made, settings, start=start)
    return found, time.perf_counter() - begin + spent


def _metrics(learned: FittedModel, made: TrainingProblem, evaluator: Evaluator) -> dict[str, float]:
    """Both decoders on the test rounds, each with its own margin."""
    own, held = learned.settings, made.validation
    tuning = learned.predictor.predict(viewed(held.tasks, own))
    found = learned.predictor.predict(viewed(evaluator.tasks, own))
    placed = {}
    for decoder in ("elastic", "hard"):
        way = own if own.decoder == "relaxed" else own.with_(decoder=decoder)
        margin = tuned_margin(held, tuning.times, tuning.success, way)
        placed[decoder] = placed_by(evaluator, found.times, found.success, way, margin)
    return measured(evaluator, placed)


def measured(evaluator: Evaluator, placed: Mapping[str, Ints]) -> dict[str, float]:
    """The ``METRICS`` of placements by both decoders, ``elastic`` and ``hard``."""
    hard = evaluator.hard(placed["hard"])
    return {
        "elastic_regret": float(evaluator.elastic(placed["elastic"]).mean()),
        "hard_regret": hard["regret"],
        "paper_regret": hard["paper_regret"],
        "violations": hard["violated"],
        "shortfall": hard["shortfall"],
        "penalised_regret": hard["penalised_regret"],
        "reliability": hard["mean_success"],
        "utilisation": hard["utilisation"],
    }


class _Store:
    """The folder of finished cells, or none."""

    def __init__(self, folder: Path | None, methods: Mapping[str, LearnSettings]) -> None:
        self._cells = None if folder is None else folder / "cells"
        if folder is None or self._cells is None:
            return
        stated = {name: repr(own) for name, own in methods.items()}
        file = folder / "methods.json"
        try:
            self._cells.mkdir(parents=True, exist_ok=True)
            if file.exists() and json.loads(file.read_text()) != stated:
                raise InputError(
                    "holds a comparison of other methods",
                    where=f"folder {folder}",
                    allowed="the same methods and settings",
                    remedy="choose another folder",
                )
            write_text(file, json.dumps(stated, indent=2))
        except (OSError, ValueError) as error:
            raise DataError(
                f"cannot be used: {error}",
                where=f"folder {folder}",
                allowed="a folder you may write to",
                remedy="choose another folder",
            ) from error

    def read(self, cell: RunConfig) -> list[dict[str, Any]] | None:
        """The rows of a finished cell."""
        if self._cells is None or not (file := self._cells / f"{cell.name}.json").exists():
            return None
        rows: list[dict[str, Any]] = json.loads(file.read_text())
        return rows

    def write(self, cell: RunConfig, rows: list[dict[str, Any]]) -> None:
        """Keep a cell, whole or not at all."""
        if self._cells is None:
            return
        file = self._cells / f"{cell.name}.json"
        write_text(file, json.dumps(rows))


def finished(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that have numbers.

    Raises:
        EngineError: There are none; tells the first failure.
    """
    good = frame[frame["error"] == ""]
    if good.empty:
        first = frame["error"].iloc[0] if len(frame) else "no cell was finished"
        raise EngineError(
            f"nothing to compare: {first}",
            where="compare",
            allowed="a method that finished",
            remedy="correct what the error names",
        )
    return good
