"""The comparison: one tidy table, the same after an interruption and in other processes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from walras.errors import DataError, EngineError, InputError
from walras.learn import LearnSettings, compare, comparison, summary, train
from walras.learn.comparison import COLUMNS, METRICS, finished
from walras.predict import Tasks, read_log
from walras.progress import Progress

OPTIONS: dict[str, Any] = {
    "settings": ["A"],
    "train_tasks": [20],
    "tasks_per_round": [4],
    "test_rounds": 30,
    "recipe_options": {"validation_tasks": 60, "test_tasks": 80, "synthetic": True},
    "steps": 4,
    "check_every": 2,
    "rounds": 30,
}
METHODS = ["tam", "tsm-raw", "tsm-log", "mfcp-ad"]


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), other.drop(columns="seconds"))


@pytest.fixture(scope="module")
def whole() -> pd.DataFrame:
    return compare(METHODS, seeds=2, workers=1, **OPTIONS)


def test_one_row_a_method_setting_size_and_seed(whole: pd.DataFrame) -> None:
    assert tuple(whole.columns) == COLUMNS
    assert whole.attrs["complete"]
    assert len(whole) == 8
    assert list(whole["method"][:4]) == METHODS
    assert set(whole["setting"]) == {"A"}
    assert whole["source"].str.startswith("synthetic").all()
    numbers = whole[[*METRICS, "seconds"]].to_numpy(dtype=float)
    assert np.isfinite(numbers).all()
    assert (whole[["elastic_regret", "shortfall", "seconds"]].to_numpy() >= -1e-9).all()
    assert whole["violations"].between(0, 1).all()
    assert (np.sign(whole["paper_regret"]) == np.sign(whole["hard_regret"])).all()
    price = whole["hard_regret"] + 10.0 * whole["shortfall"]
    np.testing.assert_allclose(whole["penalised_regret"], price)
    means = whole.groupby("method")["elastic_regret"].mean()
    assert means["tsm-log"] < means["tam"]


def test_an_interrupted_comparison_goes_on_to_the_same_table(
    whole: pd.DataFrame, tmp_path: Path
) -> None:
    def stop(step: Progress) -> None:
        assert step.total == 2
        raise KeyboardInterrupt

    part = compare(METHODS, seeds=2, workers=1, folder=tmp_path, on_progress=stop, **OPTIONS)
    assert not part.attrs["complete"]
    same(part, whole.iloc[:4])
    seen: list[int] = []
    rest = compare(
        METHODS,
        seeds=2,
        workers=1,
        folder=tmp_path,
        on_progress=lambda step: seen.append(step.iteration),
        **OPTIONS,
    )
    assert seen == [2]
    same(rest, whole)
    with pytest.raises(InputError, match="holds a comparison of other methods"):
        compare(["tam"], seeds=1, workers=1, folder=tmp_path, **OPTIONS)


def test_processes_find_the_same(whole: pd.DataFrame) -> None:
    same(compare(METHODS, seeds=2, workers=2, **OPTIONS), whole)


def test_a_method_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(train._LOSSES, "mfcp-ad", lambda s: lambda t, a, truth: np.nan * t)
    found = compare(["tsm-raw", "mfcp-ad"], seeds=1, workers=1, **OPTIONS)
    assert list(found["error"].str.contains("the loss is nan")) == [False, True]
    assert np.isnan(found["elastic_regret"][1])
    assert len(finished(found)) == 1
    with pytest.raises(EngineError, match=r"nothing to compare: .*the loss is nan"):
        finished(found.iloc[1:])


def test_methods_of_ones_own_names_and_objectives() -> None:
    found = compare(
        {
            "plain": LearnSettings(method="tsm", objective="sum"),
            "spo": LearnSettings(method="spo+", objective="sum"),
        },
        seeds=1,
        workers=1,
        **OPTIONS,
    )
    assert list(found["method"]) == ["plain", "spo"]
    assert (found["error"] == "").all()
    assert (found["elastic_regret"] >= -1e-12).all()


def test_auto_is_a_method() -> None:
    chosen = LearnSettings(method="auto", model="linear", margin="tuned")
    found = compare({"auto": chosen}, seeds=1, workers=1, **OPTIONS)
    assert found["error"][0] == ""
    assert np.isfinite(found["elastic_regret"][0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings": ["Z"]}, "there is no setting 'Z'"),
        ({"settings": [["pixel3", "pixel9"]]}, "there is no device 'pixel9'"),
        ({"data": "imagenet"}, "there is no recipe 'imagenet'"),
        ({"train_tasks": []}, "asks for nothing"),
        ({"train_tasks": 40}, r"train_tasks: is 40.*train_tasks=\[40\]"),
        ({"recipe_options": {"color": 3}}, "recipe_options: has the unknown key 'color'"),
        ({"train_tasks": [20, 99_999]}, "asks for 99999 tasks to train on.*in all"),
        ({"stepz": 3}, "unknown key 'stepz'.*did you mean 'step"),
        ({"workers": -3}, "workers: is -3"),
        ({"seeds": [-1]}, "seeds: is -1"),
        ({"test_rounds": 0}, "test_rounds: is 0"),
        (
            {"tasks_per_round": [4, 21]},
            "20 tasks of the recipe's train set were measured.*a round takes 21",
        ),
    ],
    ids=str,
)
def test_bad_input(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        compare(["tam"], **(OPTIONS | {"seeds": 1, "workers": 1} | change))


def test_a_script_without_its_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import walras as wl\nwl.learn.compare(['tam'], seeds=2, workers=2, **{OPTIONS!r})\n"
    )
    found = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    last = found.stderr[found.stderr.rindex("walras.errors.EngineError") :]
    assert "__main__" in last
    assert "workers=1" in last


def test_bad_methods_and_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'tam' appears twice"):
        compare(["tam", "tam"], seeds=1, workers=1, **OPTIONS)
    with pytest.raises(InputError, match="method: is 'tom'"):
        compare(["tom"], seeds=1, workers=1, **OPTIONS)
    (tmp_path / "methods.json").write_text("{")
    with pytest.raises(DataError, match="cannot be used"):
        compare(["tam"], seeds=1, workers=1, folder=tmp_path, **OPTIONS)
    assert json.loads((tmp_path / "methods.json").read_text() + "}") == {}


def own_log(count: int = 60) -> Tasks:
    """A log of three clusters whose times grow with a task's size, each in its own way."""
    rng = np.random.default_rng(9)
    size = rng.uniform(1.0, 5.0, count)
    times = np.array([2.0 * size, 8.0 - size, 1.0 + 0.8 * size]) * rng.uniform(
        0.95, 1.05, (3, count)
    )
    runs = pd.DataFrame(
        [
            (f"t{j}", f"c{i}", times[i, j], "failed" if (i + j + k) % 7 == 0 else "completed")
            for i in range(3)
            for j in range(count)
            for k in range(4)
        ],
        columns=["task", "cluster", "seconds", "outcome"],
    )
    features = pd.DataFrame({"size": size}, index=[f"t{j}" for j in range(count)])
    return read_log(runs).tasks(features)


