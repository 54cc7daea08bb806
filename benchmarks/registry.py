"""All benchmarks, and the selection of their cells."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from benchmarks.benchmark import Benchmark
from benchmarks.cases import (
    assignment,
    choice,
    dede_toy,
    first_order,
    gpu,
    gradient_step,
    growth,
    kernels,
    linear_ablation,
    load_balancing,
    match_exact,
    match_large,
    maxmin,
    other_objectives,
    proportional,
    relaxed_match,
    time_prediction,
    total_flow,
    two_stage,
    utilisation,
    warm_start,
)
from benchmarks.cell import Cell

BENCHMARKS: tuple[Benchmark, ...] = (
    maxmin.BENCHMARK,
    proportional.BENCHMARK,
    other_objectives.BENCHMARK,
    dede_toy.BENCHMARK,
    warm_start.BENCHMARK,
    growth.BENCHMARK,
    choice.BENCHMARK,
    kernels.BENCHMARK,
    first_order.BENCHMARK,
    total_flow.BENCHMARK,
    utilisation.BENCHMARK,
    two_stage.BENCHMARK,
    time_prediction.BENCHMARK,
    match_exact.BENCHMARK,
    relaxed_match.BENCHMARK,
    gradient_step.BENCHMARK,
    linear_ablation.BENCHMARK,
    match_large.BENCHMARK,
    load_balancing.BENCHMARK,
    assignment.BENCHMARK,
    gpu.BENCHMARK,
)


def all_cells() -> tuple[Cell, ...]:
    """Cells of every benchmark, in order."""
    return tuple(cell for benchmark in BENCHMARKS for cell in benchmark.cells)


def select(*, quick: bool, only: str | None = None) -> Sequence[Cell]:
    """Cells of the quick or the full selection whose name matches a pattern.

    Args:
        quick: Whether to leave out the cells that take long.
        only: Shell pattern, matched anywhere in the name.
    """
    pattern = f"*{only}*" if only else "*"
    return [
        cell
        for cell in all_cells()
        if (cell.quick or not quick) and fnmatch.fnmatchcase(cell.name, pattern)
    ]
