"""Pairs that share devices, for every objective, against the same problem in cvxpy."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.domains.cluster_scheduling.shared_devices import drawn, stated
from tests.domains.cluster_scheduling.small import CAPACITY, FRAME, SIZE, T
from tests.domains.cluster_scheduling.test_objectives import OBJECTIVES
from tests.domains.instances import Data

from walras.domains import cluster_scheduling as cs
from walras.errors import InputError
from walras.solving import solve
from walras.status import Status


def _stated(data: Data, pairs: cs.Pairs, gain: Any, floor: np.ndarray) -> float:
    y, _, rules = stated(data, pairs)
    problem = cp.Problem(cp.Maximize(gain(data)(y)), [*rules, y >= floor])
    return float(problem.solve(cp.CLARABEL))


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_its_definition(name: str, seed: int) -> None:
    data, pairs = drawn(seed)
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
    data, pairs = drawn(3)
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
