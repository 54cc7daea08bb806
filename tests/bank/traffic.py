"""Traffic engineering on toy networks; optima from cuts and bottlenecks, by hand."""

from __future__ import annotations

import numpy as np
from tests.bank.case import Case

from walras.domains import traffic_engineering as te


def cases() -> list[Case]:
    """All traffic cases."""
    return [*_diamond(), *_shared(), *_line()]


def _network(ends: list[tuple[int, int]], capacity: list[float]) -> te.Network:
    source, target = np.array(ends, dtype=np.int32).T
    names = tuple(f"n{v}" for v in range(int(max(source.max(), target.max())) + 1))
    return te.Network(names, source, target, np.array(capacity))


def _demand(net: te.Network, **given: float) -> np.ndarray:
    """``_03=4.0`` is a demand of 4 from n0 to n3."""
    out = np.zeros((net.nodes, net.nodes))
    for pair, value in given.items():
        out[int(pair[1]), int(pair[2])] = value
    return out


def _diamond() -> list[Case]:
    """0 -> 1 -> 3 and 0 -> 2 -> 3; the paths of pairs without demand are fixed at zero."""
    ends = [(0, 1), (1, 3), (0, 2), (2, 3)]
    net, even = _network(ends, [3.0, 1.5, 2.0, 2.5]), _network(ends, [3.0, 4.0, 2.0, 2.5])
    demand = _demand(net, _03=4.0)
    paths, others = (te.candidate_paths(n, cache=False) for n in (net, even))
    return [
        Case(
            "flow over two disjoint paths",
            te.max_total_flow(net, demand, paths),
            3.5,
            [0.0, 0.0, 1.5, 2.0, 0.0, 0.0],
            {
                "capacity[n1->n3]": 1.0,
                "capacity[n0->n2]": 1.0,
                "capacity[n0->n1]": 0.0,
                "demand[n0->n3]": 0.0,
            },
        ),
        Case(
            "flow by link",
            te.max_total_flow_by_link(net, demand),
            3.5,
            None,
            {"capacity[n1->n3]": 1.0, "capacity[n0->n2]": 1.0},
        ),
        # Utilisation t where 3 t + 2 t = 4: dt/dc = -t/5 on both bottlenecks, dt/dd = 1/5; a row
        # load - t c <= 0 relaxed by one carries one more: dt/db = -1/5.
        Case(
            "utilisation over two disjoint paths",
            te.min_max_utilisation(even, demand, others),
            0.8,
            [0.0, 0.0, 2.4, 1.6, 0.0, 0.0],
            {
                "capacity[n0->n1]": 0.2,
                "capacity[n0->n2]": 0.2,
                "capacity[n1->n3]": 0.0,
                "demand[n0->n3]": -0.2,
            },
        ),
    ]


def _shared() -> list[Case]:
    """0 and 1 send to 3 over the link 2 -> 3 of capacity 3."""
    net = _network([(0, 2), (1, 2), (2, 3)], [9.0, 9.0, 3.0])
    demand = _demand(net, _03=4.0, _13=2.0)
    paths = te.candidate_paths(net, cache=False)
    concurrent = te.max_concurrent_flow(net, demand, paths)
    fair = te.max_min_fair(net, demand + _demand(net, _12=20.0), paths, weight=np.ones((4, 4)))
    return [
        Case(
            "concurrent flow on a shared link",
            concurrent,
            0.5,
            None,
            {"capacity[n2->n3]": 1 / 6, "rate[n0->n3]": 2 / 3, "rate[n1->n3]": 1 / 3},
        ),
        # 3/2 each through 2 -> 3; what is left of 1 -> 2 goes to its own pair.
        Case("max-min fair rates", fair, 1.5, None, None, [1.5, 7.5]),
    ]


def _line() -> list[Case]:
    """0 -> 1 -> 2 with one unit each: two short flows beat a long one."""
    net = _network([(0, 1), (1, 2)], [1.0, 1.0])
    paths = te.candidate_paths(net, cache=False)
    demand = _demand(net, _01=1.0, _02=1.0, _12=1.0)
    return [
        Case(
            "short flows before long ones",
            te.max_total_flow(net, demand, paths),
            2.0,
            [1.0, 0.0, 1.0],
        )
    ]
