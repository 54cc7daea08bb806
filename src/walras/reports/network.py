"""What a run or a deployment on a network came to: facts and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from walras.network._deploy import Deployment
from walras.network.run import Run
from walras.network.scenario.comparison import Comparison
from walras.network.scenario.scenario import Scenario
from walras.reports.tables import Cell, Table
from walras.types import Floats

_COLUMNS = (
    "of", "method", "gap", "step at 1e-6", "bits at 1e-6", "budget off", "out of box",
    "consensus error", "seconds", "left out",
)  # fmt: skip
_SHORT = {
    "shares": ("method", "gap", "step at 1e-6", "budget off", "out of box", "seconds"),
    "model": ("method", "gap", "step at 1e-6", "bits at 1e-6", "consensus error", "seconds"),
}  # columns that fit a terminal
_SHOWN = 12  # centres in the table of a run; shares.csv of --save has all


def headline(stated: Scenario, title: str = "") -> str:
    """A title that says what of the data is synthetic.

    Args:
        stated: What is run.
        title: What the table shows.
    """
    drawn = f"synthetic data: {stated.synthetic} are drawn at random" if stated.synthetic else ""
    return "; ".join(part for part in (title, drawn) if part)


def facts_table(name: str, facts: dict[str, Any], stated: Scenario) -> Table:
    """Facts as rows; the title says what JSON has as the fact ``synthetic``."""
    rows = [(fact, value) for fact, value in facts.items() if fact != "synthetic"]
    return Table(("", name), rows, headline(stated))


def _synthetic(stated: Scenario) -> dict[str, Any]:
    return {"synthetic": stated.synthetic} if stated.synthetic else {}


def facts_of(stated: Scenario, run: Run) -> dict[str, Any]:
    """What a run came to, by name."""
    facts: dict[str, Any] = {
        **_synthetic(stated),
        "centres": stated.problem.centres,
        "alive at the end": int(run.alive[-1].sum()),
        "links at the start": stated.network.at(0).links,
        "steps": run.steps,
        "back end": run.backend,
        "cost": float(run.cost[-1]),
        "cost gap": float(run.cost_gap[-1]),
        "quanta over the budget, at worst": int(abs(run.audit).max()),
        "shares held": float(run.held[-1]),
        "shares idle, on their way": float(run.held[-1] - run.shares[-1].sum()),
        "largest share outside its box": run.largest_excess,
        "budget": stated.problem.budget,
        "bits sent": int(run.bits[-1]),
        "seconds": float(run.seconds[-1]),
    }
    if run.epoch is not None:
        facts |= run.epoch.facts
    if run.mean_model is None or stated.test is None:
        return facts
    loss, _ = stated.problem.learning
    facts |= {
        "data": stated.test.origin,
        "loss": float(run.loss[-1]),
        "consensus error": float(run.consensus_error[-1]),
        "tracking error": float(run.tracking_error[-1]),
    }
    if math.isnan(run.accuracy[-1]):  # numbers are predicted, not classes
        return facts | {"test error, root mean square": stated.test.error(loss, run.mean_model)}
    return facts | {"test accuracy": float(run.accuracy[-1])}


def facts_of_deployment(stated: Scenario, found: Deployment) -> dict[str, Any]:
    """What a deployment came to, by name."""
    return {
        **_synthetic(stated),
        "centres": len(found.alive),
        "alive at the end": int(found.alive.sum()),
        "cost gap": found.cost_gap,
        "quanta held and in flight over the budget": found.audit,
        "shares held": float(found.problem.quanta.shares(found.held).sum()),
        "budget": found.problem.budget,
        **({} if found.epoch is None else found.epoch.facts),
        "shares enforced": int(found.enforced.sum()),
        "bytes sent": found.bytes,
        "seconds": found.seconds,
        "folder": str(found.folder),
    }


def shares_table(shares: Floats, best: Floats) -> Table:
    """The shares of the first centres beside the optimum."""
    rows = [(k, float(shares[k]), float(best[k])) for k in range(min(_SHOWN, len(best)))]
    left = "; --save has all" if len(rows) < len(best) else ""
    title = f"shares of {len(rows)} of {len(best)} centres{left}"
    return Table(("centre", "share", "optimum"), rows, title)


def centres_table(found: Deployment) -> Table:
    """Every centre of a deployment: alive, its life, its share beside the optimum."""
    best = found.optimum.shares
    rows = [
        (k, bool(found.alive[k]), int(found.epochs[k]), float(found.shares[k]), float(best[k]))
        for k in range(len(best))
    ]
    return Table(("centre", "alive", "epoch", "share", "optimum"), rows, "shares")


def comparison_table(found: Comparison) -> Table:
    """One row a method and contest; what was left out has its reason alone."""
    rows = [_compared(*key, run) for key, run in found.runs.items()]
    nothing = [None] * (len(_COLUMNS) - 3)
    rows += [(*key, *nothing, reason) for key, reason in found.left_out.items()]
    return Table(_COLUMNS, rows)


def comparison_tables(stated: Scenario, found: Comparison) -> Iterator[Table]:
    """What fits a terminal: a table a contest, and what was left out."""
    records = comparison_table(found).records()
    for of, columns in _SHORT.items():
        own = [r for r in records if r["of"] == of and r["left out"] is None]
        if own:
            rows = [[r[name] for name in columns] for r in own]
            title = headline(stated, f"{of}: the same problem, graph, links and steps; no faults")
            # Three digits: six columns of six do not fit a terminal.
            yield Table(columns, rows, title, digits=3)
    left = [(f"{r['method']} ({r['of']})", r["left out"]) for r in records if r["left out"]]
    if left:
        yield Table(("left out", "because"), left)


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
