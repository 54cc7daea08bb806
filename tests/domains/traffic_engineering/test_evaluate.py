"""What a flow does to a network, against sums worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.domains.traffic_engineering.networks import diamond, matrix

from walras.domains import traffic_engineering as te
from walras.errors import InputError

_CASE = diamond((3.0, 3.0, 2.0, 1.0))


def _flow(one: float, two: float) -> np.ndarray:
    """Flows from 0 to 3 by 1 and by 2."""
    by = {(0, 1, 3): one, (0, 2, 3): two}
    ways = (tuple(_CASE.paths.nodes_of(p)) for p in range(_CASE.paths.count))
    return np.array([by.get(way, 0.0) for way in ways])


def test_loads_and_shares_add_up() -> None:
    found = te.evaluate(_CASE.demand, _CASE.paths, _flow(2.0, 1.0))
    assert found.load.tolist() == [2.0, 2.0, 1.0, 1.0]
    assert found.utilisation.tolist() == pytest.approx([2 / 3, 2 / 3, 0.5, 1.0])
    assert (found.max_utilisation, found.violation) == (1.0, 0.0)
    assert (found.total, found.satisfied, found.least_share) == (3.0, 0.75, 0.75)


@pytest.mark.parametrize(
    ("one", "two", "violation"),
    [(2.0, 1.5, 0.5), (3.0, 1.0, 0.0), (4.5, 0.0, 0.5), (-1.5, 0.0, 0.5), (3.0, 2.0, 1.0)],
)
def test_the_violation_is_the_largest_relative_one(
    one: float, two: float, violation: float
) -> None:
    found = te.evaluate(_CASE.demand, _CASE.paths, _flow(one, two))
    assert found.violation == pytest.approx(violation)


def test_more_than_was_asked_does_not_count() -> None:
    found = te.evaluate(matrix(4, {(0, 3): 2.0}), _CASE.paths, _flow(3.0, 0.0))
    assert (found.total, found.satisfied) == (2.0, 1.0)
    nothing = te.evaluate(np.zeros((4, 4)), _CASE.paths, _flow(0.0, 0.0))
    assert (nothing.satisfied, nothing.least_share) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("flow", "words"), [(np.zeros(1), "flow: has shape"), (_flow(np.nan, 0.0), "is NaN")]
)
def test_a_flow_that_does_not_fit_is_named(flow: np.ndarray, words: str) -> None:
    with pytest.raises(InputError, match=words):
        te.evaluate(_CASE.demand, _CASE.paths, flow)
    with pytest.raises(InputError, match="paths"):
        te.evaluate(_CASE.demand, _CASE.net, _flow(0.0, 0.0))  # type: ignore[arg-type]
