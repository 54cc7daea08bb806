"""Linear problems; optima and prices from the vertex and its two by two systems, by hand."""

from __future__ import annotations

import numpy as np
from tests.bank.case import Case
from tests.bank.statement import Entry, Row, Scalar, state

from walras.separable import Side


def cases() -> list[Case]:
    """All linear cases."""
    return [*_plain(), *_bounds(), *_scalars(), *_degenerate(), *_odd()]


def _plain() -> list[Case]:
    knapsack = state(
        [Entry(0, 0, -3.0), Entry(0, 1, -2.0)],
        [
            Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=1.5),
            Row("time[d0]", {0: 1.0}, upper=1.0),
            Row("time[d1]", {1: 1.0}, upper=1.0),
        ],
        maximize=True,
    )
    # x21 = s costs 7 + 3 s; supply 2 is short, supply 1 is not.
    transport = state(
        [Entry(0, 0, 1.0), Entry(0, 1, 3.0), Entry(1, 0, 2.0), Entry(1, 1, 1.0)],
        [
            Row("supply[r0]", {0: 1.0, 1: 1.0}, upper=4.0),
            Row("supply[r1]", {2: 1.0, 3: 1.0}, upper=2.0),
            Row("need[d0]", {0: 1.0, 2: 1.0}, lower=2.0, upper=2.0),
            Row("need[d1]", {1: 1.0, 3: 1.0}, lower=3.0, upper=3.0),
        ],
    )
    # 2 = u + v, 3 = u + 3 v.
    cover = state(
        [Entry(0, 0, 2.0), Entry(0, 1, 3.0)],
        [
            Row("least[one]", {0: 1.0, 1: 1.0}, lower=4.0),
            Row("least[three]", {0: 1.0, 1: 3.0}, lower=6.0),
        ],
    )
    # 1 + p - q = 0, -2 + p + q = 0.
    range_row = state(
        [Entry(0, 0, 1.0), Entry(0, 1, -2.0)],
        [
            Row("range[r0]", {0: 1.0, 1: 1.0}, lower=1.0, upper=3.0),
            Row("step[r0]", {0: -1.0, 1: 1.0}, upper=1.0),
        ],
    )
    low_range = state(
        [Entry(0, 0, 1.0), Entry(0, 1, 2.0)],
        [Row("range[r0]", {0: 1.0, 1: 1.0}, lower=1.0, upper=3.0)],
    )
    return [
        Case(
            "knapsack",
            knapsack,
            4.0,
            [1.0, 0.5],
            {"capacity[r0]": 2.0, "time[d0]": 1.0, "time[d1]": 0.0},
            splits=True,
        ),
        Case(
            "transport with equalities",
            transport,
            7.0,
            [2.0, 1.0, 0.0, 2.0],
            {"supply[r0]": 0.0, "supply[r1]": 2.0, "need[d0]": -1.0, "need[d1]": -3.0},
        ),
        Case("covering", cover, 9.0, [3.0, 1.0], {"least[one]": -1.5, "least[three]": -0.5}),
        Case(
            "range row at its upper bound",
            range_row,
            -3.0,
            [1.0, 2.0],
            {"range[r0]": 0.5, "step[r0]": 1.5},
        ),
        Case("range row at its lower bound", low_range, 1.0, [1.0, 0.0], {"range[r0]": -1.0}),
        _budget(),
        _few_demands(),
    ]


def _budget() -> Case:
    """A coupled row over all entries: the second best half of it goes to the second demand."""
    problem = state(
        [Entry(0, 0, -4.0), Entry(1, 0, -3.0), Entry(0, 1, -2.0), Entry(1, 1, -1.0)],
        [
            Row("time[d0]", {0: 1.0, 1: 1.0}, upper=1.0),
            Row("time[d1]", {2: 1.0, 3: 1.0}, upper=1.0),
            Row("budget[all]", {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0}, upper=1.5),
        ],
        maximize=True,
    )
    return Case(
        "coupled budget",
        problem,
        5.0,
        [1.0, 0.0, 0.5, 0.0],
        {"budget[all]": 2.0, "time[d0]": 2.0, "time[d1]": 0.0},
        splits=True,
    )


