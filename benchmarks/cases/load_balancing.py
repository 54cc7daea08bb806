"""Load balancing: moves of the published sequence, a cold round, a larger one, peers' rounds."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.balancing import OBJECTIVE, BalanceSpec
from benchmarks.benchmark import Benchmark, Records, Target, of_method
from benchmarks.cell import Cell

NAME = "load-balancing"
SEQUENCE = BalanceSpec()
TEN = BalanceSpec(rounds=10)
COLD = BalanceSpec(rounds=1)
LARGE = BalanceSpec(1024, 16384, rounds=1, memory=32)
SHARED = BalanceSpec(rounds=1, first=20)  # every method begins from the same placement
PUBLISHED, SECONDS = 20.1, 1.0
COLD_SECONDS, LARGE_SECONDS, LARGE_GAP = 2.9, 30.0, 0.05
OURS = {"walras-rebalance": "replicas kept", "walras-rebalance-drop": "replicas dropped"}
PEERS = ("estore", "rebalance-pop-16", "rebalance-pop-4", "rebalance-plain")


def cells() -> tuple[Cell, ...]:
    """The sequence by us and the greedy; one round by everybody."""
    found = [Cell(NAME, TEN, OBJECTIVE, method, 5.0, 1, quick=True) for method in OURS]
    found += [Cell(NAME, SEQUENCE, OBJECTIVE, method, 20.0, 1) for method in (*OURS, "estore")]
    found += [Cell(NAME, spec, OBJECTIVE, "walras-rebalance", 10.0) for spec in (COLD, LARGE)]
    found.append(Cell(NAME, SHARED, OBJECTIVE, "walras-rebalance-drop", 5.0))
    found += [Cell(NAME, SHARED, OBJECTIVE, method, 60.0, 1, limit=60.0) for method in PEERS]
    return tuple(found)


def targets(records: Records) -> Sequence[Target]:
    """Fewer moves than published, in less time; bounds met cold and large; peers beside."""
    return [
        *(_sequence(records, method) for method in OURS),
        _at_once(records, COLD, COLD_SECONDS, 0.0),
        _at_once(records, LARGE, LARGE_SECONDS, LARGE_GAP),
        _beside(records),
    ]


def _sequence(records: Records, method: str) -> Target:
    case = f"load balancing 256x2,048, rounds 20 to 99, {OURS[method]}"
    aim = f"at most {PUBLISHED} moves a round, under {SECONDS:g} s"
    ours = of_method(records, OBJECTIVE, SEQUENCE, method, NAME)
    if ours is None or "value" not in ours:
        return Target(case, aim)
    n, strict = ours["numbers"], ours["lowest"][0]
    measured = (
        f"{ours['value']:.2f} moves ({strict:.2f} above 1e-3), bound {n['bound']:.2f}, "
        f"{n['round']:.3f} s; DeDe 20.1, exact 20.9 published"
    )
    met = max(ours["value"], strict) <= PUBLISHED and n["round"] < SECONDS
    return Target(case, aim, measured, met and ours["violation"] < 1e-6)


def _at_once(records: Records, spec: BalanceSpec, seconds: float, gap: float) -> Target:
    case = f"load balancing {spec.servers:,}x{spec.shards:,}, cold"
    aim = f"{'the bound' if gap == 0 else f'within {gap:.0%} of the bound'} in {seconds:g} s"
    ours = of_method(records, OBJECTIVE, spec, "walras-rebalance", NAME)
    if ours is None or "value" not in ours or "total" not in ours:
        return Target(case, aim)
    bound = ours["numbers"]["bound"]
    measured = f"{ours['value']:.0f} moves, bound {bound:.0f}, {ours['total']:.2f} s"
    met = ours["value"] <= bound * (1.0 + gap) and ours["total"] <= seconds
    return Target(case, aim, measured, met and ours["violation"] < 1e-6)


def _beside(records: Records) -> Target:
    case, aim = "load balancing 256x2,048, round 20", "fewest moves of all methods"
    found = []
    for method in ("walras-rebalance-drop", *PEERS):
        record = of_method(records, OBJECTIVE, SHARED, method, NAME)
        if record is None:
            return Target(case, aim)
        value = record.get("value")
        shown = "none" if value is None else f"{value:.0f}"
        found.append((method, value, f"{method} {shown} in {record.get('total', 0.0):.2g} s"))
    rest = [value for _, value, _ in found[1:] if value is not None]
    met = found[0][1] is not None and all(found[0][1] <= value for value in rest)
    return Target(case, aim, "; ".join(text for _, _, text in found), met)


BENCHMARK = Benchmark(NAME, "Load balancing", cells(), targets)