def test_a_log_of_ones_own_is_compared_with_the_same_table(tmp_path: Path) -> None:
    quick: dict[str, Any] = {"test_rounds": 20, "rounds": 20, "tasks_per_round": [4]}
    tasks = own_log()
    found = compare(["tam", "tsm"], data=tasks, seeds=2, workers=1, folder=tmp_path, **quick)
    assert tuple(found.columns) == COLUMNS
    assert found["error"].tolist() == [""] * 4
    assert set(found["source"]) == {"log"}
    assert set(found["setting"]) == {"c0+c1+c2"}
    assert set(found["train_tasks"]) == {30}
    means = found.groupby("method")["elastic_regret"].mean()
    assert means["tsm"] < means["tam"]  # the size tells the clusters apart
    judged = summary(found, baselines=["tsm"])
    assert set(judged["method"]) == {"tam", "tsm"}
    again = compare(["tam", "tsm"], data=tasks, seeds=2, workers=1, folder=tmp_path, **quick)
    pd.testing.assert_frame_equal(again, found)  # from the folder
    assert len(list((tmp_path / "cells").iterdir())) == 2
    other = own_log(64)
    compare(["tam", "tsm"], data=other, seeds=1, workers=1, folder=tmp_path, **quick)
    assert len(list((tmp_path / "cells").iterdir())) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"settings": ["A"]}, "settings: is given with tasks"),
        ({"recipe_options": {"synthetic": True}}, "recipe_options: is given with tasks"),
        ({"train_tasks": [31]}, "asks for 31, and half of the log's 60 tasks"),
        ({"tasks_per_round": [16]}, "the log's validation set"),
        ({"data": 3}, "data: is 3"),
    ],
)
def test_what_a_log_cannot_give_is_refused_before_training(
    options: dict[str, Any], words: str
) -> None:
    given: dict[str, Any] = {"data": own_log(), "seeds": 1, "workers": 1}
    with pytest.raises(InputError, match=words):
        compare(["tam"], **(given | options))


def _sleeps(seconds: float) -> list[dict[str, Any]]:
    time.sleep(seconds)
    return []


def test_a_comparison_that_is_stopped_waits_for_no_cell() -> None:
    begun = time.monotonic()
    cells: list[Any] = [0.0, 300.0]
    work: Any = _sleeps
    assert comparison._apart(cells, work, lambda cell, rows: True, 2)
    assert time.monotonic() - begun < 100.0
