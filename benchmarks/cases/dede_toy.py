"""The README example of the ``dede`` package: through ``walras.dede``, and from arrays."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import Benchmark, Records, Target, basis, of_method
from benchmarks.cell import Cell
from benchmarks.instances import Spec

SPEC = Spec("dede-toy", 100, 100, seed=0)
OPTIMUM = 4950.0  # sum of the row bounds 0..99, which the column bounds just admit
EXACT = 1e-6


def cells() -> tuple[Cell, ...]:
    """Both ways of Walras, and the package itself with the Ray cluster that it starts."""
    ours = [
        Cell("dede-toy", SPEC, "dede-toy", m, 5.0, quick=True)
        for m in ("walras-dede", "walras-arrays")
    ]
    return (*ours, Cell("dede-toy", SPEC, "dede-toy", "dede-library", 60.0))


def targets(records: Records) -> Sequence[Target]:
    """90 times with cvxpy's canonicalisation, 700 times from arrays, both exact."""
    return [
        _target(records, "walras-dede", "through `walras.dede`", 90.0),
        _target(records, "walras-arrays", "from arrays", 700.0),
    ]


def _target(records: Records, method: str, way: str, factor: float) -> Target:
    case, aim = f"DeDe's toy 100x100 {way}", f"at least {factor:g}x, exact"
    ours = of_method(records, "dede-toy", SPEC, method)
    theirs = of_method(records, "dede-toy", SPEC, "dede-library")
    if ours is None or theirs is None or "total" not in ours or "total" not in theirs:
        return Target(case, aim)
    ratio = theirs["total"] / ours["total"]
    error = abs(ours["value"] - OPTIMUM) / OPTIMUM
    worst = ours["violation"]
    measured = (
        f"{ratio:.0f}x ({ours['total']:.3f} s of {theirs['total']:.1f} s), value off by "
        f"{error:.1e}, violation {worst:.1e} (theirs {theirs['violation']:.1e})"
    )
    met = ratio >= factor and error <= EXACT and worst <= EXACT
    return Target(case, aim, measured, met, basis((ours, theirs)))


BENCHMARK = Benchmark("dede-toy", "DeDe's README example", cells(), targets)
