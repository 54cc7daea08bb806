"""Decisions of time-shared rounds as data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras import InputError
from walras.rounds import Shares


def test_shares_cannot_be_changed_and_hash_without_their_seconds() -> None:
    one, other = (Shares(("a",), ("x",), np.array([[0.5]]), seconds=s) for s in (1.0, 2.0))
    assert one.hash == other.hash
    assert one.hash != Shares(("a",), ("x",), np.array([[0.25]])).hash
    with pytest.raises(ValueError, match="read-only"):
        one.time[0, 0] = 1.0


def test_the_gap_is_relative_to_the_value() -> None:
    assert Shares(("a",), ("x",), np.ones((1, 1)), value=2.0, bound=2.5).gap == 0.25
    assert np.isnan(Shares(("a",), ("x",), np.ones((1, 1))).gap)


@pytest.mark.parametrize(
    "given", [[["all"]], [["0.5"]], [[0.5j]], [[10**400]], [[np.array(0)], []]]
)
def test_texts_and_complex_numbers_are_no_shares(given: Any) -> None:
    with pytest.raises(InputError, match="not numeric"):
        Shares(("a",), ("x",), given)
    with pytest.raises(InputError, match="not numeric"):
        Shares(("a",), ("x",), np.ones((1, 1)), notes={"own": given})
