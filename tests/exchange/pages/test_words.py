"""Numbers and times in words."""

from __future__ import annotations

import math

import pytest

from walras.exchange.pages import words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 ms"),
        (0.9996, "1000 ms"),
        (1.0, "1 s"),
        (59.4, "59 s"),
        (60.0, "1 min"),
        (125.0, "2 min 5 s"),
        (599.7, "10 min"),
        (3599.0, "60 min"),
        (3600.0, "1 h"),
        (7199.0, "2 h"),
        (86400.0, "1 d"),
        (-90.0, "−1 min 30 s"),
        (None, "–"),
        (math.inf, "–"),
        (math.nan, "–"),
    ],
)
def test_seconds(value: float | None, text: str) -> None:
    assert words.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (12, "12"), (1.5, "1.5"), (2048, "2,048"), (1234.5, "1,234"), (math.nan, "–")],
)
def test_number(value: float, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 %"), (0.00014, "0.014 %"), (0.8, "80 %"), (0.994, "99 %"), (0.996, "100 %")],
)
def test_percent(value: float, text: str) -> None:
    assert words.percent(value) == text
