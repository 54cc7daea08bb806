"""Problems with curved costs; optima from first-order conditions, by hand."""

from __future__ import annotations

import numpy as np
from tests.bank.case import Case
from tests.bank.statement import Entry, Row, Scalar, state

from walras.separable import Side, Utility


def cases() -> list[Case]:
    """All curved cases."""
    return [*_quadratic(), *_powers(), *_logarithms(), *_mixed()]


def _quadratic() -> list[Case]:
    target = state(
        [Entry(0, 0, 1.0), Entry(1, 0, 2.0)],
        [Row("target[d0]", {0: 1.0, 1: 1.0}, utility=Utility.QUADRATIC, parameter=3.0)],
    )
    # Projection of (0.8, 0.6, -0.5) onto the simplex: (v - 0.2)+.
    simplex = state(
        [Entry(0, j, -v, quadratic=1.0) for j, v in enumerate((0.8, 0.6, -0.5))],
        [Row("sum[r0]", {0: 1.0, 1: 1.0, 2: 1.0}, 1.0, 1.0)],
    )
    least_norm = state(
        [Entry(0, j, 0.0, -np.inf, quadratic=1.0) for j in range(2)],
        [Row("line[r0]", {0: 1.0, 1: 2.0}, 5.0, 5.0)],
    )
    clipped = state(
        [Entry(0, 0, -4.0, 0.0, 1.5, 2.0), Entry(0, 1, -1.0, 0.0, 9.0, 2.0)],
        [Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=8.0)],
    )
    # Both jobs miss their targets 3 and 1 by the same half unit.
    resource = state(
        [Entry(0, 0), Entry(0, 1)],
        [
            Row("want[d0]", {0: 1.0}, utility=Utility.QUADRATIC, parameter=3.0, weight=2.0),
            Row("want[d1]", {1: 1.0}, utility=Utility.QUADRATIC, parameter=1.0, weight=2.0),
            Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=3.0),
        ],
    )
    return [
        Case("quadratic utility", target, 2.5, [2.0, 0.0], {"target[d0]": -1.0}),
        Case("projection onto the simplex", simplex, -0.46, [0.6, 0.4, 0.0], {"sum[r0]": 0.2}),
        Case("least norm on a line", least_norm, 2.5, [1.0, 2.0], {"line[r0]": -1.0}),
        Case("quadratic entries within bounds", clipped, -4.0, [1.5, 0.5], {"capacity[r0]": 0.0}),
        Case(
            "targets that are missed",
            resource,
            0.5,
            [2.5, 0.5],
            {"capacity[r0]": 1.0, "want[d0]": -1.0, "want[d1]": -1.0},
            splits=True,
        ),
    ]


def _powers() -> list[Case]:
    # 3 y0^2 = 12 y1^2.
    cubes = state(
        [Entry(0, 0), Entry(1, 0)],
        [
            Row(
                "load[r0]",
                {0: 1.0},
                utility=Utility.CONVEX_POWER,
                parameter=3.0,
                side=Side.RESOURCE,
            ),
            Row(
                "load[r1]",
                {1: 1.0},
                utility=Utility.CONVEX_POWER,
                parameter=3.0,
                weight=4.0,
                side=Side.RESOURCE,
            ),
            Row("work[d0]", {0: 1.0, 1: 1.0}, 3.0, 3.0),
        ],
    )
    gentle = state(
        [Entry(0, 0, -3.0)],
        [Row("load[r0]", {0: 1.0}, utility=Utility.CONVEX_POWER, parameter=1.5)],
    )
    # Softmax of the costs: shares 2/3 and 1/3.
    softmax = state(
        [Entry(0, 0), Entry(1, 0, float(np.log(2.0)))],
        [
            Row("mixed[r0]", {0: 1.0}, utility=Utility.ENTROPY, side=Side.RESOURCE),
            Row("mixed[r1]", {1: 1.0}, utility=Utility.ENTROPY, side=Side.RESOURCE),
            Row("sum[d0]", {0: 1.0, 1: 1.0}, 1.0, 1.0),
        ],
    )
    # x^-2 of the sum and a cost: f'(y) = -y^-2 = -1/4.
    concave = state(
        [Entry(0, 0, 0.25), Entry(1, 0, 1.0)],
        [Row("work[d0]", {0: 1.0, 1: 1.0}, utility=Utility.POWER, parameter=2.0)],
    )
    shares = {"mixed[r0]": np.log(2 / 3) + 1, "mixed[r1]": np.log(1 / 3) + 1}
    return [
        Case(
            "cubic loads",
            cubes,
            12.0,
            [2.0, 1.0],
            {"load[r0]": 12.0, "load[r1]": 12.0, "work[d0]": -12.0},
        ),
        Case("a load to the power 3/2", gentle, -4.0, [4.0], {"load[r0]": 3.0}),
        Case(
            "entropy",
            softmax,
            -float(np.log(1.5)),
            [2 / 3, 1 / 3],
            {**shares, "sum[d0]": float(np.log(1.5)) - 1.0},
        ),
        Case("power utility against a cost", concave, 1.0, [2.0, 0.0], {"work[d0]": -0.25}),
    ]