def _few_demands() -> Case:
    """Six resources, two demands: the narrow side is the demands'."""
    entries = [Entry(i, 0, float(i - 6)) for i in range(6)] + [Entry(i, 1, -3.0) for i in range(6)]
    rows = [
        Row(f"use[r{i}]", {i: 1.0, 6 + i: 1.0}, upper=1.0, side=Side.RESOURCE) for i in range(6)
    ]
    rows += [
        Row("most[d0]", {i: 1.0 for i in range(6)}, upper=2.5),
        Row("most[d1]", {6 + i: 1.0 for i in range(6)}, upper=2.0),
    ]
    prices = {"most[d0]": 4.0, "most[d1]": 3.0, "use[r0]": 2.0, "use[r1]": 1.0, "use[r5]": 0.0}
    return Case(
        "demands are the narrow side",
        state(entries, rows, maximize=True),
        19.0,
        prices=prices,
        splits=True,
    )


def _bounds() -> list[Case]:
    # b rests at -3, c makes up for it; a is at its upper bound.
    mixed = state(
        [Entry(0, 0, -1.0, upper=2.0), Entry(0, 1, 2.0, -3.0, 5.0), Entry(0, 2, 1.0, 1.0)],
        [Row("least[r0]", {0: 1.0, 1: 1.0, 2: 1.0}, lower=1.0)],
    )
    free = state(
        [Entry(0, 0, 2.0), Entry(0, 1, 1.0), Entry(0, 2, 0.0, -np.inf)],
        [
            Row("first[r0]", {0: 1.0, 2: -1.0}, lower=-2.0),
            Row("second[r0]", {1: 1.0, 2: 1.0}, lower=5.0),
        ],
    )
    fixed = state(
        [Entry(0, 0, -1.0), Entry(0, 1, -1.0, 1.0, 1.0), Entry(0, 2, -5.0, 0.0, 0.0)],
        [Row("capacity[r0]", {0: 1.0, 1: 1.0, 2: 1.0}, upper=3.0)],
    )
    only_above = state(
        [Entry(0, 0, -2.0, -np.inf, 4.0), Entry(0, 1, 1.0, -np.inf, 7.0)],
        [Row("least[r0]", {0: 1.0, 1: 1.0}, lower=1.0)],
    )
    slack = state(
        [Entry(0, 0, -5.0), Entry(-1, -1, 2.0, upper=1.0)],
        [Row("capacity[r0]", {0: 1.0, 1: -1.0}, upper=1.0)],
        maximize=True,
    )
    return [
        Case("bounds of every kind", mixed, -6.0, [2.0, -3.0, 2.0], {"least[r0]": -1.0}),
        Case("free entry", free, 3.0, [0.0, 3.0, 2.0], {"first[r0]": -1.0, "second[r0]": -1.0}),
        Case("fixed entries", fixed, -3.0, [2.0, 1.0, 0.0], {"capacity[r0]": 1.0}),
        Case("bounded above only", only_above, -11.0, [4.0, -3.0], {"least[r0]": -1.0}),
        Case("ownerless slack", slack, 8.0, [2.0, 1.0], {"capacity[r0]": 5.0}),
    ]


def _scalars() -> list[Case]:
    # u >= x - 1, v >= -x, x >= 4: the cost is x/2 - 1.
    two = state(
        [Entry(0, 0, upper=10.0)],
        [
            Row("above[d0]", {0: 1.0}, upper=1.0, scalars={0: -1.0}),
            Row("below[d0]", {0: -1.0}, upper=0.0, scalars={1: -1.0}),
            Row("least[d0]", {0: 1.0}, lower=4.0),
        ],
        [Scalar(1.0), Scalar(0.5)],
    )
    # Two machines of speeds 1 and 2, six units of work: t = 6/3.
    load = state(
        [Entry(0, 0), Entry(1, 0), Entry(0, 1), Entry(1, 1)],
        [
            Row("load[r0]", {0: 1.0, 2: 1.0}, upper=0.0, scalars={0: -1.0}),
            Row("load[r1]", {1: 0.5, 3: 0.5}, upper=0.0, scalars={0: -1.0}),
            Row("work[d0]", {0: 1.0, 1: 1.0}, lower=2.0, upper=2.0),
            Row("work[d1]", {2: 1.0, 3: 1.0}, lower=4.0, upper=4.0),
        ],
        [Scalar(1.0)],
    )
    tied = state(
        [Entry(0, 0, -1.0), Entry(0, 1, -2.0)],
        [
            Row("total[r0]", {0: 1.0, 1: 1.0}, lower=0.0, upper=0.0, scalars={0: -1.0}),
            Row("most[d1]", {1: 1.0}, upper=2.0),
        ],
        [Scalar(0.5, 0.0, 3.0)],
    )
    third = 1.0 / 3.0
    return [
        Case(
            "two free scalars",
            two,
            1.0,
            [4.0],
            {"above[d0]": 1.0, "below[d0]": 0.5, "least[d0]": -0.5},
        ),
        Case(
            "least peak load",
            load,
            2.0,
            None,
            {"load[r0]": third, "load[r1]": 2 * third, "work[d0]": -third, "work[d1]": -third},
        ),
        Case("scalar in an equality", tied, -3.5, [1.0, 2.0], {"total[r0]": 1.0, "most[d1]": 1.0}),
    ]


