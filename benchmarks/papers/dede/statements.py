"""Section 5 of DeDe: its five problems, stated as printed in cvxpy, against ours."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

import walras as wl
from benchmarks.papers.dede.formulation import drawn
from benchmarks.papers.item import Item, Outcome, verdict_if
from walras.domains import cluster_scheduling as cs
from walras.domains import load_balancing as lb
from walras.domains import traffic_engineering as te
from walras.types import Floats


def by_source(quick: bool) -> Outcome:
    """Section 5.2: the subproblem of each demand alone, and of all that have one source."""
    network, demand, _ = _network(quick=quick)
    pairs = [(int(s), int(t)) for s, t in np.argwhere(demand > 0.0)]
    target = np.random.default_rng(52).uniform(0.0, 3.0, (len(pairs), network.links))
    alone = np.vstack([_flows(network, demand, [p], target[[k]]) for k, p in enumerate(pairs)])
    off = 0.0
    for source in range(network.nodes):
        mine = [k for k, (s, _) in enumerate(pairs) if s == source]
        found = _flows(network, demand, [pairs[k] for k in mine], target[mine])
        off = max(off, float(np.abs(found - alone[mine]).max()))
    return Outcome(
        f"{network.nodes} problems in the place of {len(pairs)} have the same flows to {off:.0e} "
        "(Clarabel)",
        verdict_if(off < 1e-5),
        "grouping saves calls of a modelling layer, not work; here the demands are one batch of a "
        "kernel, three million of them on the network of figure 6",
    )


def _flows(
    network: te.Network, demand: Floats, pairs: list[tuple[int, int]], target: Floats
) -> Floats:
    """(pairs, links) flows of most service less half the squared distance from the target."""
    flow = cp.Variable(target.shape, nonneg=True)
    gain, rules = 0.0, []
    for k, (s, t) in enumerate(pairs):
        balance = _balance(network) @ flow[k]
        middle = [v for v in range(network.nodes) if v not in (s, t)]
        rules += [balance[middle] == 0, balance[t] <= demand[s, t]]
        gain = gain + balance[t]
    near = cp.Problem(cp.Maximize(gain - 0.5 * cp.sum_squares(flow - target)), rules)
    near.solve(cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return np.asarray(flow.value)


def scheduling(quick: bool) -> Outcome:
    """Section 5.1: max-min by HiGHS, proportional fairness by Clarabel."""
    worst = {"max-min": 0.0, "proportional fairness": 0.0}
    for seed in range(1 if quick else 4):
        speed, size, capacity = drawn(4, 15, seed)
        x = cp.Variable(speed.shape, nonneg=True)
        rate = cp.sum(cp.multiply(speed, x), axis=0)
        rules = [x @ size <= capacity, cp.sum(x, axis=0) <= 1]
        least = float(cp.Problem(cp.Maximize(cp.min(rate)), rules).solve(cp.HIGHS))
        logs = float(cp.Problem(cp.Maximize(cp.sum(cp.log(rate))), rules).solve(cp.CLARABEL))
        ours = (cs.max_min(speed, size, capacity), cs.proportional_fairness(speed, size, capacity))
        for name, problem, best in zip(worst, ours, (least, logs), strict=True):
            value = wl.solve(problem, tolerance=1e-9).value
            worst[name] = max(worst[name], abs(value - best) / max(1.0, abs(best)))
    words = ", ".join(f"{name} {off:.0e}" for name, off in worst.items())
    return Outcome(f"relative distance from HiGHS and Clarabel: {words}", _near(worst))


def _near(worst: dict[str, float]) -> Any:
    return verdict_if(max(worst.values()) < 1e-6)


def _network(*, quick: bool) -> tuple[te.Network, Floats, te.Paths]:
    """A ring with chords, two-way, and a demand from every node to every other."""
    nodes, rng = 5 if quick else 7, np.random.default_rng(5)
    ends = {tuple(sorted((v, (v + step) % nodes))) for v in range(nodes) for step in (1, 2)}
    links = [link for one, other in sorted(ends) for link in ((one, other), (other, one))]
    source, target = np.array(links, np.int32).T
    capacity = rng.uniform(5.0, 15.0, len(links))
    network = te.Network(tuple(map(str, range(nodes))), source, target, capacity)
    demand = rng.uniform(0.0, 6.0, (nodes, nodes)) * (1.0 - np.eye(nodes))
    return network, demand, te.candidate_paths(network, k=4, cache=False)


def total_flow(quick: bool) -> Outcome:
    """Section 5.2, by links: as printed, with the destination's inflow; and with its net inflow."""
    del quick
    network, demand, _ = _network(quick=False)
    demand = 2.0 * demand
    values = {}
    for net in (False, True):
        served, rules, used = [], [], []
        for s, t in np.argwhere(demand > 0.0):
            flow = cp.Variable(network.links, nonneg=True)
            balance = _balance(network) @ flow  # inflow less outflow of each node
            into = (network.target == t).astype(float) @ flow
            served.append(balance[int(t)] if net else into)
            middle = [v for v in range(network.nodes) if v not in (s, t)]
            rules += [balance[middle] == 0, served[-1] <= demand[s, t]]
            used.append(flow)
        rules.append(sum(used) <= network.capacity)
        values[net] = float(cp.Problem(cp.Maximize(sum(served)), rules).solve(cp.HIGHS))
    ours = wl.solve(te.max_total_flow_by_link(network, demand), engine="exact").value
    off = abs(ours / values[True] - 1.0)
    return Outcome(
        f"ours {off:.0e} from HiGHS with the net inflow; as printed {values[False]:.1f} of "
        f"{demand.sum():.1f} asked for is served, in truth {values[True]:.1f}",
        "refuted" if off < 1e-7 and values[False] > values[True] + 1e-6 else "reproduced",
        "the inflow of a destination counts circles through it, which carry nothing from the "
        "source. On links of simple paths alone there are none, and the two agree",
    )