def _logarithms() -> list[Case]:
    coupled = state(
        [Entry(0, 0, 1.0), Entry(1, 1, 2.0)],
        [Row("all[sum]", {0: 1.0, 1: 1.0}, utility=Utility.LOG)],
    )
    with_scalar = state(
        [Entry(0, 0, 2.0)],
        [Row("sum[d0]", {0: 1.0}, utility=Utility.LOG, scalars={0: 1.0})],
        [Scalar(1.0, 0.0)],
    )
    # Resources have the logarithms: the market with its sides exchanged.
    exchanged = state(
        [Entry(0, 0), Entry(1, 0), Entry(2, 0)],
        [
            *(
                Row(
                    f"speed[r{i}]",
                    {i: 2.0},
                    utility=Utility.LOG,
                    weight=float(i + 1),
                    side=Side.RESOURCE,
                )
                for i in range(3)
            ),
            Row("budget[d0]", {0: 1.0, 1: 1.0, 2: 1.0}, upper=3.0),
        ],
        gap_scale=6.0,
        maximize=True,
    )
    weights = state(
        [Entry(0, 0), Entry(0, 1)],
        [
            Row("speed[d0]", {0: 1.0}, utility=Utility.LOG, weight=1e-4),
            Row("speed[d1]", {1: 1.0}, utility=Utility.LOG, weight=1e4),
            Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=1.0),
        ],
        gap_scale=1e4,
        maximize=True,
    )
    value = float(np.log(1.0) + 2 * np.log(2.0) + 3 * np.log(3.0))
    skewed = 1e-4 * np.log(1e-8) + 1e4 * np.log1p(-1e-8)
    return [
        Case("a logarithm of everything", coupled, 1.0, [1.0, 0.0], {"all[sum]": -1.0}),
        Case("logarithm with a scalar", with_scalar, 1.0, [0.0], {"sum[d0]": -1.0}),
        Case(
            "logarithms of the resources",
            exchanged,
            value,
            [0.5, 1.0, 1.5],
            {"budget[d0]": 2.0, "speed[r2]": -1.0},
        ),
        Case("weights from 1e-4 to 1e4", weights, float(skewed), None, {"capacity[r0]": 1e4}),
    ]


def _mixed() -> list[Case]:
    # log x - x^2/2 - 0 at x = 1, the quadratic target 2 of z, and a linear rest.
    mixed = state(
        [Entry(0, 0, quadratic=1.0), Entry(0, 1), Entry(1, 1, 1.0)],
        [
            Row("speed[d0]", {0: 1.0}, utility=Utility.LOG),
            Row("want[d1]", {1: 1.0, 2: 1.0}, utility=Utility.QUADRATIC, parameter=2.0),
            Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=4.0),
        ],
    )
    return [
        Case(
            "one of each kind",
            mixed,
            0.5,
            [1.0, 2.0, 0.0],
            {"capacity[r0]": 0.0, "speed[d0]": -1.0, "want[d1]": 0.0},
        ),
    ]
