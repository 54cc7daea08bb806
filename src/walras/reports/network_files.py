"""What a run or a deployment on a network leaves in a folder: ``run.json``, tables, figures."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from walras.files import write_csv, write_text
from walras.network._advise import advise
from walras.network._deploy import Deployment
from walras.network.drivers.folder import made
from walras.network.run import Run
from walras.network.scenario.comparison import Comparison
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
    found = {"method": run.method, "chosen": _chosen(stated), "result": _without_seconds(facts)}
    write_record(folder, stated, run.steps, {"seed": seed, **found})
    drawn = {
        **_tables(folder, stated, run),
        "graph": figures.graph(stated.network, run.shares[-1]),
    }
    frame = run.frame()
    if run.model is not None:
        drawn["consensus_error"] = figures.progress_of_methods(frame, "consensus_error")
    if not frame["accuracy"].isna().all():
        drawn["test_accuracy"] = figures.training(frame)
        drawn["test_accuracy_bits"] = figures.training(frame, "bits")
    return _drawn(folder, drawn)


def save_deployment(
    folder: Path, stated: Scenario, found: Deployment, steps: int, facts: dict[str, Any]
) -> Path:
    """run.json, steps.csv, shares.csv and figures.

    Args:
        folder: Made if it is not there.
        stated: What was run.
        found: What came out of it.
        steps: That were asked for.
        facts: What it came to, by name.

    Raises:
        DataError: The folder cannot be made.
    """
    record = {"seed": stated.seed, "method": "deployment", "result": _without_seconds(facts)}
    write_record(folder, stated, steps, record)
    drawn = _tables(folder, stated, found)
    return _drawn(folder, {**drawn, "graph": figures.graph(stated.network.at(0), found.shares)})


def _without_seconds(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name != "seconds"}


def _tables(folder: Path, stated: Scenario, run: Run | Deployment) -> dict[str, Figure]:
    """Write steps.csv and shares.csv; the figures that runs and deployments share."""
    frame, shares = run.frame(), run.share_frame()
    write_csv(folder / "steps.csv", frame.drop(columns="seconds"))
    write_csv(folder / "shares.csv", shares)
    drawn = {
        "cost_gap": figures.progress_of_methods(frame),
        "cost_gap_bits": figures.progress_of_methods(frame, across="bits"),
        "cost_gap_seconds": figures.progress_of_methods(frame, across="seconds"),
        "shares": figures.shares_over_time(shares, run.optimum.shares),
        "audit" if "audit" in frame else "held": figures.budget_audit(frame, stated.problem.budget),
    }
    if run.epoch is not None:
        drawn["epochs"] = figures.epochs(run.epoch)
    return drawn


def _drawn(folder: Path, drawn: dict[str, Figure]) -> Path:
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


def save_comparison(folder: Path, stated: Scenario, found: Comparison) -> None:
    """run.json, methods.csv and figures of the methods' progress.

    Args:
        folder: Made if it is not there.
        stated: What was run.
        found: What the methods did.

    Raises:
        DataError: The folder cannot be made.
    """
    steps = next(iter(found.runs.values())).steps
    methods: list[dict[str, Any]] = [{"of": of, "method": name} for of, name in found.runs]
    methods += [
        {"of": of, "method": name, "left out": reason}
        for (of, name), reason in found.left_out.items()
    ]
    write_record(folder, stated, steps, {"seed": stated.seed, "methods": methods})
    frames = [
        run.frame().assign(of=of, loss=run.loss_gap if of == "model" else float("nan"))
        for (of, _), run in found.runs.items()
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
