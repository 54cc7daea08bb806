"""``walras network compare``: the rivals beside the algorithm."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from walras.cli.common.figures import need_figures
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.progress import Stages
from walras.cli.network_options import (
    ConfigArgument,
    ProgressOption,
    SaveOption,
    StepsOption,
    read,
    shown,
)
from walras.errors import InputError
from walras.files import write_csv
from walras.network import baselines
from walras.network._simulate import simulate
from walras.network.methods.interfaces import Method
from walras.network.problem.network_problem import Problem
from walras.network.problem.quanta import DivergedError
from walras.network.run import Run
from walras.network.scenario.scenario import Scenario
from walras.network.validation import whole
from walras.reports.tables import Cell, Table

_COLUMNS = (
    "of", "method", "gap", "step at 1e-6", "bits at 1e-6", "budget off", "out of box",
    "consensus error", "seconds", "left out",
)  # fmt: skip
_SHORT = {
    "shares": ("method", "gap", "step at 1e-6", "budget off", "out of box", "seconds"),
    "model": ("method", "gap", "step at 1e-6", "bits at 1e-6", "consensus error", "seconds"),
}  # columns that fit a terminal


class Entry(NamedTuple):
    """A method in one of the contests.

    Attributes:
        of: ``shares`` or ``model``.
        problem: What it is to solve.
        method: It.
    """

    of: str
    problem: Problem
    method: Method


def compare(
    config: ConfigArgument = None,
    steps: StepsOption = None,
    save: SaveOption = None,
    progress: ProgressOption = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run the rivals beside the algorithm: same problem, graph and links, no faults.

    Methods that cannot state the problem, or that diverge on it, are left out with the reason.

    Examples:

      walras network compare scenario.toml --steps 1000
    """
    stated = read(config)
    count = stated.steps if steps is None else whole(steps, "--steps", least=1)
    if save is not None:
        need_figures("--save")
    entries = _entries(stated)
    runs: dict[tuple[str, str], Run] = {}
    left_out: dict[tuple[str, str], str] = {}
    with shown({_stage(entry): 1.0 for entry in entries}, progress) as stages:
        for entry in entries:
            stages.begin(_stage(entry))
            key = (entry.of, entry.method.name)
            try:
                runs[key] = _run(stated, entry, count, stages)
            except (InputError, DivergedError) as error:
                if entry.method is stated.method:
                    raise
                left_out[key] = error.what + (f"; {error.allowed}" if error.allowed else "")
    rows = [_compared(*key, run) for key, run in runs.items()]
    rows += [(*key, *[None] * (len(_COLUMNS) - 3), reason) for key, reason in left_out.items()]
    _print(Table(_COLUMNS, rows), output)
    if save is not None:
        _save(save, stated, runs, left_out)


def _entries(stated: Scenario) -> list[Entry]:
    """Methods for the shares on the CPU alone, methods for the model on everything."""
    whole_ = stated.problem
    alone = Problem(whole_.costs, whole_.budget, (whole_.low, whole_.high))
    sharers = (
        stated.method,
        baselines.LaplacianGradient(),
        baselines.HeavyBall(),
        baselines.SignPower(0.02),
        baselines.AdmmSharing(),
        baselines.RatioConsensus(),
    )
    learners = (
        stated.method,
        baselines.Extra(),
        baselines.Nids(),
        baselines.DIGing(),
        baselines.FederatedAveraging(),
        baselines.Centralised(),
    )
    found = [Entry("shares", alone, method) for method in sharers]
    if whole_.loss is not None:
        found += [Entry("model", whole_, method) for method in learners]
    return found


def _stage(entry: Entry) -> str:
    return f"{entry.of}: {entry.method.name}"


def _run(stated: Scenario, entry: Entry, steps: int, stages: Stages) -> Run:
    return simulate(
        entry.problem,
        stated.network,
        links=stated.links,
        steps=steps,
        seed=stated.seed,
        method=entry.method,
        every=min(stated.every, steps),
        test=stated.test if entry.of == "model" else None,
        on_progress=stages.count,
    )


def _compared(of: str, name: str, run: Run) -> tuple[Cell, ...]:
    trained = of == "model"
    gap = run.loss_gap if trained else run.cost_gap
    reached = np.abs(gap) < 1e-6
    first = int(reached.argmax()) if reached.any() else None
    return (
        of,
        name,
        max(0.0, float(gap[-1])) if trained else float(gap[-1]),
        None if first is None else int(run.recorded[first]),
        None if first is None else int(run.bits[first]),
        float(run.held[-1] - run.problem.budget),
        run.largest_excess,
        float(run.consensus_error[-1]) if trained else None,
        float(run.seconds[-1]),
        None,
    )


def _print(table: Table, output: Format) -> None:
    if output is not Format.TABLE:
        emit(table, output)
        return
    records = table.records()
    for of, columns in _SHORT.items():
        own = [r for r in records if r["of"] == of and r["left out"] is None]
        rows = [[_brief(r[name]) for name in columns] for r in own]
        if rows:
            emit(Table(columns, rows, f"{of}: the same problem, graph, links and steps; no faults"))
    left = [(f"{r['method']} ({r['of']})", r["left out"]) for r in records if r["left out"]]
    if left:
        emit(Table(("left out", "because"), left))


def _brief(cell: Cell) -> Cell:
    """Three significant digits: six columns of six do not fit a terminal."""
    return float(f"{cell:.3g}") if isinstance(cell, float) else cell


def _save(
    folder: Path,
    stated: Scenario,
    runs: dict[tuple[str, str], Run],
    left_out: dict[tuple[str, str], str],
) -> None:
    # Imported here: matplotlib is an optional extra and takes half a second.
    from walras.plot import network as figures
    from walras.plot.files import save
    from walras.reports.network import write_record

    steps = next(iter(runs.values())).steps
    methods: list[dict[str, Any]] = [{"of": of, "method": name} for of, name in runs]
    methods += [
        {"of": of, "method": name, "left out": reason} for (of, name), reason in left_out.items()
    ]
    write_record(folder, stated, steps, {"seed": stated.seed, "methods": methods})
    frames = [
        run.frame().assign(of=of, loss=run.loss_gap if of == "model" else float("nan"))
        for (of, _), run in runs.items()
    ]
    frame = pd.concat(frames).rename(columns={"loss": "loss_gap"})
    write_csv(folder / "methods.csv", frame)
    drawn = (("shares", "cost_gap"), ("model", "loss_gap"), ("model", "accuracy"))
    for of, value in drawn:
        own = frame[(frame["of"] == of)].dropna(subset=[value])
        if own.empty:
            continue
        for across in ("step", "bits", "seconds"):
            figure = figures.progress_of_methods(own, value, across)
            save(figure, folder / f"{value}_{across}.png")
