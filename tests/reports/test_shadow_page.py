"""The page of a comparison in shadow mode."""

from __future__ import annotations

import re

from tests.shadow.test_result import made

import walras as wl
from walras import plot
from walras.reports.shadow_page import page


def test_the_page_has_its_sections_and_fetches_nothing() -> None:
    text = plot.render(page(made()))
    for title in ("The log against the policy", "Day by day", "Clusters", "What this rests on"):
        assert title in text
    assert "<svg" in text
    assert not re.search(r"""(?:src|href)\s*=\s*["']https?://""", text)
    assert "Stopped" not in text


def test_a_comparison_that_was_stopped_says_so() -> None:
    assert "the days so far" in plot.render(page(made(status=wl.Status.INTERRUPTED)))
