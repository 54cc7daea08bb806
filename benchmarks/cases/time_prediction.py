"""Time prediction on NAS-Bench-201: graph networks against linear models and boosted trees."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import Benchmark, Records, Target, basis
from benchmarks.cell import Cell
from benchmarks.recipes import RecipeSpec

NAME = "time-prediction"
SIZES = (200, 1000)
LIMIT = 600.0  # seconds; what is measured is quality
LINEAR = ("predict-linear-log", "predict-linear-raw")
NETWORK, PRETRAINED, TREES = "predict-gnn", "predict-gnn-pretrained", "predict-trees"
_QUICK = (SIZES[0], LINEAR[0])
METHODS = (*LINEAR, "predict-mlp", NETWORK, PRETRAINED, TREES)


def spec(size: int) -> RecipeSpec:
    """All nine devices of the four settings, five splits."""
    return RecipeSpec("nb201", "devices", size, seeds=5)


def cells() -> tuple[Cell, ...]:
    """Every method at both sizes."""
    return tuple(
        Cell(
            NAME,
            spec(size),
            NAME,
            method,
            30.0,
            runs=1,
            limit=LIMIT,
            threads=1,
            quick=(size, method) == _QUICK,
        )
        for size in SIZES
        for method in METHODS
    )


def targets(records: Records) -> Sequence[Target]:
    """The graph network, end to end, against linear models on one-hots."""
    return [
        _target(records, 200, "at least as good as"),
        _target(records, 1000, "better than"),
    ]


def _target(records: Records, size: int, aim: str) -> Target:
    case = f"rank correlation of times, {size:,} training tasks, 9 devices"
    aim = f"graph network {aim} linear on one-hots"
    found = {m: records.get(Cell(NAME, spec(size), NAME, m, 0.0).name) for m in METHODS}
    rank = {m: r["numbers"]["rank"] for m, r in found.items() if r is not None and "numbers" in r}
    if len(rank) < len(METHODS):
        return Target(case, aim)
    linear = max(rank[name] for name in LINEAR)
    measured = (
        f"{rank[NETWORK]:.4f} against {linear:.4f}; boosted trees {rank[TREES]:.4f}, "
        f"fully connected {rank['predict-mlp']:.4f}, pretrained on other devices "
        f"{rank[PRETRAINED]:.4f}"
    )
    met = rank[NETWORK] >= linear if size == SIZES[0] else rank[NETWORK] > linear
    return Target(case, aim, measured, met, basis(found.values()))


BENCHMARK = Benchmark(NAME, "Time prediction", cells(), targets)
