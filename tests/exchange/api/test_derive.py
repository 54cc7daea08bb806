"""Secrets that follow from a caller's own and a salt."""

from __future__ import annotations

from walras.exchange.api.derive import derived


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
