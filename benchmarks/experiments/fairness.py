"""The first-order engine and the published scheme on the paper's cluster rounds, against time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

import walras as wl
from benchmarks.experiments.figures import finish
from benchmarks.experiments.study import Setting, Study, proofs
from benchmarks.instances import Spec, build
from benchmarks.peers.walras_engine import state
from walras.plot.style import DASHES, SERIES, blank

SHAPE = (456, 2000)
OBJECTIVES = ("max-min", "proportional-fairness")
OURS, THEIRS, IDEAL = "Walras, first order", "DeDe's scheme", "DeDe*, 64 cores"
MODES: dict[str, dict[str, Any]] = {OURS: {}, THEIRS: {"mode": "paper", "rho": 1.0}}
TOLERANCE = 1e-2
_WARM_UP = 3  # iterations that compile what is not compiled


def fairness(setting: Setting, shape: tuple[int, int] = SHAPE) -> pd.DataFrame:
    """Proved gap at each proof, against the seconds since the call, and as DeDe* counts them."""
    found = []
    for objective in OBJECTIVES:
        problem = state(build(Spec("heterogeneous", *shape, setting.seed, 1.0)), objective)
        for method, how in MODES.items():
            _solved(problem, setting, how, lambda step: step.iteration >= _WARM_UP)
            solution = _solved(problem, setting, how, lambda step: step.elapsed > setting.limit)
            frame = proofs(solution).assign(
                objective=objective, method=method, status=str(solution.status)
            )
            found.append(frame)
            if method == THEIRS:  # proofs are not counted, iterations take the same time each
                each = solution.timings.ideal / frame["iteration"].iloc[-1]
                found.append(frame.assign(method=IDEAL, seconds=each * frame["iteration"]))
            print(
                f"  {objective}, {method}: gap {solution.gap:.4f} in "
                f"{frame['seconds'].iloc[-1]:.3g} s, {solution.status}",
                flush=True,
            )
    return pd.concat(found)


def _solved(
    problem: wl.Separable | wl.Leximin, setting: Setting, how: dict[str, Any], stop: Any
) -> wl.Solution:
    """To 1 %; a time limit would let a round whose ceiling is reached go on to leximin."""
    return wl.solve(
        problem,
        engine=wl.engines.ADMM(**how),
        tolerance=TOLERANCE,
        threads=setting.threads,
        on_progress=stop,
    )


def draw_fairness(frame: pd.DataFrame, path: Path) -> None:
    """A panel an objective: the proved gap, falling with time."""
    figure, panels = blank(9.0, 3.4, panels=len(OBJECTIVES))
    for axes, (objective, own) in zip(panels, frame.groupby("objective", sort=False), strict=True):
        for k, (method, steps) in enumerate(own.groupby("method", sort=False)):
            axes.step(
                steps["seconds"],
                steps["gap"],
                where="post",
                color=SERIES[k].stand_in,
                linestyle=DASHES[k],
                label=str(method),
            )
        axes.axhline(TOLERANCE, color="0.6", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(str(objective), fontsize=10)
        axes.set_xlabel("seconds")
    panels[0].set_ylabel("proved gap")
    finish(figure, panels[-1], path, "seconds", "")


def table_fairness(frame: pd.DataFrame) -> pd.DataFrame:
    """A row an objective and method: where it ends."""
    rows = {}
    for (objective, method), own in frame.groupby(["objective", "method"], sort=False):
        reached = own[own["gap"] <= TOLERANCE]["seconds"]
        rows[f"{objective}, {method}"] = {
            f"seconds to {TOLERANCE:.0%} proved": reached.min(),
            "proved gap": own["gap"].iloc[-1],
            "seconds in all": own["seconds"].iloc[-1],
            "iterations": own["iteration"].iloc[-1],
        }
    return pd.DataFrame(rows).T


STUDIES = (
    Study(
        "fairness",
        "Max-min and proportional fairness against time",
        "A cluster round of 456 types and 2,000 jobs, each method until 1 % is proved, its own "
        "rule stops it or its time is out; the gap of proportional fairness is in nats a job. "
        "*DeDe\\** is the published timing of its scheme: the time spent on subproblems alone, "
        "shared evenly among 64 cores.",
        fairness,
        draw_fairness,
        table_fairness,
        topology="456x2000",
        estimate=60.0,
        limit=20.0,
    ),
)
