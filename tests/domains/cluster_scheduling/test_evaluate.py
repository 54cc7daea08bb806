"""The evaluation, by hand and against every kind of violation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from walras.domains import cluster_scheduling as cs


def test_evaluation_by_hand() -> None:
    T = np.array([[2.0, 0.0], [1.0, 4.0]])
    judged = cs.evaluate(T, [1, 2], [1, 2], [[0.5, 0], [0.5, 0.5]], weight=[1, 3])
    assert judged.throughput.tolist() == [1.5, 2.0]
    assert judged.used.tolist() == [0.5, 1.5]
    assert judged.utilisation == pytest.approx(2 / 3)
    assert judged.least == pytest.approx(2 / 3)
    assert judged.median == judged.mean == 1.75
    assert judged.log_fairness == pytest.approx((np.log(1.5) + 3 * np.log(2)) / 4)
    assert judged.violation == 0


@pytest.mark.parametrize(
    ("x", "violation"),
    [
        ([[1.5, 0], [0, 0]], 0.5),  # more than all the time
        ([[0, 0], [0, 2.0]], 1.0),  # time and 4 of 2 GPUs
        ([[0, 0.25], [0, 0]], 0.25),  # a type on which the job cannot run
        ([[-0.1, 0], [0, 0]], 0.1),
        ([[0, 0], [0, 0.75]], 0.5),  # 1.5 GPUs of a quota of 1
    ],
)
def test_evaluation_sees_every_violation(x: list[list[float]], violation: float) -> None:
    T = np.array([[2.0, 0.0], [1.0, 4.0]])
    quota = cs.Quota({"ann": [1]}, {"ann": 1.0}) if violation == 0.5 and x[1][1] else None
    judged = cs.evaluate(T, [1, 2], [9, 2], x, quota=quota)
    assert judged.violation == pytest.approx(violation)


def test_evaluation_matches_labels() -> None:
    T = pd.DataFrame([[2.0, 1.0], [1.0, 4.0]], index=["p", "q"], columns=["a", "b"])
    x = pd.DataFrame([[0.5, 0.25], [0.1, 0.2]], index=["q", "p"], columns=["b", "a"])
    judged = cs.evaluate(T, [1, 1], [1, 1], x)
    assert judged.throughput == pytest.approx([2 * 0.2 + 0.25, 0.1 + 4 * 0.5])
