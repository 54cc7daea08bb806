"""Figures of compared methods: what they draw, and frames they refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from walras import plot
from walras.errors import InputError


def frame() -> pd.DataFrame:
    rng, rows = np.random.default_rng(0), []
    for method in ("tsm-raw", "mfcp-ad"):
        for setting in "AB":
            for tasks in (5, 10, 15):
                for seed in range(3):
                    rows.append(
                        {
                            "method": method,
                            "setting": setting,
                            "tasks_per_round": tasks,
                            "seed": seed,
                            "elastic_regret": rng.random(),
                            "reliability": 0.8,
                            "utilisation": rng.random(),
                        }
                    )
    return pd.DataFrame(rows)


def test_bars_are_means_and_whiskers_one_deviation() -> None:
    given = frame()
    figure = plot.methods_by_setting(given)
    first = figure.axes[0]
    heights = [bar.get_height() for bar in first.patches]  # type: ignore[attr-defined]
    wanted = given.groupby(["method", "setting"], sort=False)["elastic_regret"].mean()
    np.testing.assert_allclose(heights, wanted.to_numpy())
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "elastic regret",
        "mean success",
        "utilisation",
    ]
    with pytest.raises(InputError, match="no column 'setting'"):
        plot.methods_by_setting(given.drop(columns="setting"))


def test_lines_go_through_the_means_of_each_size() -> None:
    given = frame()
    figure = plot.methods_by_size(given)
    for axes, metric in zip(figure.axes, ("elastic_regret", "utilisation"), strict=True):
        means = given.groupby(["method", "tasks_per_round"], sort=False)[metric].mean()
        lines = [np.asarray(line.get_ydata(), dtype=float) for line in axes.lines]
        drawn = [line for line in lines if len(line) == 3]
        for own in means.to_numpy().reshape(2, 3):
            assert any(np.allclose(own, line) for line in drawn)
    with pytest.raises(InputError, match="no column 'train_tasks'"):
        plot.methods_by_size(given, "train_tasks")


def test_a_training_is_drawn_with_its_start_and_what_is_kept() -> None:
    given = pd.DataFrame({"step": [0, 20, 40, 60], "regret": [0.1, 0.07, 0.06, 0.08]})
    axes = plot.training(given).axes[0]
    curve, start, kept = (np.asarray(line.get_ydata(), dtype=float) for line in axes.lines)
    np.testing.assert_allclose(curve, [10.0, 7.0, 6.0, 8.0])
    np.testing.assert_allclose(start, 10.0)
    np.testing.assert_allclose(kept, [6.0])
    with pytest.raises(InputError, match="no column 'regret'"):
        plot.training(given.drop(columns="regret"))