def _balance(network: te.Network) -> Floats:
    """(nodes, links) 1 where a link ends, -1 where it begins."""
    found = np.zeros((network.nodes, network.links))
    found[network.target, np.arange(network.links)] += 1.0
    found[network.source, np.arange(network.links)] -= 1.0
    return found


def utilisation(quick: bool) -> Outcome:
    """Section 5.2, by paths: the least maximum of load over capacity."""
    network, demand, paths = _network(quick=quick)
    flow = cp.Variable(paths.count, nonneg=True)
    load: list[Any] = [0.0] * network.links
    served: dict[tuple[int, int], Any] = {}
    for p in range(paths.count):
        links = paths.links[paths.pointer[p] : paths.pointer[p + 1]]
        for link in links:
            load[link] = load[link] + flow[p]
        ends = (int(network.source[links[0]]), int(network.target[links[-1]]))
        served[ends] = served.get(ends, 0.0) + flow[p]
    rules = [served[s, t] == demand[s, t] for s, t in map(tuple, np.argwhere(demand > 0.0))]
    most = cp.max(cp.hstack(load) / network.capacity)
    best = float(cp.Problem(cp.Minimize(most), rules).solve(cp.HIGHS))
    ours = wl.solve(te.min_max_utilisation(network, demand, paths), tolerance=1e-9).value
    off = abs(ours / best - 1.0)
    return Outcome(
        f"{best:.4f} over {paths.count} paths, ours {off:.0e} off", verdict_if(off < 1e-6)
    )


def shards(quick: bool) -> Outcome:
    """Section 5.3: the mixed-integer program by HiGHS against ours."""
    off, sums = 0.0, [0.0, 0.0]
    for seed in range(3 if quick else 12):
        loads, now = _shards(seed)
        best = _least_moves([loads], now)[0]
        ours = lb.solve_round(
            lb.make_round(loads, placement=now, band=_BAND), options=lb.Options(keep=False)
        )
        off = max(off, abs(ours.value - best))
        sums[0], sums[1] = sums[0] + best, sums[1] + ours.value
    return Outcome(
        f"{sums[0]:.0f} moves by HiGHS, {sums[1]:.0f} by ours, at most {off:.0e} apart in a round",
        verdict_if(off < 1e-6),
    )


