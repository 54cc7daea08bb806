"""What a run on a network leaves in a folder: ``run.json``, tables and figures."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from walras.files import write_csv, write_text
from walras.network._advise import advise
from walras.network.drivers.folder import made
from walras.network.run import Run
from walras.network.scenario.scenario import Scenario
from walras.plot import network as figures
from walras.plot.files import save
from walras.reports.tables import to_json


def save_run(folder: Path, stated: Scenario, run: Run, seed: int, facts: dict[str, Any]) -> Path:
    """run.json, steps.csv, shares.csv and figures.

    Args:
        folder: Made if it is not there.
        stated: What was run.
        run: What came out of it.
        seed: Of faults and batches.
        facts: What it came to, by name.

    Raises:
        DataError: The folder cannot be made.
    """
    result = {k: v for k, v in facts.items() if k != "seconds"}
    found = {"method": run.method, "chosen": _chosen(stated), "result": result}
    write_record(folder, stated, run.steps, {"seed": seed, **found})
    frame = run.frame()
    write_csv(folder / "steps.csv", frame.drop(columns="seconds"))
    write_csv(folder / "shares.csv", run.share_frame())
    drawn = {
        "cost_gap": figures.progress_of_methods(frame),
        "cost_gap_bits": figures.progress_of_methods(frame, across="bits"),
        "cost_gap_seconds": figures.progress_of_methods(frame, across="seconds"),
        "shares": figures.shares_over_time(run.share_frame(), run.optimum.shares),
        "audit": figures.budget_audit(frame, stated.problem.budget),
        "graph": figures.graph(stated.network, run.shares[-1]),
    }
    if run.model is not None:
        drawn["consensus_error"] = figures.progress_of_methods(frame, "consensus_error")
    if not frame["accuracy"].isna().all():
        drawn["test_accuracy"] = figures.training(frame)
        drawn["test_accuracy_bits"] = figures.training(frame, "bits")
    if run.epoch is not None:
        drawn["epochs"] = figures.epochs(run.epoch)
    for name, figure in drawn.items():
        save(figure, folder / f"{name}.png")
    return folder


def write_record(folder: Path, stated: Scenario, steps: int, found: dict[str, Any]) -> None:
    """run.json: what is needed to run it again, defaults included, and what was found.

    Raises:
        DataError: The folder cannot be made.
    """
    made(folder)
    every = min(stated.every, steps)
    record = {
        "walras": version("walras"),
        "python": platform.python_version(),
        "scenario": _plain({**stated.tables, "steps": steps, "every": every}),
        **found,
    }
    write_text(folder / "run.json", to_json(_plain(record)) + "\n")


def _chosen(stated: Scenario) -> dict[str, Any]:
    """The steps that were computed from the problem, and how the model was learnt."""
    steps = advise(
        stated.problem,
        stated.network,
        links=stated.links,
        faults=stated.faults,
        method=stated.method,
    ).steps
    chosen: dict[str, Any] = {"share_step": steps.share, "share_momentum": steps.momentum}
    if stated.problem.loss is None:
        return chosen
    weight = {"mix": steps.mix} if steps.learner == "diffusion" else {"alpha": steps.alpha}
    return chosen | {"learner": steps.learner, "model_step": steps.model, **weight}


def _plain(value: Any) -> Any:
    """As JSON can hold it: a number that is not finite as text."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
