"""Ratios, intervals and paired tests against closed forms and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from walras.errors import InputError
from walras.learn import holm, paired, summary
from walras.learn.analysis import on_one_cluster


def frame(seeds: int = 12) -> pd.DataFrame:
    """``good`` is 0.9 times the better baseline, which differs between the cells."""
    rng, rows = np.random.default_rng(0), []
    for setting, better in (("A", "tsm-raw"), ("B", "tsm-log")):
        for seed in range(seeds):
            base = 0.1 + 0.01 * rng.random()
            values = {
                "tsm-raw": base * (1.0 if better == "tsm-raw" else 1.5),
                "tsm-log": base * (1.0 if better == "tsm-log" else 1.5),
            }
            values |= {"good": 0.9 * base, "same": base, "noisy": base * (1 + rng.normal(0, 0.3))}
            rows += [
                {
                    "method": name,
                    "setting": setting,
                    "train_tasks": 40,
                    "tasks_per_round": 5,
                    "seed": seed,
                    "elastic_regret": value,
                    "seconds": 1.0,
                }
                for name, value in values.items()
            ]
    return pd.DataFrame(rows)


def test_ratio_to_the_baseline_that_is_better_in_each_cell() -> None:
    found = summary(frame()).set_index("method")
    good: Any = found.loc["good"]
    for name in ("ratio", "low", "high", "median_cell", "least_cell", "largest_cell"):
        assert good[name] == pytest.approx(0.9)
    assert (good["better"], good["worse"], good["cells"], good["seeds"]) == (2, 0, 2, 12)
    assert found.loc["same", "ratio"] == pytest.approx(1.0)
    assert (found.loc["same", "better"], found.loc["same", "worse"]) == (0, 0)
    assert found.loc["tsm-raw", "ratio"] == pytest.approx(1.25, abs=0.02)
    assert found.loc["tsm-raw", "worse"] == 1
    noisy: Any = found.loc["noisy"]
    assert noisy["low"] < noisy["ratio"] < noisy["high"]


def test_the_paired_test_is_that_of_scipy() -> None:
    found = paired(frame(), "noisy", "elastic_regret")
    for own, base, p in zip(found.own, found.base, found.tests(), strict=True):
        assert p == pytest.approx(stats.ttest_rel(own, base).pvalue)


def test_two_seeds_are_no_evidence() -> None:
    assert summary(frame(2)).set_index("method").loc["good", "better"] == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_its_definition(values: list[float]) -> None:
    p = np.array(values)
    order = np.argsort(p)
    wanted, highest = np.empty(len(p)), 0.0
    for rank, k in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - rank) * p[k]))
        wanted[k] = highest
    np.testing.assert_allclose(holm(p), wanted)
    assert np.all(holm(p) >= p)


def test_a_missing_method_or_seed_is_named() -> None:
    with pytest.raises(InputError, match="has no method 'mfcp-ad'"):
        paired(frame(), "mfcp-ad", "elastic_regret")
    part = frame(1)
    part.loc[part["method"] == "good", "seed"] = 5
    with pytest.raises(InputError, match="has no seed"):
        paired(part, "good", "elastic_regret")


def test_methods_that_put_every_round_on_one_cluster_are_reported() -> None:
    rows = [
        {"method": name, "setting": setting, "tasks_per_round": n, "utilisation": used}
        for setting, m in (("A", 3), ("x+y", 2))
        for name, n, used in (
            ("tam", 5, round(1 / m, 6)),
            ("tsm", 5, 0.7),
            ("some", 5, 1 / m + 1e-4),
            ("single", 1, 1 / m),
            ("single", 5, 0.6),
        )
    ]
    assert on_one_cluster(pd.DataFrame(rows)) == ("tam",)