_SERVERS, _SHARDS, _BAND = 3, 8, 0.1


def _shards(seed: int, rounds: int = 1) -> tuple[Floats, Any]:
    """Loads of a round, or of some, and a first placement of every shard on one server."""
    rng = np.random.default_rng((seed, 53))
    loads = rng.lognormal(0.0, 0.6, (rounds, _SHARDS))
    now = np.zeros((_SERVERS, _SHARDS), dtype=bool)
    now[rng.integers(_SERVERS, size=_SHARDS), np.arange(_SHARDS)] = True
    return (loads[0] if rounds == 1 else loads), now


def _least_moves(loads: list[Floats], now: Any) -> tuple[float, Any]:
    """Least placements that were absent before, over rounds at once, and the last placement."""
    cost: Any = 0.0
    rules: list[Any] = []
    before: Any = now.astype(float)
    for load in loads:
        x = cp.Variable(now.shape, nonneg=True)
        placed, new = cp.Variable(now.shape, boolean=True), cp.Variable(now.shape, nonneg=True)
        mean = load.sum() / len(now)
        rules += [cp.sum(x, axis=0) == 1, x <= placed, new >= placed - before]
        rules += [x @ load <= (1 + _BAND) * mean, x @ load >= (1 - _BAND) * mean]
        cost, before = cost + cp.sum(new), placed
    value = float(cp.Problem(cp.Minimize(cost), rules).solve(cp.HIGHS))
    return value, np.asarray(placed.value) > 0.5


def one_by_one(quick: bool) -> Outcome:
    """Rounds solved one by one against all rounds at once."""
    count, rounds, worse, sums = (3 if quick else 8), 3, 0, [0.0, 0.0]
    for seed in range(count):
        loads, now = _shards(seed, rounds)
        at_once, _ = _least_moves(list(loads), now)
        one = 0.0
        for load in loads:
            value, now = _least_moves([load], now)
            one += value
        worse += one > at_once + 0.5
        sums[0], sums[1] = sums[0] + one, sums[1] + at_once
    return Outcome(
        f"{rounds} rounds one by one take {sums[0]:.0f} moves, at once {sums[1]:.0f}; more in "
        f"{worse} of {count} sequences (HiGHS)",
        verdict_if(worse > 0),
        "so a method that goes on from its own placements may have fewer moves than 'exact' has",
    )


ITEMS = (
    Item(
        "section 5.1",
        "Max-min and proportional fairness of a cluster, as programs.",
        "",
        "cs.max_min(...), cs.proportional_fairness(...)",
        scheduling,
    ),
    Item(
        "section 5.2, total flow",
        "Total flow by links: what flows into the destinations, conserved at all other nodes.",
        "",
        "te.max_total_flow_by_link(network, demand)",
        total_flow,
    ),
    Item(
        "section 5.2, link utilisation",
        "The largest ratio of load to capacity is as small as it can be.",
        "",
        "te.min_max_utilisation(network, demand, paths)",
        utilisation,
    ),
    Item(
        "section 5.2, by source",
        "The subproblems of the demands are grouped by source: as many as nodes, not pairs.",
        "",
        "te.max_total_flow_by_link(network, demand)",
        by_source,
    ),
    Item(
        "section 5.3",
        "Fewest moves of shards within a band of loads, as a mixed-integer program.",
        "",
        "lb.solve_round(problem)",
        shards,
    ),
    Item(
        "claim: rounds one by one",
        "Solving each round exactly does not make the moves of all rounds as few as possible.",
        "20.9 (exact) against 20.1",
        "lb.play(first, loads)",
        one_by_one,
    ),
)
