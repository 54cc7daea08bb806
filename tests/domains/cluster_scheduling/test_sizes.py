"""Jobs that occupy more of one type than of another: 3 of A, or 30 of B."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from tests.domains.cluster_scheduling.small import CAPACITY, FRAME, SIZE, T, spoiled
from tests.domains.cluster_scheduling.test_objectives import ACCURACY, OBJECTIVES, solved
from tests.domains.instances import draw

from walras.domains import cluster_scheduling as cs
from walras.errors import InputError
from walras.solving import solve


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("churn", [0.0, 0.02])
def test_agrees_with_its_definition(name: str, churn: float) -> None:
    data = draw(11)
    size = data.size * np.random.default_rng(0).uniform(0.3, 3.0, data.throughput.shape)
    before = (
        data.previous * np.minimum(1.0, data.capacity / (size * data.previous).sum(axis=1))[:, None]
    )
    state, gain = OBJECTIVES[name]
    n = len(data.weight)
    quota = cs.Quota({"ann": list(range(n // 2)), "bob": [n - 1]}, {"ann": 4.0, "bob": 0.2})
    asked: dict[str, Any] = {"previous": before, "churn": churn} if churn else {}
    value, shares = solved(state(replace(data, size=size), quota=quota, **asked))

    x = cp.Variable(data.throughput.shape, nonneg=True)
    gpus = cp.multiply(size, x)
    moved = cp.sum(cp.multiply(size, cp.abs(x - before)))
    rules = [cp.sum(gpus, axis=1) <= data.capacity, cp.sum(x, axis=0) <= 1]
    rules += [x[data.throughput == 0] == 0, cp.sum(gpus[:, : n // 2]) <= 4.0]
    rules += [cp.sum(gpus[:, n - 1]) <= 0.2]
    y = cp.sum(cp.multiply(data.throughput, x), axis=0)
    wanted = cp.Problem(cp.Maximize(gain(data)(y) - churn * moved), rules).solve(cp.CLARABEL)
    assert value == pytest.approx(wanted, rel=5 * ACCURACY, abs=5 * ACCURACY)
    judged = cs.evaluate(data.throughput, size, data.capacity, shares, quota=quota)
    assert judged.violation < 1e-6
    assert judged.used == pytest.approx((size * shares).sum(axis=1))


def test_three_of_one_type_or_thirty_of_another() -> None:
    size, capacity = [[3.0], [30.0]], [1.5, 15.0]
    s = solve(cs.max_min([[1.0], [1.0]], size, capacity))
    assert s.x == pytest.approx(np.array([[0.5], [0.5]]), abs=1e-6)
    assert s.value == pytest.approx(1.0)
    assert cs.normalise([[1.0], [1.0]], size, capacity)[:, 0] == pytest.approx([16.5 / 1.0] * 2)


def test_one_size_a_job_is_the_same_size_on_every_type() -> None:
    wide = np.tile(SIZE, (2, 1))
    frame = pd.DataFrame(wide, index=["k80", "v100"], columns=["c", "b", "a"])[["c", "b", "a"]]
    frame.loc[:, ["c", "b", "a"]] = wide[:, ::-1]
    for policy in (cs.greedy, cs.equal_share):
        alone = policy(T, SIZE, CAPACITY)
        assert policy(T, wide, CAPACITY).tolist() == alone.tolist()
        assert policy(FRAME, frame, CAPACITY).tolist() == alone.tolist()
    for per in ("gpu", "share"):
        same = cs.normalise(T, SIZE, CAPACITY, per=per)
        assert cs.normalise(T, wide, CAPACITY, per=per) == pytest.approx(same, rel=1e-12)


@pytest.mark.parametrize("policy", [cs.greedy, cs.equal_share])
def test_baselines_stay_within_capacity(policy: Any) -> None:
    rng = np.random.default_rng(1)
    speed, size = rng.uniform(0.5, 2.0, (3, 20)), rng.uniform(0.5, 8.0, (3, 20))
    x = policy(speed, size, [4.0, 2.0, 6.0])
    assert cs.evaluate(speed, size, [4.0, 2.0, 6.0], x).violation <= 1e-12


@pytest.mark.parametrize(
    ("size", "where"),
    [
        (spoiled(np.tile(SIZE, (2, 1)), (1, 2), 0.0), "size[1, 2]"),
        (spoiled(np.tile(SIZE, (2, 1)), (0, 1), np.inf), "size[0, 1]"),
        (spoiled(np.tile(SIZE, (2, 1)), (0, 1), np.nan), "size[0, 1]"),
        (np.ones((3, 3)), "size"),
        (np.ones((1, 2, 3)), "size"),
    ],
)
def test_a_size_that_cannot_be_used_is_named(size: Any, where: str) -> None:
    with pytest.raises(InputError) as caught:
        cs.max_min(T, size, CAPACITY)
    assert caught.value.where == where


def test_labels_of_sizes_must_be_those_of_throughput() -> None:
    frame = pd.DataFrame(np.ones((2, 3)), index=["v100", "p100"], columns=["a", "b", "c"])
    with pytest.raises(InputError, match="size"):
        cs.max_min(FRAME, frame, CAPACITY)
