"""Section 7.3: speed-up with threads, starting points, alternative optimisation methods."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

import walras as wl
from benchmarks.experiments.figures import draw, finish, traces
from benchmarks.experiments.methods import EXACT, METHODS, ONE_PER_CENT, Scenario
from benchmarks.experiments.study import Setting, Study, proofs
from benchmarks.flow_instances import arrays
from benchmarks.peers import METHODS as PEERS
from benchmarks.problem import Budget
from walras.domains import traffic_engineering as te
from walras.plot.style import blank
from walras.types import Floats

THREADS = (1, 2)
RUNS = 3
TIMED = (EXACT, "Walras, first order", "DeDe's scheme")
MODES: dict[str, dict[str, Any]] = {
    "hard": {},
    "paper": {"mode": "paper", "rho": 1.0},
    "penalty": {"mode": "penalty"},
    "augmented-lagrangian": {"mode": "augmented-lagrangian"},
}
REACHED = 0.99  # of the optimum; the paper counts to 0.9, which repair alone reaches here
_FINE = 1e-3  # gap to which the starts are followed


def threads(setting: Setting) -> pd.DataFrame:
    """Seconds of each method on one thread and more; medians of three runs."""
    network, paths = setting.parts
    scenario = Scenario.of(network, setting.traffic(paths), paths)
    rows = []
    for count in THREADS:
        for name in TIMED:
            runs = [METHODS[name](scenario, 60.0, count, None).seconds for _ in range(RUNS + 1)]
            rows.append({"x": count, "method": name, "seconds": median(runs[1:])})
        rows.append({"x": count, "method": "HiGHS ipm", "seconds": _highs(scenario, count)})
        own = rows[-len(TIMED) - 1 :]
        print(f"  {count}: " + ", ".join(f"{r['seconds']:.3g} s" for r in own), flush=True)
    frame = pd.DataFrame(rows)
    alone = frame[frame["x"] == 1].set_index("method")["seconds"]
    return frame.assign(speedup=frame["method"].map(alone) / frame["seconds"])


def _highs(scenario: Scenario, count: int) -> float:
    own = scenario.paths.demands(scenario.demand)
    instance = arrays(scenario.network, scenario.paths, own)
    budget = Budget(threads=count, time_limit=60.0)
    found = [PEERS["highs-ipm"].run(instance, "max-total-flow", budget) for _ in range(RUNS)]
    if any(outcome.message != "Optimal" for outcome in found):
        return float("nan")  # stopped: nothing to compare
    return median(outcome.build + outcome.solve for outcome in found)


def starts(setting: Setting) -> pd.DataFrame:
    """One interval after another: from the solution before, from equal splits, from nothing."""
    network, paths = setting.parts
    series = te.diurnal_series(setting.traffic(paths), network, 2, seed=setting.seed)
    before, after = (te.max_total_flow(network, series[k], paths) for k in (0, 1))
    last = wl.solve(before, engine="admm", tolerance=_FINE, time_limit=setting.limit)
    split = paths.demands(series[1]) / np.diff(paths.first)
    given: Mapping[str, wl.Solution | Floats | None] = {
        "the interval before": last,
        "equal splits": split[paths.pair],
        "cold": None,
    }
    best = wl.solve(after, engine="interior").value
    return pd.concat(
        [
            _trace(after, name, best, setting, wl.engines.ADMM(), _FINE, start)
            for name, start in given.items()
        ]
    )


def alternatives(setting: Setting) -> pd.DataFrame:
    """ADMM, the published scheme, the penalty method and the augmented Lagrangian.

    In units of the mean demand, since all but the first depend on the unit.
    """
    network, paths = setting.parts
    scenario = Scenario.of(network, setting.traffic(paths), paths)
    scenario = scenario.in_units_of(scenario.unit)
    problem = te.max_total_flow(scenario.network, scenario.demand, scenario.paths)
    best = wl.solve(problem, engine="interior").value
    return pd.concat(
        [
            _trace(problem, _NAMES[mode], best, setting, wl.engines.ADMM(**how), ONE_PER_CENT)
            for mode, how in MODES.items()
        ]
    )


_NAMES = {
    "hard": "Walras, first order",
    "paper": "DeDe's scheme",
    "penalty": "penalty method",
    "augmented-lagrangian": "augmented Lagrangian",
}


def _trace(
    problem: wl.Separable,
    name: str,
    best: float,
    setting: Setting,
    engine: wl.engines.ADMM,
    tolerance: float,
    start: wl.Solution | Floats | None = None,
) -> pd.DataFrame:
    """What was served at each proof, over the optimum, against the seconds since the call."""
    begun = time.perf_counter()
    found = wl.solve(
        problem,
        engine=engine,
        tolerance=tolerance,
        start=start,
        time_limit=setting.limit,
        threads=setting.threads,
    )
    spent = time.perf_counter() - begun
    print(f"  {name}: {found.value / best:.4f} in {spent:.3g} s, {found.status}", flush=True)
    frame = proofs(found)
    return frame.assign(method=name, normalised=frame["value"] / best)


def draw_threads(frame: pd.DataFrame, path: Path) -> None:
    """Speed-up over one thread, and the line where it is all of the threads."""
    figure, (axes,) = blank(7.2, 3.6)
    for k, (method, own) in enumerate(frame.groupby("method", sort=False)):
        draw(axes, k, str(method), list(own["x"]), list(own["speedup"]))
    axes.plot(THREADS, THREADS, color="0.6", linestyle=":", label="all of the threads")
    axes.set_xticks(THREADS)
    finish(figure, axes, path, "threads", "speed-up")


def table_threads(frame: pd.DataFrame) -> pd.DataFrame:
    """Seconds on each number of threads, and the speed-up on the most."""
    wide = frame.pivot_table(index="method", columns="x", values="seconds", sort=False)
    wide.columns = [f"seconds, threads: {x}" for x in wide.columns]
    most = frame[frame["x"] == max(THREADS)].set_index("method")["speedup"]
    return wide.assign(**{"speed-up": most}).round(3)


def table_traces(frame: pd.DataFrame) -> pd.DataFrame:
    """Seconds to nine tenths of the optimum, and where each method ends."""
    rows = {}
    for method, own in frame.groupby("method", sort=False):
        reached = own[own["normalised"] >= REACHED]["seconds"]
        rows[method] = {
            f"seconds to {REACHED:g} of the optimum": reached.min() if len(reached) else np.nan,
            "served at the end / optimum": own["normalised"].iloc[-1],
            "seconds in all": own["seconds"].iloc[-1],
            "proved gap": own["gap"].iloc[-1],
            "iterations": own["iteration"].iloc[-1],
        }
    return pd.DataFrame(rows).T.round(4)


STUDIES = (
    Study(
        "threads", "Speed-up with threads",
        "The same problem on one and on two threads; medians of three runs.",
        threads, draw_threads, table_threads, estimate=60.0,
    ),
    Study(
        "starts", "Starting points",
        "The first-order engine on the interval after one that is solved: from its solution, from "
        "demands split equally over their paths (the paper's naive start), and cold.",
        starts, traces, table_traces, estimate=30.0,
    ),
    Study(
        "alternatives", "Alternative optimisation methods",
        "Four methods in the same kernels, each until 1 % is proved, its own rule stops it or its "
        "time is out.",
        alternatives, traces, table_traces, estimate=40.0,
    ),
)  # fmt: skip
