"""One gradient step through relaxed rounds: the implicit derivative, cvxpylayers and Moreau."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark, Records, Target, basis
from benchmarks.cell import Cell
from benchmarks.gradients import OBJECTIVE
from benchmarks.matching import MatchSpec

# Training's own smoothing.
SPEC = MatchSpec(10, 50, rounds=64, temperature=0.03, barrier="elastic")
OURS, PEERS = "walras-gradient", ("cvxpylayers-lpgd", "cvxpylayers")
MOREAU = "cvxpylayers-moreau"  # its forward pass counts, where its backward pass breaks down
FACTOR = 100.0
SAME, EXACT = 1e-2, 1e-6  # relative errors of a peer's gradients, and of ours


def cells() -> tuple[Cell, ...]:
    """The same step by the implicit derivative, and by a layer's ways to differentiate."""
    estimates = dict(zip((OURS, *PEERS, MOREAU), (5.0, 60.0, 180.0, 60.0), strict=True))
    return tuple(
        Cell(
            OBJECTIVE,
            SPEC,
            OBJECTIVE,
            method,
            seconds,
            runs=5 if method == OURS else 3,
            quick=method == OURS,
        )
        for method, seconds in estimates.items()
    )


def targets(records: Records) -> Sequence[Target]:
    """The step alone, without the time that a layer takes to be built, which is once.

    The quicker of the peer's ways counts, right or wrong; the result says on how many rounds
    it is right.
    """
    case = f"one gradient step, {SPEC.rounds} relaxed rounds {SPEC.clusters}x{SPEC.tasks}"
    aim = f"at least {FACTOR:g}x cvxpylayers, gradients right to {EXACT:g}"
    found = {m: _record(records, m) for m in (OURS, *PEERS)}
    ours = found[OURS]
    peers = {m: r for m in PEERS if (r := found[m]) is not None}
    if ours is None or len(peers) < len(PEERS):
        return [Target(case, aim)]
    name = min(peers, key=lambda method: float(peers[method]["solve"]))
    ratio = peers[name]["solve"] / ours["solve"]
    others = "".join(
        f"; {method}: {record['solve']:.1f} s, right to {100 * SAME:g} % on "
        f"{int(np.sum(np.array(record['lowest']) <= SAME))} of the rounds"
        for method, record in peers.items()
    )
    others += _moreau(records, ours)
    measured = (
        f"{ratio:.0f}x {name}, {1e3 * ours['solve']:.0f} ms, ours right to "
        f"{ours['violation']:.0e} on all{others}"
    )
    met = ratio >= FACTOR and ours["violation"] <= EXACT
    return [Target(case, aim, measured, met, basis(found.values()))]


def _moreau(records: Records, ours: Mapping[str, Any]) -> str:
    """How long Moreau's forward pass takes by our whole step, and what its backward pass says."""
    found = records.get(Cell(OBJECTIVE, SPEC, OBJECTIVE, MOREAU, 0.0).name)
    if found is None or "numbers" not in found:
        return ""
    said = f"; Moreau's forward pass alone {found['numbers']['forward'] / ours['solve']:.0f}x"
    if "violation" not in found:
        return f"{said}, {found['message']}"
    right = int(np.sum(np.array(found["lowest"]) <= SAME))
    return f"{said}, gradients right to {100 * SAME:g} % on {right} of the rounds"


def _record(records: Records, method: str) -> Mapping[str, Any] | None:
    found = records.get(Cell(OBJECTIVE, SPEC, OBJECTIVE, method, 0.0).name)
    return found if found is not None and "violation" in found else None


BENCHMARK = Benchmark(OBJECTIVE, "One gradient step", cells(), targets)
