"""The demo's network section: a link cut and a crash in the middle, the audit at zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from walras.network._simulate import simulate
from walras.network.graph.network import Network
from walras.network.links.faults import Crash, Faults
from walras.network.problem.cpu_costs import QuadraticCPU
from walras.network.problem.losses import SmoothHinge
from walras.network.problem.network_problem import Problem
from walras.network.problem.shards import split
from walras.network.problem.test_set import TestSet
from walras.network.run import Run
from walras.progress import counts
from walras.reports.tables import Cell, Table

CENTRES = 20
STEPS = 3000
CRASH = 1000
CRASHED = 4
_CUT = 0.05  # part of the links that is down at any time


@dataclass(frozen=True, eq=False)
class NetworkSection:
    """What the simulation came to.

    Attributes:
        run: The run itself.
        rows: What and how much, for a table.
    """

    run: Run
    rows: list[tuple[str, Cell]]


def demo_network(
    progress: Callable[[int, int], None] | None = None, seed: int = 0
) -> NetworkSection:
    """Twenty centres share CPU and train a support vector machine while things go wrong.

    A tenth of the messages is lost, links are cut and restored, and one centre crashes; synthetic
    data.

    Args:
        progress: Called with the steps done and the steps in all.
        seed: Of data, graph and faults.
    """
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(1200, 2))
    noise = 0.5 * rng.normal(size=1200)
    labels = np.where(points @ [1.0, -0.7] + 0.3 + noise >= 0.0, 1.0, -1.0)
    center, scale = rng.uniform(1, 5, CENTRES), rng.uniform(0.5, 4, CENTRES)
    problem = Problem(
        [QuadraticCPU(c, k) for c, k in zip(center, scale, strict=True)],
        1.2 * float(center.sum()),
        boxes=(0.0, 9.0),
        loss=SmoothHinge(),
        shards=split(points[:600], labels[:600], CENTRES, seed=seed),
    )
    network = Network.erdos_renyi(CENTRES, 0.3, seed=seed).failing(_CUT, every=100, seed=seed)
    faults = Faults(loss=0.1, crashes=[Crash(CRASHED, CRASH)])
    run = simulate(
        problem,
        network,
        steps=STEPS,
        faults=faults,
        every=10,
        seed=seed,
        test=TestSet(points[600:], labels[600:]),
        on_progress=None if progress is None else counts(progress),
    )
    worst = int(np.abs(run.audit).max())
    rows: list[tuple[str, Cell]] = [
        ("centres, one of which crashed", CENTRES),
        ("messages lost", "10 %"),
        ("links cut at any time", f"{100 * _CUT:g} %"),
        ("quanta over the budget, at worst", worst),
        ("most that was ever held / budget", float(run.held.max() / problem.budget)),
        ("cost over the survivors' optimum", float(run.cost_gap[-1])),
        ("models differ by at most", float(run.consensus_error[-1])),
        ("test accuracy", float(run.accuracy[-1])),
        ("bytes sent by all", int(run.bits[-1]) // 8),
    ]
    return NetworkSection(run, rows)


def table(section: NetworkSection) -> Table:
    """What went wrong and what came out of it."""
    return Table(
        ("after all steps", "value"), section.rows, "Data centres without a master (synthetic)"
    )


def facts(section: NetworkSection) -> list[str]:
    """The section in a few sentences."""
    worst = int(np.abs(section.run.audit).max())
    return [
        f"{CENTRES} data centres share one CPU budget and train a support vector machine on data "
        "that none of them has whole; they talk to their neighbours alone. A tenth of the messages "
        f"is lost, links are cut and restored, and centre {CRASHED} crashes at step {CRASH:,}.",
        f"In all {section.run.steps:,} steps what is held and under way is {worst} quanta over the "
        "budget: counted at every step, in whole quanta.",
    ]


def record(section: NetworkSection, seed: int) -> dict[str, Any]:
    """What the section did, for the run's record."""
    return {
        "title": "data centres without a master",
        "source": "synthetic",
        "seed": seed,
        "steps": section.run.steps,
        "crash": {"centre": CRASHED, "step": CRASH},
        **dict(section.rows),
    }