def _degenerate() -> list[Case]:
    cost = np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assignment = state(
        [Entry(i, j, cost[i, j]) for j in range(3) for i in range(3)],
        [
            *(Row(f"row[r{i}]", {3 * j + i: 1.0 for j in range(3)}, 1.0, 1.0) for i in range(3)),
            *(Row(f"column[d{j}]", {3 * j + i: 1.0 for i in range(3)}, 1.0, 1.0) for j in range(3)),
        ],
    )
    twice = state(
        [Entry(0, 0, -1.0), Entry(0, 1, -1.0)],
        [
            Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=2.0),
            Row("capacity[again]", {0: 2.0, 1: 2.0}, upper=4.0),
            Row("time[d0]", {0: 1.0}, upper=1.0),
            Row("time[d1]", {1: 1.0}, upper=1.0),
        ],
        maximize=True,
    )
    zero_capacity = state(
        [Entry(0, 0, -5.0), Entry(1, 0, -1.0), Entry(0, 1, -5.0), Entry(1, 1, -2.0)],
        [
            Row("capacity[r0]", {0: 1.0, 2: 1.0}, upper=0.0),
            Row("capacity[r1]", {1: 1.0, 3: 1.0}, upper=1.0),
            Row("time[d0]", {0: 1.0, 1: 1.0}, upper=1.0),
            Row("time[d1]", {2: 1.0, 3: 1.0}, upper=1.0),
        ],
        maximize=True,
    )
    return [
        Case("assignment, redundant equalities", assignment, 10.0, [0, 0, 1, 0, 1, 0, 1, 0, 0]),
        Case("the same capacity twice", twice, 2.0, [1.0, 1.0], splits=True),
        Case("a resource of no capacity", zero_capacity, 2.0, [0, 0, 0, 1.0]),
    ]


def _odd() -> list[Case]:
    lone = state([Entry(0, 0, -2.0, upper=3.0)], [], maximize=True)
    empty_row = state(
        [Entry(0, 0, -1.0, upper=9.0)],
        [Row("nothing[all]", {}, upper=5.0), Row("capacity[r0]", {0: 1.0}, upper=2.0)],
    )
    idle = state(
        [Entry(1, 2, 1.0), Entry(1, 2, -1.0, upper=2.0)],
        [Row("keep[d2]", {0: 1.0, 1: 1.0}, lower=1.0)],
        shape=(4, 5),
    )
    nothing = state([Entry(0, 0), Entry(0, 1)], [Row("sum[r0]", {0: 1.0, 1: 1.0}, 1.0, 1.0)])
    constant = state(
        [Entry(0, 0, -1.0)], [Row("capacity[r0]", {0: 1.0}, upper=2.0)], maximize=True, constant=2.0
    )
    tied = state(
        [Entry(0, j, -1.0) for j in range(4)],
        [Row("capacity[r0]", {j: 1.0 for j in range(4)}, upper=1.0)],
    )
    uneven = state(
        [Entry(0, 0, -3e6), Entry(0, 1, -2e-3)],
        [
            Row("capacity[r0]", {0: 1e6, 1: 1e-3}, upper=1.5e6),
            Row("time[d0]", {0: 1.0}, upper=1.0),
            Row("time[d1]", {1: 1e-5}, upper=1e4),
        ],
        maximize=True,
    )
    return [
        Case("no rows", lone, 6.0, [3.0]),
        Case("an empty row", empty_row, -2.0, [2.0], {"nothing[all]": 0.0, "capacity[r0]": 1.0}),
        Case("idle resources and demands", idle, -2.0, [0.0, 2.0], {"keep[d2]": 0.0}),
        Case("nothing to gain", nothing, 0.0),
        Case("a value of zero", constant, 0.0, [2.0], {"capacity[r0]": 1.0}),
        Case("many optima", tied, -1.0, None, {"capacity[r0]": 1.0}),
        # 0.5e6 of capacity are left, the second demand takes 5e8 of it: 3e6 + 1e6.
        Case(
            "coefficients from 1e-5 to 1e6",
            uneven,
            4e6,
            [1.0, 5e8],
            {"capacity[r0]": 2.0, "time[d0]": 1e6, "time[d1]": 0.0},
        ),
    ]
