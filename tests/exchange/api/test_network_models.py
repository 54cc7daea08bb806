"""What callers may send about networks; every field with bad values is in test_models."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from walras.exchange.api.network_models import LinksIn, NetworkIn, PaceIn


def test_everything_may_be_left_out() -> None:
    made = NetworkIn()
    assert (made.centres, made.graph, made.learns, made.budget) == (20, "small_world", True, None)
    assert PaceIn().speed == 20.0


@pytest.mark.parametrize("links", [[], [[0]], [[0, 40]], [[0, -1]], [[0, 1, 2]], [["a", 1]]])
def test_links_have_two_ends(links: list[list[int]]) -> None:
    with pytest.raises(ValidationError):
        LinksIn(links=links)
