"""Where restarted Halpern steps pay in the first-order engine, with copies and without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import walras as wl
from benchmarks.experiments.figures import draw, finish
from benchmarks.experiments.study import Setting, Study
from benchmarks.instances import Spec, build
from benchmarks.peers.walras_engine import BUILDERS
from walras.domains import traffic_engineering as te
from walras.engines.admm import ADMM
from walras.plot.style import blank
from walras.settings import Settings

GAPS = (1e-2, 1e-3, 1e-4)
LEVELS = (0.05, 0.15, 0.5)
CAPACITIES = (0.2, 1.0, 5.0)
OBJECTIVES = ("max-min", "proportional-fairness")
_TICKS = (16, 32, 64, 128, 256, 400)
ITERATIONS = 400  # the same on every machine, and beside any other work
VARIANTS = {
    "copies": ADMM(restarts=False, iterations=ITERATIONS),
    "copies, restarts": ADMM(restarts=True, iterations=ITERATIONS),
    "collapsed": ADMM(collapse=True, restarts=False, iterations=ITERATIONS),
    "collapsed, restarts": ADMM(collapse=True, restarts=True, iterations=ITERATIONS),
}


def restarts(setting: Setting) -> pd.DataFrame:
    """Iterations and seconds to each gap, on flows and on 456x2,000 cluster rounds."""
    rows = []
    for instance, problem in _problems(setting):
        for method, options in VARIANTS.items():
            limits = Settings(
                tolerance=min(GAPS), time_limit=setting.limit, threads=setting.threads
            )
            history = options.solve(problem, limits).history
            for gap in GAPS:
                step = next((step for step in history if step.gap <= gap), None)
                rows.append(
                    {
                        "instance": instance,
                        "method": method,
                        "x": gap,
                        "iterations": np.nan if step is None else step.iteration,
                        "seconds": np.nan if step is None else step.elapsed,
                    }
                )
            found = ", ".join(f"{row['iterations']:g}" for row in rows[-len(GAPS) :])
            print(f"  {instance}, {method}: {found} iterations", flush=True)
    return pd.DataFrame(rows)


def _problems(setting: Setting) -> Iterator[tuple[str, wl.Separable]]:
    network, paths = setting.parts
    for level in LEVELS:
        demand = Setting(setting.topology, level, setting.seed).traffic(paths)
        yield f"flow x{level:g}", te.max_total_flow(network, demand, paths)
    for objective in OBJECTIVES:
        for capacity in CAPACITIES:
            instance = build(Spec("heterogeneous", 456, 2000, setting.seed, capacity))
            made = BUILDERS[objective](
                instance.throughput, instance.size, instance.capacity, allowed=instance.allowed
            )
            yield f"{objective} x{capacity:g}", made


def draw_restarts(frame: pd.DataFrame, path: Path) -> None:
    """Share of the instances solved to the middle gap within a number of iterations."""
    figure, (axes,) = blank(7.2, 3.6)
    middle = frame[frame["x"] == GAPS[1]]
    count = middle["instance"].nunique()
    for k, (method, own) in enumerate(middle.groupby("method", sort=False)):
        reached = sorted(own["iterations"].dropna())
        draw(axes, k, str(method), reached, [(i + 1) / count for i in range(len(reached))])
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks(_TICKS, [str(tick) for tick in _TICKS])
    axes.set_ylim(0.0, 1.02)
    finish(figure, axes, path, f"iterations to a gap of {GAPS[1]:g}", "share of the instances")


def table_restarts(frame: pd.DataFrame) -> pd.DataFrame:
    """A row an instance: iterations of each variant to each gap."""
    wide = frame.pivot_table(
        index="instance", columns=["method", "x"], values="iterations", sort=False, dropna=False
    )
    wide = wide[[(method, gap) for method in VARIANTS for gap in GAPS]]
    wide.columns = [f"{method}: {gap:g}" for method in VARIANTS for gap in GAPS]
    return wide


STUDIES = (
    Study(
        "restarts",
        "Restarts of the first-order engine",
        "Over-relaxation against reflected Halpern steps with restarts, with copies and without. "
        f"Shown: iterations to proved gaps of {', '.join(f'{gap:g}' for gap in GAPS)}; nothing "
        f"where {ITERATIONS} were not enough.",
        restarts,
        draw_restarts,
        table_restarts,
        estimate=600.0,
        limit=180.0,
    ),
)
