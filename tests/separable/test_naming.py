"""Problems of different size are compared by names alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.bank.statement import Entry, Row, state

from walras.errors import InputError
from walras.separable import Separable
from walras.separable.naming import check_comparable


def _of(demands: int, *numbered: str) -> Separable:
    entries = [Entry(0, demand) for demand in range(demands)]
    rows = [Row("capacity[a]", dict.fromkeys(range(demands), 1.0), upper=1.0)]
    return replace(state(entries, rows), numbered=numbered)


@pytest.mark.parametrize(
    ("new", "old"),
    [(_of(2), _of(3)), (_of(2, "demand"), _of(2)), (_of(2, "resource"), _of(3))],
    ids=["names", "same number", "other side"],
)
def test_names_or_equal_numbers_can_be_compared(new: Separable, old: Separable) -> None:
    check_comparable(new, old, "diff")


@pytest.mark.parametrize(("new", "old"), [(_of(2, "demand"), _of(3)), (_of(2), _of(3, "demand"))])
def test_numbers_of_different_sizes_are_refused(new: Separable, old: Separable) -> None:
    with pytest.raises(InputError, match="has 2 demands, the earlier problem 3") as caught:
        check_comparable(new, old, "diff")
    assert caught.value.where == "diff"
    assert "demand_names=[...]" in caught.value.remedy
