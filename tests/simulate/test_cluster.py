"""Clusters of the simulator: types, workers, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from walras import InputError
from walras.simulate import Cluster


def test_types_and_workers_keep_their_order() -> None:
    cluster = Cluster({"b": 2, "a": 3})
    assert cluster.types == ("b", "a")
    assert cluster.workers.tolist() == [2, 3]
    assert repr(cluster) == "Cluster(2 b, 3 a)"


@pytest.mark.parametrize("given", [{}, [("a", 1)], {"a": 0}, {"a": 1.5}, {1: 1}, {"a": None}])
def test_other_things_are_refused(given: Any) -> None:
    with pytest.raises(InputError):
        Cluster(given)
