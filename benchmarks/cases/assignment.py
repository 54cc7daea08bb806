"""Generalised assignment of the literature's sizes: gaps beside HiGHS and CP-SAT in their time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from benchmarks.assigning import OBJECTIVE, AssignSpec
from benchmarks.benchmark import Benchmark, Records, Target, basis, of_method
from benchmarks.cell import Cell

NAME = "generalised-assignment"
RECIPES = ("C", "D", "E")
SIZES = ((5, 100), (20, 400), (80, 1600))
SECONDS = (1, 10, 60)
METHODS = ("walras-assign", "highs-assign", "cp-sat-assign")
_PEERS = dict(zip(METHODS[1:], ("HiGHS", "CP-SAT"), strict=True))
_SAME = 1e-9


def cells() -> tuple[Cell, ...]:
    """Ours, HiGHS and CP-SAT, each with 1, 10 and 60 seconds."""
    found = []
    for recipe, (agents, tasks), seconds in product(RECIPES, SIZES, SECONDS):
        spec = AssignSpec(recipe, agents, tasks)
        for method in METHODS:
            first = (recipe, agents, seconds) == (RECIPES[0], SIZES[0][0], SECONDS[0])
            quick = first and method != METHODS[2]
            found.append(
                Cell(
                    NAME,
                    spec,
                    OBJECTIVE,
                    f"{method}-{seconds}",
                    seconds + 5.0,
                    1,
                    limit=seconds + 60.0,
                    quick=quick,
                )
            )
    return tuple(found)


def targets(records: Records) -> Sequence[Target]:
    """One row a budget of time: gaps of all instances."""
    return [_target(records, seconds) for seconds in SECONDS]


def _target(records: Records, seconds: int) -> Target:
    case = f"generalised assignment 5x100 to 80x1,600, {seconds} s"
    aim = "a gap at most that of each peer, on each"
    behind, shown, pairs = list[str](), list[str](), 0
    judged = list[Mapping[str, Any]]()
    for recipe, (agents, tasks) in product(RECIPES, SIZES):
        spec = AssignSpec(recipe, agents, tasks)
        found = {
            method: record
            for method in METHODS
            if (record := of_method(records, OBJECTIVE, spec, f"{method}-{seconds}", NAME))
        }
        gaps = {method: _gap(record) for method, record in found.items()}
        ours = gaps.pop(METHODS[0], None)
        if ours is None or not gaps:
            continue
        pairs += 1
        judged += found.values()
        if ours > min(gaps.values()) + _SAME:
            behind.append(f"{recipe} {agents}x{tasks}")
        theirs = ", ".join(f"{_PEERS[method]} {_text(gap)}" for method, gap in gaps.items())
        shown.append(f"{recipe} {agents}x{tasks} {_text(ours)} against {theirs}")
    if not pairs:
        return Target(case, aim)
    whole = len(RECIPES) * len(SIZES)
    measured = f"behind on {len(behind)} of {pairs}"
    measured += f" ({', '.join(behind)})" if behind else ""
    measured += f", {whole - pairs} not measured" if pairs < whole else ""
    met = False if behind else (True if pairs == whole else None)
    return Target(case, aim, f"{measured}: {'; '.join(shown)}", met, basis(judged))


def _gap(record: Mapping[str, Any]) -> float:
    """A method's own certified gap, of its judged cost; infinite without an assignment."""
    if record.get("value") is None:
        return float("inf")
    bound = record.get("numbers", {}).get("bound")
    value = float(record["value"])
    return float("inf") if bound is None else max(0.0, value - float(bound)) / abs(value)


def _text(gap: float) -> str:
    return "none" if gap == float("inf") else f"{gap:.3%}"


BENCHMARK = Benchmark(NAME, "Generalised assignment", cells(), targets)
