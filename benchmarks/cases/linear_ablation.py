"""The linear ablation: PyEPO's SPO+ and black-box differentiation beside ours."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import Benchmark, Records, Target, basis
from benchmarks.cell import Cell
from benchmarks.peers.linear_ablation import STEPS
from benchmarks.recipes import RecipeSpec

NAME = "linear-ablation"
SPECS = tuple(RecipeSpec("nb201", setting, 40, seeds=5) for setting in ("A", "C"))
PAIRS = {"SPO+": ("walras-spo", "pyepo-spo"), "black-box": ("walras-black-box", "pyepo-dbb")}
EQUAL = 1e-2  # of the regret: ties between placements fall by the last digit of a loss


def cells() -> tuple[Cell, ...]:
    """Both methods by both, on two settings."""
    return tuple(
        Cell(
            NAME,
            spec,
            NAME,
            method,
            10.0,
            runs=1,
            threads=1,  # five splits each
            quick=(spec, method) == (SPECS[0], "walras-spo"),
        )
        for spec in SPECS
        for pair in PAIRS.values()
        for method in pair
    )


def targets(records: Records) -> Sequence[Target]:
    """Seconds of a training and its regret, of both."""
    return [_target(records, name, *pair) for name, pair in PAIRS.items()]


def _target(records: Records, name: str, ours: str, theirs: str) -> Target:
    case = f"linear ablation, {name}, {STEPS} steps, settings A and C"
    aim = "PyEPO timed in the same loop, equal regret"
    parts, met = [], True
    for spec in SPECS:
        names = [Cell(NAME, spec, NAME, method, 0.0).name for method in (ours, theirs)]
        found = [
            r["numbers"] for n in names if (r := records.get(n)) is not None and "numbers" in r
        ]
        if len(found) < len(names):
            return Target(case, aim)
        own, peer = found
        parts.append(
            f"{spec.clusters}: {own['seconds']:.2f} s of {peer['seconds']:.2f} s, regret "
            f"{own['regret']:.4f} and {peer['regret']:.4f}"
        )
        met &= abs(own["regret"] - peer["regret"]) <= EQUAL * peer["regret"]
    names = [Cell(NAME, s, NAME, method, 0.0).name for s in SPECS for method in (ours, theirs)]
    return Target(case, aim, "; ".join(parts), met, basis(map(records.get, names)))


BENCHMARK = Benchmark(NAME, "The linear ablation", cells(), targets)
