"""A large round with a floor: a certified placement against HiGHS' linear relaxation alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.benchmark import Benchmark, Records, Target, basis, of_method
from benchmarks.cell import Cell
from benchmarks.matching import MatchSpec

SPEC = MatchSpec(200, 5000)
SMALL = MatchSpec(20, 500)
SHARED = MatchSpec(200, 2000, shared=True)
SHARED_GAP = 0.03
MANY = MatchSpec(200, 100_000)
SECONDS = 10.0
GAP = 0.01
PEERS = ("highs-match-lp", "highs-match-ipm")
ROUNDING = 1e-6  # a bound may pass HiGHS' optimum by its feasibility tolerance


def cells() -> tuple[Cell, ...]:
    """Ours, and HiGHS' relaxation by its default and by its interior point."""
    return (
        Cell("match-large", SMALL, "match", "walras-match-large", 5.0, quick=True),
        Cell("match-large", SMALL, "match", "highs-match-lp", 5.0, quick=True),
        Cell("match-large", SPEC, "match", "walras-match-large", 40.0, runs=3),
        *(Cell("match-large", SPEC, "match", peer, 100.0, runs=1, limit=90.0) for peer in PEERS),
        Cell("match-large", SHARED, "match", "walras-match-large", 10.0, runs=3),
        Cell("match-large", MANY, "match", "walras-match-large", 60.0, runs=3),
    )


def targets(records: Records) -> Sequence[Target]:
    """A gap of 1 per cent, in less time than the relaxation alone takes; the exchange's rounds."""
    return [
        *_against_relaxation(records),
        _alone(records, SHARED, "with slots that get free", SHARED_GAP, math.inf),
        _alone(records, MANY, "with a floor", GAP, SECONDS),
    ]


def _alone(records: Records, spec: MatchSpec, words: str, most: float, seconds: float) -> Target:
    """A gap that ours proves, in some seconds; no peer takes the round."""
    case = f"matching {spec.clusters}x{spec.tasks:,} {words}"
    aim = f"certified gap <= {most:g}" + (f" in {seconds:g} s" if math.isfinite(seconds) else "")
    ours = of_method(records, "match", spec, "walras-match-large")
    if ours is None or "total" not in ours:
        return Target(case, aim)
    gap = 1.0 - ours["numbers"]["bound"] / ours["value"]
    measured = f"gap {100 * gap:.2f} % in {ours['total']:.2f} s"
    met = gap <= most and ours["total"] <= seconds and ours["violation"] <= 1e-8
    return Target(case, aim, measured, met, basis([ours]))


def _against_relaxation(records: Records) -> list[Target]:
    case = f"matching {SPEC.clusters}x{SPEC.tasks:,} with a floor"
    aim = f"certified gap <= {GAP:g}, quicker than HiGHS' relaxation alone"
    ours = of_method(records, "match", SPEC, "walras-match-large")
    theirs = [of_method(records, "match", SPEC, peer) for peer in PEERS]
    ran = [record for record in theirs if record is not None]
    if ours is None or "total" not in ours or len(ran) < len(PEERS):
        return [Target(case, aim)]
    done = [(r["total"], r) for r in ran if r["status"] == "ran"]
    stopped = [r["cell"]["limit"] for r in ran if r["status"] == "stopped"]
    seconds = min([s for s, _ in done] + stopped)
    sign = "" if done and min(done)[0] == seconds else ">"
    gap = 1.0 - ours["numbers"]["bound"] / ours["value"]
    true = all(
        ours["numbers"]["bound"] <= r["numbers"]["optimum"] * (1 + ROUNDING) for _, r in done
    )
    measured = f"gap {100 * gap:.2f} % in {ours['total']:.2f} s; relaxation {sign}{seconds:.1f} s"
    if not true:
        measured += "; THE BOUND IS WRONG"
    met = gap <= GAP and ours["total"] < seconds and ours["violation"] <= 1e-8 and true
    return [Target(case, aim, measured, met, basis((ours, *ran)))]


BENCHMARK = Benchmark("match-large", "A large round of matching", cells(), targets)
