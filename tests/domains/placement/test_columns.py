"""Column generation on instances whose best patterns are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from walras.domains.placement.columns import Columns
from walras.domains.placement.inputs import make_instance
from walras.domains.placement.instance import kinds_of
from walras.kernels.local_search.random_numbers import seeded
from walras.kernels.packing.machines import fitting


def _columns(nodes: pd.DataFrame, tasks: pd.DataFrame) -> Columns:
    instance = make_instance(nodes, tasks)
    kinds = kinds_of(instance.empty())
    count = len(instance.types.value)
    fits = np.stack([fitting(kinds.machines, instance.types, j) for j in range(count)], axis=1)
    size = instance.types.need / instance.capacity.mean(axis=0)
    return Columns(instance.types, instance.count, kinds, fits.astype(np.bool_), size)


def test_value_and_bound_meet_where_patterns_are_whole() -> None:
    nodes = pd.DataFrame({"cpu": [10.0] * 6})
    tasks = pd.DataFrame({"cpu": [7.0] * 4 + [3.0] * 9 + [5.0] * 2})
    columns = _columns(nodes, tasks.assign(value=tasks["cpu"]))
    columns.search(np.zeros(3), np.zeros(1), seeded(0))
    columns.generate(30, seeded(0))
    assert columns.value == pytest.approx(59.0)  # 4 of 7 and 3, 5 and 5, 3 and 3 and 3
    assert columns.bound() == pytest.approx(59.0, abs=1e-6)
    assert columns.number.sum() <= 6 + 1e-9


def test_known_and_empty_patterns_are_no_columns() -> None:
    columns = _columns(pd.DataFrame({"cpu": [4.0]}), pd.DataFrame({"cpu": [2.0, 2.0]}))
    assert not columns.add(0, np.array([0], dtype=np.int32))
    assert columns.add(0, np.array([2], dtype=np.int32))
    assert not columns.add(0, np.array([2], dtype=np.int32))
