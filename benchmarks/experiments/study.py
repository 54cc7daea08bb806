"""What a study is: a network's traffic at some points, methods that route it, a tidy table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

import walras as wl
from benchmarks.experiments.methods import EXACT, LEARNED, METHODS, SOLVERS, Routed, Scenario
from benchmarks.flow_instances import network_and_paths
from benchmarks.tables import Tables
from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering import Network, Paths
from walras.engines.admm.engine import PROOF
from walras.types import Floats

_DAY = 24  # matrices that a learned policy has seen
LEVEL = 0.05  # of all capacities: about nine tenths of the traffic can be served, as in the paper


@dataclass(frozen=True)
class Setting:
    """Where a study runs.

    Attributes:
        topology: Name of the network.
        level: Traffic over the sum of all capacities.
        seed: Of everything that is drawn.
        limit: Seconds a solve.
        threads: Worker threads.
        training: Steps of a learned policy on traffic of before; 0 for none.
    """

    topology: str = "UsCarrier"
    level: float = LEVEL
    seed: int = 100
    limit: float = 5.0
    threads: int = 2
    training: int = 0

    @property
    def parts(self) -> tuple[Network, Paths]:
        """The network and its candidate paths."""
        return network_and_paths(self.topology)

    def traffic(self, paths: Paths) -> Floats:
        """(nodes, nodes) lognormal traffic that the paths can carry, at the level asked for."""
        network = paths.network
        drawn = te.lognormal_traffic(network, seed=self.seed)
        joined = te.joined_traffic(drawn, paths)
        return joined * (self.level * network.capacity.sum() / joined.sum())

    def past(self, demand: Floats, paths: Paths) -> te.LearnedPolicy | None:
        """A policy trained on a day of matrices like this one, where the setting asks for one.

        The matrices are another draw of the same daily curve and noise; the one that is routed is
        not among them.
        """
        if not self.training:
            return None
        joined = te.joined_traffic(demand, paths)
        day = te.diurnal_series(joined, paths.network, _DAY, seed=self.seed + 1)
        seen = [day[k] for k in range(_DAY)]
        return te.learned_policy(
            paths, seen, objective="flow", steps=self.training, batch=8, seed=self.seed
        )


@dataclass(frozen=True)
class Study:
    """One experiment of the paper.

    Attributes:
        name: Of the files and on the command line.
        title: Heading.
        question: What it asks, and how, in a sentence or two.
        run: Makes the tidy table.
        draw: Draws it into a PNG file.
        summary: The table that the page shows.
        topology: The network it runs on unless told otherwise.
        estimate: Seconds expected.
        page: Which page shows it.
        limit: Seconds a solve unless told otherwise.
    """

    name: str
    title: str
    question: str
    run: Callable[[Setting], pd.DataFrame]
    draw: Callable[[pd.DataFrame, Path], None]
    summary: Callable[[pd.DataFrame], pd.DataFrame]
    topology: str = "UsCarrier"
    estimate: float = 60.0
    page: str = "page"
    limit: float = Setting.limit

    def measure(self, setting: Setting, tables: Tables) -> pd.DataFrame:
        """Run it, and write its table and figure."""
        frame = self.run(setting).assign(topology=setting.topology, limit=setting.limit)
        tables.write(self.name, frame, digits=8)
        self.draw(frame, tables.picture(self.name))
        return frame


@dataclass(frozen=True)
class Point:
    """A place on a study's axis.

    Attributes:
        x: The place.
        scenario: Network, traffic and paths there.
        continues: Whether it follows the point before in time, so that methods may start warm.
    """

    x: float
    scenario: Scenario
    continues: bool = False


def compare(
    points: Iterable[Point], setting: Setting, methods: Sequence[str] | None = None
) -> pd.DataFrame:
    """Route every point's traffic by every method.

    Args:
        points: Where the study looks.
        setting: Where it runs.
        methods: Names of methods; all but the learned one where a setting has none.

    Returns:
        One row a point and method: ``x``, ``method``, ``served`` (share of the traffic asked for),
        ``normalised`` (over what the optimum serves), ``gap`` (proved), ``seconds`` and
        ``ideal_seconds`` (with a machine for every part, where a method has parts).
    """
    methods = methods or (*SOLVERS, *((LEARNED,) if setting.training else ()))
    rows: list[dict[str, object]] = []
    before: dict[str, Routed] = {}
    for point in points:
        scenario = point.scenario
        warm = before if point.continues else {}
        optimum = METHODS[EXACT](scenario, setting.limit, setting.threads, warm.get(EXACT))
        best = te.evaluate(scenario.demand, scenario.paths, optimum.flow).total
        for name in methods:
            found = (
                optimum
                if name == EXACT
                else METHODS[name](scenario, setting.limit, setting.threads, warm.get(name))
            )
            before[name] = found
            judged = te.evaluate(scenario.demand, scenario.paths, found.flow)
            rows.append(
                {
                    "x": point.x,
                    "method": name,
                    "served": judged.total / scenario.asked,
                    "normalised": judged.total / best,
                    "gap": found.gap,
                    "violation": judged.violation,
                    "seconds": found.seconds,
                    "ideal_seconds": found.ideal_seconds,
                }
            )
        _tell(point.x, rows[-len(methods) :])
    return pd.DataFrame(rows)


def _tell(x: float, rows: Sequence[dict[str, object]]) -> None:
    shown = ", ".join(f"{row['method']} {row['normalised']:.3f}" for row in rows)
    print(f"  {time.strftime('%H:%M:%S')}  {x:g}: {shown}", flush=True)


def proofs(solution: wl.Solution) -> pd.DataFrame:
    """Columns ``iteration``, ``seconds``, ``value``, ``gap``: a row where something was proved."""
    frame = solution.history.frame()
    frame = frame[frame["note"] == PROOF].rename(columns={"elapsed": "seconds"})
    return frame[["iteration", "seconds", "value", "gap"]]
