"""Section 7.2: granularity, temporal fluctuation, spatial redistribution, link failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.experiments.figures import lines
from benchmarks.experiments.methods import Scenario
from benchmarks.experiments.study import Point, Setting, Study, compare
from benchmarks.flow_instances import PATHS
from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering import Network, Paths

SHORTCUTS = (0.0, 0.1, 0.3, 1.0)  # of the network's number of links
FACTORS = (0.0, 2.0, 5.0, 10.0, 20.0)
SHARES = (0.8, 0.6, 0.4, 0.2)
FAILURES = (0, 50, 100, 200)
TIMES = 4  # matrices of the series; changes and their variance are taken from all of them
SHOWN = 3  # of them are routed, the later ones warm


def centrality(paths: Paths) -> float:
    """Mean edge betweenness centrality: the share of pairs that an average link serves.

    Counted on each pair's shortest candidate path: sum of their hops over links times pairs.
    """
    hops = paths.hops[paths.first[:-1]]
    return float(hops.sum() / (paths.network.links * paths.pairs))


def with_shortcuts(network: Network, count: int, seed: int) -> Network:
    """The network with random links between nodes that had none, of the median capacity."""
    n = network.nodes
    taken = np.eye(n, dtype=bool)
    taken[network.source, network.target] = True
    free = np.flatnonzero(~taken)
    new = np.sort(np.random.default_rng(seed).choice(free, min(count, len(free)), replace=False))
    median = np.median(network.capacity)
    return replace(
        network,
        source=np.append(network.source, new // n),
        target=np.append(network.target, new % n),
        capacity=np.append(network.capacity, np.full(len(new), median)),
    )


def granularity(setting: Setting) -> pd.DataFrame:
    """Shortcuts make paths shorter, so that a link serves fewer pairs and parts are less alike."""
    return compare(_granularity(setting), setting)


def _granularity(setting: Setting) -> Iterator[Point]:
    network, paths = setting.parts
    demand = setting.traffic(paths)
    for share in SHORTCUTS:
        made = with_shortcuts(network, round(share * network.links), setting.seed)
        found = te.candidate_paths(made, k=PATHS)
        more = demand * (made.capacity.sum() / network.capacity.sum())
        yield Point(centrality(found), Scenario.of(made, more, found, setting.past(more, found)))


def temporal(setting: Setting) -> pd.DataFrame:
    """Noise of k times the variance of each demand's own changes; later intervals start warm."""
    return compare(_temporal(setting), setting)


def _temporal(setting: Setting) -> Iterator[Point]:
    network, paths = setting.parts
    calm = te.diurnal_series(setting.traffic(paths), network, TIMES, seed=setting.seed)
    past = setting.past(calm[0], paths)
    for factor in FACTORS:
        series = te.fluctuating_series(calm, factor, seed=setting.seed)
        for time in range(SHOWN):
            yield Point(factor, Scenario.of(network, series[time], paths, past), continues=time > 0)


def spatial(setting: Setting) -> pd.DataFrame:
    """The top tenth of the demands gets another share of the same total."""
    return compare(_spatial(setting), setting)


def _spatial(setting: Setting) -> Iterator[Point]:
    network, paths = setting.parts
    demand = setting.traffic(paths)
    past = setting.past(demand, paths)
    for share in SHARES:
        moved = te.redistributed_traffic(demand, network, share)
        yield Point(share, Scenario.of(network, moved, paths, past))


def failures(setting: Setting, counts: Sequence[int] = FAILURES) -> pd.DataFrame:
    """Links fail together; paths are found anew on what is left, and methods start warm."""
    return compare(_failures(setting, counts), setting)


def _failures(setting: Setting, counts: Sequence[int]) -> Iterator[Point]:
    network, paths = setting.parts
    demand = setting.traffic(paths)
    for count in counts:
        lost = te.random_failures(network, min(count, network.links // 4), setting.seed)
        left = network.without(lost)
        found = te.candidate_paths(left, k=PATHS) if count else paths
        past = setting.past(demand, found)
        yield Point(float(len(lost)), Scenario.of(left, demand, found, past), continues=count > 0)


def pivot(frame: pd.DataFrame, value: str, axis: str) -> pd.DataFrame:
    """Means: a row a method, a column a point."""
    wide = frame.pivot_table(index="method", columns="x", values=value, aggfunc="mean", sort=False)
    wide = wide[sorted(wide.columns)]
    wide.columns = [f"{axis} {x:.3g}" for x in wide.columns]
    seconds = frame.groupby("method", sort=False)["seconds"].mean()
    ideal = frame.groupby("method", sort=False)["ideal_seconds"].mean()
    return wide.assign(seconds=seconds, ideal=ideal).round(3)


def _study(
    run: Callable[[Setting], pd.DataFrame],
    title: str,
    question: str,
    label: str,
    axis: str,
    value: str = "normalised",
    topology: str = "UsCarrier",
) -> Study:
    return Study(
        run.__name__,
        title,
        question,
        run,
        partial(lines, label=label, value=value),
        partial(pivot, value=value, axis=axis),
        topology,
        estimate=120.0,
    )


STUDIES = (
    _study(
        granularity, "Granularity",
        "Random shortcuts are added to the network, 0, 10, 30 and 100 % of its links, and paths "
        "found anew. The share of pairs that an average link serves (mean edge betweenness "
        "centrality) falls with them. Shown: traffic served over the optimum.",
        "mean edge betweenness centrality", "centrality",
    ),
    _study(
        temporal, "Temporal fluctuation",
        "To each demand at each time N(0, k s²) is added, s² the variance of its own changes, over "
        "three intervals; later ones start from the solution before. Shown: traffic served over "
        "the optimum.",
        "k", "k =",
    ),
    _study(
        spatial, "Spatial redistribution",
        "The top tenth of the demands, 88 % of the volume as drawn, takes up 80, 60, 40 and 20 % "
        "instead. Shown: traffic served over the optimum.",
        "share of the top tenth", "share",
    ),
    _study(
        failures, "Link failures",
        "50, 100 and 200 of the links fail together; paths are found anew. The network is the core "
        "of ASN2k, since UsCarrier has 378 links in all. Shown: the share of all traffic asked for "
        "that is served.",
        "failed links", "failed", value="served", topology="ASN2k-150",
    ),
)  # fmt: skip
