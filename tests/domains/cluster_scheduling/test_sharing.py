"""Pairs that share devices, for every objective, against the same problem in cvxpy."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.domains.cluster_scheduling.small import CAPACITY, FRAME, SIZE, T
from tests.domains.cluster_scheduling.test_objectives import OBJECTIVES
from tests.domains.instances import Data, draw

from walras.domains import cluster_scheduling as cs
from walras.errors import InputError
from walras.solving import solve
from walras.status import Status


def _case(seed: int) -> tuple[Data, cs.Pairs]:
    """Small jobs, of which half of the pairs fit on a device, some on one type alone."""
    data, rng = draw(seed, m=3, n=8), np.random.default_rng(seed)
    data = Data(
        data.throughput, rng.choice([1.0, 2.0], 8), data.capacity / 2.0, data.weight, data.previous
    )
    both = [(j, k) for j in range(8) for k in range(j) if data.size[j] == data.size[k]]
    both = [pair for pair in both if rng.random() < 0.6]
    alone = np.array([[data.throughput[:, j], data.throughput[:, k]] for j, k in both])
    speed = alone * rng.uniform(0.4, 0.95, alone.shape) * (rng.random((len(both), 1, 3)) < 0.7)
    speed *= np.all(speed > 0.0, axis=1, keepdims=True)
    return data, cs.Pairs([j for j, _ in both], [k for _, k in both], speed)


def _stated(data: Data, pairs: cs.Pairs, gain: Any, floor: np.ndarray) -> float:
    speed = np.asarray(pairs.throughput)
    x = cp.Variable(data.throughput.shape, nonneg=True)
    z = cp.Variable((len(pairs.first), 3), nonneg=True)
    time, used = [cp.sum(x[:, j]) for j in range(8)], x @ data.size
    y = [data.throughput[:, j] @ x[:, j] for j in range(8)]
    for p, (j, k) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        used = used + data.size[int(j)] * z[p]
        for job, rate in ((int(j), speed[p, 0]), (int(k), speed[p, 1])):
            time[job] = time[job] + cp.sum(z[p])
            y[job] = y[job] + rate @ z[p]
    rules = [used <= data.capacity, cp.hstack(time) <= 1, x[data.throughput == 0] == 0]
    rules += [z[speed.max(axis=1) == 0] == 0, cp.hstack(y) >= floor]
    return float(cp.Problem(cp.Maximize(gain(data)(cp.hstack(y))), rules).solve(cp.CLARABEL))


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_its_definition(name: str, seed: int) -> None:
    data, pairs = _case(seed)
    state, gain = OBJECTIVES[name]
    floor = 0.3 * (data.throughput * cs.equal_share(data.throughput, data.size, data.capacity))
    promised = np.where(np.arange(8) < 4, floor.sum(axis=0), 0.0)
    found = solve(state(data, pairs=pairs, floor=promised))
    wanted = _stated(data, pairs, gain, promised)
    assert found.value == pytest.approx(wanted, rel=5e-6, abs=5e-6)
    assert found.status == Status.OPTIMAL
    assert found.certificate.bound_source in ("prices", "HiGHS", "Clarabel")
    alone = solve(state(data, floor=promised))
    assert found.value >= alone.value - 1e-6 * abs(alone.value)
    if name == "max_min":
        assert found.value > alone.value * (1.0 + 1e-3)


@pytest.mark.parametrize("name", ["max_min", "throughput"])
def test_a_price_is_what_one_more_device_brings(name: str) -> None:
    data, pairs = _case(3)
    state, _ = OBJECTIVES[name]
    found, step = solve(state(data, pairs=pairs), tolerance=1e-9), 1e-4
    for i, price in enumerate(found.prices["capacity"]):
        capacity = data.capacity.copy()
        capacity[i] += step
        more = Data(data.throughput, data.size, capacity, data.weight, data.previous)
        gained = solve(state(more, pairs=pairs), tolerance=1e-9).value - found.value
        assert gained / step <= abs(price) + 1e-4


def test_shares_of_pairs_are_listed_and_named() -> None:
    frame = FRAME[["a", "b"]]
    pairs = cs.Pairs(["a"], ["b"], [[[0.9, 3.0], [1.9, 4.5]]])
    s = solve(cs.total_throughput(frame, [1, 1], [1.0, 1.0], pairs=pairs))
    listed = cs.shares(s.problem, s.entries)
    assert list(listed["entry"]) == ["x[k80, a + b]"]
    assert listed["share"].tolist() == pytest.approx([1.0], abs=1e-6)
    assert s.value == pytest.approx(7.5)


def test_faster_together_than_alone() -> None:
    pairs = cs.Pairs([0], [1], [[[2.0], [2.0]]])
    s = solve(cs.max_min([[1.0, 1.0]], [1, 1], [1], pairs=pairs))
    assert s.value == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("pairs", "more", "where"),
    [
        (cs.Pairs([0], [0], np.ones((1, 2, 2))), {}, "pairs[0]"),
        (cs.Pairs([0], [1], np.ones((1, 2, 2))), {}, "pairs[0]"),
        (cs.Pairs([0], [7], np.ones((1, 2, 2))), {}, "pairs.second[0]"),
        (cs.Pairs(["z"], [0], np.ones((1, 2, 2))), {}, "pairs.first[0]"),
        (cs.Pairs([0, 1], [1], np.ones((2, 2, 2))), {}, "pairs.second"),
        (cs.Pairs([0], [1], np.ones((1, 2, 3))), {}, "pairs.throughput"),
        (cs.Pairs([0], [1], -np.ones((1, 2, 2))), {}, "pairs.throughput[0, 0, 0]"),
        (cs.Pairs([0], [1], np.full((1, 2, 2), np.nan)), {}, "pairs.throughput[0, 0, 0]"),
        ({"a": "b"}, {}, "pairs"),
        (cs.Pairs([0], [1], np.ones((1, 2, 2))), {"churn": 1.0, "previous": 0.0 * T}, "pairs"),
        (
            cs.Pairs([0], [1], np.ones((1, 2, 2))),
            {"quota": cs.Quota({"a": [0]}, {"a": 1.0})},
            "pairs",
        ),
    ],
)
def test_bad_input_is_named(pairs: Any, more: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as caught:
        cs.max_min(T, SIZE, CAPACITY, pairs=pairs, **more)
    assert caught.value.where == where
