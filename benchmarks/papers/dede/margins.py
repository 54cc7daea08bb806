"""The claims of DeDe's introduction: margins over the best POP, and what the survey covers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import walras as wl
from benchmarks.balancing import BalanceSpec
from benchmarks.balancing_rounds import build_balance, first_problem
from benchmarks.experiments.study import Setting
from benchmarks.instances import Spec, heterogeneous
from benchmarks.papers.item import Item, Outcome, verdict_if
from walras.domains import cluster_scheduling as cs
from walras.domains import load_balancing as lb
from walras.domains import traffic_engineering as te
from walras.separable import Separable

_PARTS = (4, 16, 64)
_CLOSEST = 1e-6  # relative gap where POP is optimal


@dataclass(frozen=True)
class _Row:
    """A method's quality over the optimum, and its seconds."""

    method: str
    quality: float
    seconds: float


def _solved(method: str, problem: Separable, best: float, **how: Any) -> _Row:
    began = time.perf_counter()
    found = wl.solve(problem, **how)
    return _Row(method, found.value / best, time.perf_counter() - began)


def _margins(problem: Separable, limit: float, why: str) -> Outcome:
    """POP, DeDe's scheme, and ours proved to the quality of the best POP."""
    best = wl.solve(problem, tolerance=1e-6).value
    pops = [
        _solved(f"POP-{parts}", problem, best, engine=wl.engines.POP(parts=parts))
        for parts in _PARTS
    ]
    pop = max(pops, key=lambda row: row.quality)
    engine = wl.engines.ADMM(mode="paper")
    scheme = _solved("DeDe's scheme", problem, best, engine=engine, time_limit=limit)
    near = max(1.0 - pop.quality, _CLOSEST)
    ours = _solved("Walras, proved to POP's quality", problem, best, tolerance=near)
    better = 100.0 * (scheme.quality / pop.quality - 1.0)
    faster = pop.seconds / scheme.seconds
    table = pd.DataFrame([*pops, scheme, ours])
    return Outcome(
        f"DeDe's scheme {better:+.1f} % and {faster:.1f} times as fast as the best POP; ours at "
        f"POP's quality, with a proof, {pop.seconds / ours.seconds:.1f} times as fast",
        verdict_if(better > 0.0 and faster > 1.0),
        why,
        table.round(4),
    )


def scheduling(quick: bool) -> Outcome:
    """Cluster scheduling: 7.3 % and 3.1 times."""
    made = heterogeneous(Spec("heterogeneous", *((114, 500) if quick else (456, 2000)), seed=100))
    problem = cs.max_min(made.throughput, made.size, made.capacity)
    return _margins(problem, 20.0, "max-min on one drawn round, two cores, real times")


def traffic(quick: bool) -> Outcome:
    """Traffic engineering: 5.3 % and 7.6 times."""
    setting = Setting("ASN2k-40" if quick else "UsCarrier")
    network, paths = setting.parts
    problem = te.max_total_flow(network, setting.traffic(paths), paths)
    why = f"total flow on {setting.topology}, drawn traffic, two cores, real times"
    return _margins(problem, 10.0, why)


def balancing(quick: bool) -> Outcome:
    """Load balancing: 12.6 % and 2.2 times."""
    problem = first_problem(build_balance(BalanceSpec(rounds=1, first=20)))
    limit = 2.0 if quick else 60.0
    rows: list[list[Any]] = []
    for name, method in (
        ("POP-16", lambda: lb.pop_rebalance(problem, parts=16, time_limit=limit / 16)),
        ("DeDe's scheme", lambda: lb.dede_scheme(problem)),
        ("Walras", lambda: lb.solve_round(problem, options=lb.Options(keep=False))),
    ):
        began = time.perf_counter()
        found = method()
        rows.append([name, found.moves, time.perf_counter() - began])
    table = pd.DataFrame(rows, columns=["method", "moves", "seconds"])
    pop, scheme, ours = table["moves"]
    return Outcome(
        f"moves: POP-16 {pop}, DeDe's scheme {scheme}, ours {ours}",
        verdict_if(bool(scheme < pop)),
        f"one round from the same placement; HiGHS has {limit:g} s for POP's parts",
        table.round(2),
    )


def survey(quick: bool) -> Outcome:
    """One problem of each kind of table 1, solved with a bound."""
    del quick
    rng = np.random.default_rng(0)
    speed, size = rng.lognormal(0.0, 0.5, (4, 10)), np.ones(10)
    capacity = np.full(4, 4.0)
    kinds = {
        "float, linear": wl.solve(cs.max_min(speed, size, capacity)),
        "float, convex": wl.solve(cs.proportional_fairness(speed, size, capacity)),
        "boolean, linear": wl.solve(
            cs.min_makespan(speed, size, capacity, np.ones(10), whole=True)
        ),
    }
    table = pd.DataFrame(
        {"kind": name, "engine": s.engine, "gap": s.gap, "status": str(s.status)}
        for name, s in kinds.items()
    )
    proved = bool((table["gap"] <= 1e-6).all())
    return Outcome(
        "each kind is one statement here and ends with a gap of "
        f"{table['gap'].max():.0e} at most; general integers as wl.solve of a cvxpy problem",
        verdict_if(proved),
        "",
        table,
    )


def worked(quick: bool) -> Outcome:
    """Figure 3's table is in the drawing alone."""
    del quick
    return Outcome(
        "the same kind of problem is listing 1's",
        "not reproducible",
        "capacities and throughputs stand in the drawing; the text has two of them",
    )


ITEMS = (
    Item(
        "table 1",
        "Allocation problems of the literature are separable: floats, booleans, integers; linear "
        "or convex.",
        "",
        "wl.solve(cs.max_min(...)), cs.proportional_fairness(...), min_makespan(..., whole=True)",
        survey,
    ),
    Item(
        "figure 3",
        "Three jobs on three types: the best allocation has a mean of 18.8 tokens a second.",
        "18.8",
        "cs.total_throughput(...)",
        worked,
    ),
    Item(
        "claim: cluster scheduling",
        "Against the best POP, 7.3 % better and 3.1 times faster.",
        "7.3 %, 3.1",
        "wl.solve(cs.max_min(...), tolerance=...)",
        scheduling,
    ),
    Item(
        "claim: traffic engineering",
        "Against the best POP, 5.3 % better and 7.6 times faster.",
        "5.3 %, 7.6",
        "wl.solve(te.max_total_flow(...), tolerance=...)",
        traffic,
    ),
    Item(
        "claim: load balancing",
        "Against the best POP, 12.6 % better and 2.2 times faster.",
        "12.6 %, 2.2",
        "lb.solve_round(problem)",
        balancing,
    ),
)
