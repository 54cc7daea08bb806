"""Few wait for one process; the next one is refused at once."""

from __future__ import annotations

import pytest

from walras.exchange.errors import BusyError
from walras.exchange.runtime.turns import Turns


def test_who_finds_no_place_is_refused_and_a_place_is_given_back_after_an_error() -> None:
    turns = Turns("network n-1", 2)
    with turns.one():
        with pytest.raises(ValueError, match="x"), turns.one():
            raise ValueError("x")
        with (
            turns.one(),
            pytest.raises(BusyError, match="network n-1: has 2 callers that wait for it"),
            turns.one(),
        ):
            pass
    with turns.one(), turns.one():
        pass
