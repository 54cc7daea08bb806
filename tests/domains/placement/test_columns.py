"""Column generation on instances whose best patterns are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.domains.placement.instances import best_value, drawn

from walras.domains.placement.columns import Columns
from walras.domains.placement.inputs import make_instance
from walras.domains.placement.instance import kinds_of
from walras.domains.placement.relaxation import demand_bound
from walras.kernels.local_search.random_numbers import seeded
from walras.kernels.packing.machines import fitting


def _columns(nodes: pd.DataFrame, tasks: pd.DataFrame) -> Columns:
    instance = make_instance(nodes, tasks)
    kinds = kinds_of(instance.empty())
    count = len(instance.types.value)
    fits = np.stack([fitting(kinds.machines, instance.types, j) for j in range(count)], axis=1)
    size = instance.types.need / instance.capacity.mean(axis=0)
    fitting_ = fits.astype(np.bool_)
    bound, price, _ = demand_bound(instance.types, instance.count, kinds, fitting_)
    return Columns(instance.types, instance.count, kinds, fitting_, size, price, bound)


def test_value_and_bound_meet_where_patterns_are_whole() -> None:
    nodes = pd.DataFrame({"cpu": [10.0] * 6})
    tasks = pd.DataFrame({"cpu": [7.0] * 4 + [3.0] * 9 + [5.0] * 2})
    columns = _columns(nodes, tasks.assign(value=tasks["cpu"]))
    columns.search(np.zeros(3), np.zeros(1), seeded(0))
    columns.generate(30, seeded(0), lambda: True)
    assert columns.value == pytest.approx(59.0)  # 4 of 7 and 3, 5 and 5, 3 and 3 and 3
    assert columns.bound() == pytest.approx(59.0, abs=1e-6)
    assert columns.number.sum() <= 6 + 1e-9


def test_known_and_empty_patterns_are_no_columns() -> None:
    columns = _columns(pd.DataFrame({"cpu": [4.0]}), pd.DataFrame({"cpu": [2.0, 2.0]}))
    assert not columns.add(0, np.array([0], dtype=np.int32))
    assert columns.add(0, np.array([2], dtype=np.int32))
    assert not columns.add(0, np.array([2], dtype=np.int32))


@pytest.mark.parametrize("seed", range(2))
def test_patterns_and_bound_meet_around_the_optimum(seed: int) -> None:
    nodes, tasks = drawn(seed, 5, 16, labels=False)
    columns = _columns(nodes, tasks)
    proved, state = [columns.best_bound], seeded(seed)
    for _ in range(6):
        columns.generate(20, state, lambda: True)
        proved.append(columns.bound())
    assert proved == sorted(proved, reverse=True)
    assert proved[-1] >= best_value(nodes, tasks) - 1e-6  # of HiGHS, without patterns
    assert proved[-1] - columns.value <= 0.02 * proved[-1]  # in fractions
    assert columns.value <= proved[-1] + 1e-6


def test_the_nodes_of_a_placement_are_patterns() -> None:
    nodes = pd.DataFrame({"cpu": [4.0] * 3})
    columns = _columns(nodes, pd.DataFrame({"cpu": [2.0, 2.0, 2.0, 3.0]}))
    home, kind = np.array([0, 0, -1, 2], dtype=np.int32), np.array([0, 0, 0, 1], dtype=np.int32)
    assert columns.add_placement(np.zeros(3, dtype=np.int64), home, kind) == 2  # one holds nothing
    columns.solve()
    assert columns.value == pytest.approx(4.0)


def test_generation_ends_when_it_is_asked_to() -> None:
    columns = _columns(
        pd.DataFrame({"cpu": [10.0] * 4}), pd.DataFrame({"cpu": [7.0, 3.0, 5.0] * 4})
    )
    asked: list[int] = []

    def refuse() -> bool:
        asked.append(1)
        return False

    columns.generate(30, seeded(0), refuse)
    assert len(asked) == 1
