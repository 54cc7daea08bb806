"""The verdicts on DeDe's measured claims turn with the numbers that they judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import pytest
from benchmarks.experiments.methods import EXACT, METHODS
from benchmarks.experiments.study import Setting
from benchmarks.papers.dede import balancing, margins, micro, robustness, scheduling, traffic
from benchmarks.papers.item import Outcome

Values = Mapping[str, Sequence[float]]
POINTS = (0.0, 0.2, 0.5, 0.8)


def _frame(values: Values, default: Sequence[float] = (1.0, 1.0, 1.0, 1.0)) -> pd.DataFrame:
    """What a study returns when methods serve these shares at the points."""
    rows = [
        {"x": x, "method": name, "normalised": value, "served": 0.9 * value}
        for name in METHODS
        for x, value in zip(POINTS, values.get(name, default), strict=True)
    ]
    return pd.DataFrame(rows)


def _verdict(
    monkeypatch: pytest.MonkeyPatch, check: Callable[[bool], Outcome], frame: pd.DataFrame
) -> str:
    monkeypatch.setattr(robustness, "_measured", lambda study, quick: frame)
    monkeypatch.setattr(robustness, "_without_links", lambda quick: frame)
    monkeypatch.setattr(robustness, "_pairs", lambda quick: 1560)
    monkeypatch.setattr(robustness, "_same_fraction", lambda quick: "")
    return check(True).verdict


RISING, FALLING, FLAT = (0.90, 0.92, 0.95, 0.98), (0.98, 0.95, 0.92, 0.90), (1.0,) * 4


@pytest.mark.parametrize(
    ("check", "values", "default", "verdict"),
    [
        (robustness.granularity, {}, RISING, "reproduced"),  # less central is to the left
        (robustness.granularity, {"Pinning": FALLING}, RISING, "refuted"),
        (robustness.granularity, {}, FLAT, "refuted"),
        (robustness.granularity_of_pop, {"POP-64": FALLING}, FLAT, "reproduced"),
        (robustness.granularity_of_pop, {robustness.SCHEME: FALLING}, FLAT, "refuted"),
        (robustness.granularity_of_teal, {"Learned policy": FALLING}, FLAT, "reproduced"),
        (robustness.granularity_of_teal, {"Learned policy": RISING}, FLAT, "refuted"),
        (robustness.temporal, {"Learned policy": FALLING}, FLAT, "reproduced"),
        (robustness.temporal, {"Pinning": FALLING}, FLAT, "refuted"),
        (robustness.temporal_sizes, {}, FLAT, "refuted"),
        (robustness.spatial, {robustness.SCHEME: FLAT}, RISING, "reproduced"),
        (robustness.spatial, {robustness.SCHEME: (1.0, 0.9, 1.0, 1.0)}, RISING, "refuted"),
        (
            robustness.spatial_changes,
            {"Pinning": RISING, "Learned policy": RISING},
            FALLING,
            "reproduced",
        ),
        (robustness.spatial_changes, {"Pinning": RISING}, FALLING, "refuted"),
        (robustness.failures, {}, FALLING, "reproduced"),
        (robustness.failures, {"Pinning": (0.9, 0.8, 0.85, 0.7)}, FALLING, "refuted"),
        (robustness.failures_sizes, {}, (1.0, 0.99, 0.98, 0.96), "reproduced"),
        (robustness.failures_sizes, {}, (1.0, 0.9, 0.8, 0.7), "refuted"),
    ],
)
def test_a_verdict_tests_direction_and_size(
    monkeypatch: pytest.MonkeyPatch,
    check: Callable[[bool], Outcome],
    values: Values,
    default: Sequence[float],
    verdict: str,
) -> None:
    frame = _frame({EXACT: FLAT, **values}, default)
    assert _verdict(monkeypatch, check, frame) == verdict


def test_figure_6_is_judged_by_quality_and_by_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    methods = ("Walras", "DeDe's scheme", "POP-4", "POP-16", "POP-64", "Pinning", "Learned policy")
    frame = pd.DataFrame(
        {
            "normalised": [1.0, 0.92, 0.92, 0.874, 0.816, 0.873, 0.89],
            "gap": 0.0,
            "seconds": [1.0, 60.0, 1658.0, 456.0, 380.0, 149.0, 1.0],
            "ideal_seconds": [np.nan, 1.0, 1658.0, 456.0, 380.0, np.nan, np.nan],
        },
        index=pd.Index(methods, name="method"),
    )
    steps = pd.DataFrame(
        {
            "iteration": [20, 60, 120],
            "seconds": [10.0, 30.0, 60.0],
            "ideal": [1.0, 3.0, 6.0],
            "value": [0.8, 0.908, 0.92],
        }
    )
    items = {item.name: item for item in traffic.ITEMS if item.name.startswith("figure 6")}
    del items["figure 6, all pairs"]

    def verdicts() -> set[str]:
        monkeypatch.setattr(traffic, "_interval", lambda quick: (Setting("B4"), frame, steps))
        return {item.check(True).verdict for item in items.values()}

    assert verdicts() == {"reproduced"}  # the published figures
    frame.loc["DeDe's scheme", ["normalised", "seconds"]] = 0.9, 2000.0
    frame["normalised"] = frame["normalised"].replace({0.816: 0.875, 0.89: 0.87})
    frame.loc["POP-64", "ideal_seconds"] = 500.0
    steps["value"], steps["ideal"] = [0.1, 0.5, 0.92], steps["seconds"]
    assert verdicts() == {"refuted"}


def test_whole_problems_are_divided_among_cores() -> None:
    assert micro._longest(np.array([3, 3, 2, 2, 2]), 2) == 7.0  # 3 + 2 + 2 beside 3 + 2
    assert micro._longest(np.ones(65), 64) == 2.0


@pytest.mark.parametrize(
    ("scheme", "seconds", "verdict", "words"),
    [
        (16.0, 1.0, "reproduced", "20 % fewer"),
        (16.0, 3.0, "refuted", "20 % fewer"),
        (26.0, 1.0, "refuted", "30 % more"),
    ],
)
def test_the_margin_of_load_balancing_is_over_the_best_pop(
    monkeypatch: pytest.MonkeyPatch, scheme: float, seconds: float, verdict: str, words: str
) -> None:
    rows = {
        "Walras": (13.0, 0.1),
        "DeDe's scheme": (scheme, seconds),
        "POP-4": (2150.0, 60.0),
        "POP-16": (20.0, 2.2),
        "POP-64": (np.nan, 1.0),
    }
    mean = pd.DataFrame.from_dict(rows, orient="index", columns=["moves", "CPU s"])
    monkeypatch.setattr(balancing, "shared", lambda quick: mean.rename_axis("method"))
    found = margins.balancing(True)
    assert found.verdict == verdict
    assert f"has {words} moves than POP-16, the best POP" in found.ours
    assert f"{words} moves than POP-16" in balancing.simulated(True).ours


@pytest.mark.parametrize(
    ("quality", "seconds", "verdict"),
    [(0.99, 10.0, "reproduced"), (0.9, 10.0, "refuted"), (0.99, 20.0, "refuted")],
)
def test_dede_is_sooner_only_at_a_comparable_quality(
    monkeypatch: pytest.MonkeyPatch, quality: float, seconds: float, verdict: str
) -> None:
    frame = pd.DataFrame(
        {"quality": [0.8, quality, 0.99], "core s": [30.0, seconds, 16.0]},
        index=["DeDe's scheme", "DeDe's scheme, warm", "POP-4"],
    )
    monkeypatch.setattr(scheduling, "_sequence", lambda objective, quick: frame)
    assert scheduling.max_min_seconds(True).verdict == verdict
