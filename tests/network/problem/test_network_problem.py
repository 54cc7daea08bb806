"""Problems: costs, boxes, losses, and the optimum against closed forms and Clarabel."""

from __future__ import annotations

import math

import numpy as np
import pytest

from walras import network as wn
from walras.errors import InfeasibleError, InputError

Stated = wn.NetworkProblem


QUAD = [wn.QuadraticCPU(1.0, 1.0)] * 3


@pytest.mark.parametrize(
    ("make", "error", "reason"),
    [
        (lambda: Stated([], 1.0), InputError, "cpu"),
        (
            lambda: Stated([1.0], 1.0),  # type: ignore[list-item]
            InputError,
            r"cpu\[0\]: is a float",
        ),
        (lambda: Stated(QUAD, -1.0), InputError, "budget"),
        (lambda: Stated(QUAD, "40"), InputError, "budget: is '40'"),  # type: ignore[arg-type]
        (
            lambda: Stated(QUAD, 9.0, (0.0, 2.0)),
            InfeasibleError,
            r"budget: is 9.*0 to 6",
        ),
        (lambda: Stated(QUAD, 1.0, (0.5, 2.0)), InfeasibleError, r"by \+0\.5"),
        (lambda: Stated(QUAD, 1.0, (2.0, 1.0)), InputError, "centre 0: is 2..1"),
        (lambda: Stated(QUAD, 1.0, ([0.0, 0.0], 1.0)), InputError, "boxes, low"),
        (
            lambda: Stated(QUAD, 1.0, loss=wn.Logistic()),
            InputError,
            "shards: is missing",
        ),
        (
            lambda: Stated(QUAD, 1.0, loss=wn.Logistic(), shards=[([[1.0]], [1])]),
            InputError,
            "shards: are 1",
        ),
        (
            lambda: Stated(QUAD, 1.0, loss=wn.Logistic(), shards=[([[1.0]], [2])] * 3),
            InputError,
            r"shards\[0\], target 0: is 2",
        ),
        (
            lambda: Stated(QUAD, 1.0, loss=wn.Logistic(), shards=[([[math.nan]], [1])] * 3),
            InputError,
            r"shards\[0\], sample 0: is NaN",
        ),
        (
            lambda: Stated([lambda x: -x * x] * 3, 1.0, (0.0, 1.0)),
            InputError,
            "not convex",
        ),
        (lambda: Stated([lambda x: x * x] * 3, 1.0), InputError, "no finite box"),
        (lambda: wn.QuadraticCPU(1.0, 0.0), InputError, r"QuadraticCPU\.scale"),
        (lambda: wn.ThroughputCPU(1.0, math.inf), InputError, r"ThroughputCPU\.rate"),
        (lambda: wn.ThroughputCPU.measured(1.0, [1.0, 1.0], [2.0, 2.0]), InputError, "different"),
        (lambda: wn.Softmax(1), InputError, "classes"),
        (lambda: wn.Logistic(-1.0), InputError, "regularisation"),
        (lambda: wn.split(np.zeros((3, 1)), np.zeros(3), 5), InputError, "centres"),
    ],
)
def test_problems_that_cannot_be_stated_are_refused(
    make: object, error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        make()  # type: ignore[operator]
