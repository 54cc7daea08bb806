"""Problems without an answer, and what must be named."""

from __future__ import annotations

import numpy as np
from tests.bank.case import Impossible
from tests.bank.statement import Entry, Row, Scalar, state

from walras.separable import Utility


def infeasible() -> list[Impossible]:
    """Rows that no allocation meets."""
    short = state(
        [Entry(0, 0, 1.0)],
        [Row("capacity[r0]", {0: 1.0}, upper=1.0), Row("need[d0]", {0: 1.0}, lower=3.0)],
    )
    bound = state([Entry(0, 0, 1.0, upper=1.0)], [Row("need[d0]", {0: 1.0}, lower=3.0)])
    contrary = state(
        [Entry(0, 0, 1.0), Entry(0, 1)],
        [
            Row("sum[one]", {0: 1.0, 1: 1.0}, 1.0, 1.0),
            Row("sum[two]", {0: 1.0, 1: 1.0}, 2.0, 2.0),
        ],
    )
    dead = state(
        [Entry(0, 0), Entry(1, 1)],
        [
            Row("speed[d0]", {0: 1.0}, utility=Utility.LOG),
            Row("speed[d1]", {1: 1.0}, utility=Utility.LOG),
            Row("capacity[r0]", {0: 1.0}, upper=0.0),
            Row("capacity[r1]", {1: 1.0}, upper=1.0),
        ],
    )
    scalar = state(
        [Entry(0, 0, upper=0.5)],
        [Row("level[d0]", {0: -1.0}, upper=0.0, scalars={0: 1.0})],
        [Scalar(-1.0, 1.0, 4.0)],
    )
    curved = state(
        [Entry(0, 0, quadratic=1.0), Entry(0, 1, quadratic=1.0)],
        [
            Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=2.0),
            Row("need[d0]", {0: 1.0}, lower=2.0),
            Row("need[d1]", {1: 1.0}, lower=1.0),
        ],
    )
    free = state(
        [Entry(0, 0, 1.0, -np.inf), Entry(0, 1, 0.0, -np.inf)],
        [
            Row("gap[one]", {0: 1.0, 1: -1.0}, 1.0, 1.0),
            Row("gap[three]", {0: 1.0, 1: -1.0}, 3.0, 3.0),
        ],
    )
    quota = state(
        [Entry(i, j, -1.0) for j in range(3) for i in range(2)],
        [
            Row("capacity[r0]", {0: 1.0, 2: 1.0, 4: 1.0}, upper=2.0),
            Row("capacity[r1]", {1: 1.0, 3: 1.0, 5: 1.0}, upper=2.0),
            Row("floor[team]", {q: 1.0 for q in range(6)}, lower=5.0),
        ],
        maximize=True,
    )
    return [
        Impossible("need above capacity", short, ["capacity[r0]", "need[d0]"], 2.0),
        Impossible("need above an entry's bound", bound, ["need[d0]"], 2.0),
        Impossible("two sums of the same entries", contrary, ["sum[one]", "sum[two]"], 1.0),
        Impossible("a logarithm held at zero", dead, ["speed[d0]", "capacity[r0]"]),
        Impossible("a scalar's bound", scalar, ["level[d0]"], 0.5),
        Impossible("curved costs", curved, ["capacity[r0]", "need[d0]", "need[d1]"], 1.0),
        Impossible("free entries", free, ["gap[one]", "gap[three]"], 2.0),
        Impossible(
            "a floor above all capacity",
            quota,
            ["floor[team]", "capacity[r0]", "capacity[r1]"],
            1.0,
        ),
    ]


def unbounded() -> list[Impossible]:
    """Objectives that improve without end."""
    lone = state([Entry(0, 0, -1.0)], [Row("least[d0]", {0: 1.0}, lower=0.0)], maximize=True)
    ray = state(
        [Entry(0, 0, -2.0), Entry(0, 1, 1.0)],
        [Row("gap[r0]", {0: 1.0, 1: -1.0}, upper=1.0)],
    )
    scalar = state(
        [Entry(0, 0)],
        [Row("level[d0]", {0: -1.0}, upper=0.0, scalars={0: 1.0})],
        [Scalar(-1.0)],
    )
    logarithm = state(
        [Entry(0, 0), Entry(0, 1, 1.0)],
        [
            Row("speed[d0]", {0: 1.0}, utility=Utility.LOG),
            Row("speed[d1]", {1: 1.0}, utility=Utility.LOG),
        ],
    )
    half_curved = state(
        [Entry(0, 0, -1.0, quadratic=1.0), Entry(0, 1, -1.0)],
        [Row("least[r0]", {0: 1.0, 1: 1.0}, lower=1.0)],
    )
    free = state(
        [Entry(0, 0, 1.0, -np.inf), Entry(0, 1, 1.0)],
        [Row("least[d1]", {1: 1.0}, lower=1.0)],
    )
    return [
        Impossible("an entry without bound", lone, ["x[r0, d0]"]),
        Impossible("a ray of two entries", ray, ["x[r0, d0]", "x[r0, d1]"]),
        Impossible("a scalar without bound", scalar, ["t0", "x[r0, d0]"]),
        Impossible("a logarithm without bound", logarithm, ["x[r0, d0]"]),
        Impossible("one curved, one linear", half_curved, ["x[r0, d1]"]),
        Impossible("a free entry", free, ["x[r0, d0]"]),
    ]
