"""The checked data of an objective: what goes together, and how far a job can rise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.domains.cluster_scheduling.shared_devices import drawn
from tests.domains.cluster_scheduling.small import CAPACITY, SIZE, T

from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling.case import Case, refuse_churn
from walras.errors import InputError


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_a_job_is_alone_or_in_a_pair(seed: int) -> None:
    data, pairs = drawn(seed)
    speed = 3.0 * np.asarray(pairs.throughput)
    faster = cs.Pairs(pairs.first, pairs.second, speed)
    case = Case.of(data.throughput, data.size, data.capacity, None, None, pairs=faster)
    wanted = data.throughput.max(axis=0)
    for p, both in enumerate(zip(pairs.first, pairs.second, strict=True)):
        for side, job in enumerate(both):
            wanted[int(job)] = max(wanted[int(job)], speed[p, side].max())
    assert case.best() == pytest.approx(wanted)
    assert case.raise_the_least("any").scalar_upper[0] == pytest.approx(2.0 * wanted.min())


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"churn": 1.0}, "churn"),
        ({"flor": [1.0]}, "cluster_scheduling"),
        ({"pairs": cs.Pairs([0], [1], np.ones((1, 2, 2))), "whole": True}, "pairs"),
        ({"floor": [-1.0, 0.0, 0.0]}, "floor[0] (0)"),
    ],
)
def test_what_does_not_go_together_is_named(more: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as caught:
        Case.of(T, SIZE, CAPACITY, None, None, **more)
    assert caught.value.where == where


def test_a_ratio_has_no_price_of_moves() -> None:
    with pytest.raises(InputError) as caught:
        refuse_churn({"churn": 0.5})
    assert caught.value.where == "churn"
