"""Which instances keep their arrays, and what is refused at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from walras.domains import cluster_scheduling as cs
from walras.errors import InputError
from walras.separable.stated_later import stated_later

SPEED = np.random.default_rng(0).uniform(0.5, 2.0, (2, 20_000))
ONES, CAPACITY = np.ones(20_000), [4000.0, 6000.0]


def test_sizes_and_weights_are_read() -> None:
    sizes = np.random.default_rng(1).uniform(1.0, 2.0, SPEED.shape)
    found = stated_later(cs.proportional_fairness(SPEED, sizes, CAPACITY, 2 * ONES))
    assert found is not None
    np.testing.assert_array_equal(found.size, sizes)
    np.testing.assert_array_equal(found.weight, 2.0)
    alike = stated_later(cs.max_min(SPEED, ONES, CAPACITY))
    assert alike is not None
    assert alike.size.shape == (1, 20_000)


@pytest.mark.parametrize(
    ("speed", "more"),
    [
        (SPEED[:, :19_999], {}),
        (np.where(SPEED.min() < SPEED, SPEED, 0.0), {}),
        (pd.DataFrame(SPEED), {}),
        (SPEED, {"floor": np.full(20_000, 1e-3)}),
        (SPEED, {"allowed": np.ones(SPEED.shape, bool)}),
        (SPEED, {"weight": pd.Series(ONES)}),
        (SPEED, {"resource_names": ["a", "b"]}),
    ],
)
def test_other_instances_are_stated_at_once(speed: Any, more: dict[str, Any]) -> None:
    problem = cs.max_min(speed, np.ones(speed.shape[1]), CAPACITY, **more)
    assert stated_later(problem) is None


def test_wrong_numbers_are_refused_as_ever() -> None:
    with pytest.raises(InputError, match="capacity"):
        cs.max_min(SPEED, ONES, [1.0, -1.0])
    with pytest.raises(InputError, match="size"):
        cs.max_min(SPEED, ONES[:5], CAPACITY)
    bad = SPEED.copy()
    bad[1, 7] = np.nan
    with pytest.raises(InputError, match=r"throughput\[1, 7\]"):
        cs.total_throughput(bad, ONES, CAPACITY)
    with pytest.raises(InputError, match="argument"):
        cs.total_throughput(SPEED, ONES, CAPACITY, unknown=None)  # type: ignore[call-arg]
