"""Secrets that follow from a caller's own and a salt."""

from __future__ import annotations

import pytest

from walras.exchange.api.derive import check_same, derived
from walras.exchange.errors import FieldError


def test_each_part_changes_it_and_equal_parts_give_the_same() -> None:
    made = {
        derived("wlr_a", "1"),
        derived("wlr_b", "1"),
        derived("wlr_a", "2"),
    }
    assert len(made) == 3
    assert derived("wlr_a", "1") in made
    assert all(len(one) == 47 for one in made), "256 bits"
    assert derived("wlr_a", "1", "wll") == derived("wlr_a", "1").replace("wlr_", "wll_", 1)


def test_an_answer_is_sent_again_to_the_same_caller_alone() -> None:
    check_same("k-1", "k-1")
    with pytest.raises(FieldError, match="another token") as caught:
        check_same("k-1", "k-2")
    assert caught.value.where == "Idempotency-Key"
