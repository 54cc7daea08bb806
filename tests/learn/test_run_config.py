"""The cells of a comparison: which there are, how a log is split, and what cannot be compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras.errors import InputError
from walras.learn import LearnSettings
from walras.learn.run_config import RunConfig, by_name, grid, split_log
from walras.predict import Recipe

REST: dict[str, Any] = {"recipe": "log", "test_rounds": 5, "min_success": None, "options": ()}


def test_a_log_is_split_into_parts_that_do_not_meet(small: Recipe) -> None:
    tasks = small.test.take(np.arange(40))
    found = split_log(tasks, 15, 3)
    parts = [set(part.names) for part in (found.train, found.validation, found.test)]
    assert [len(part) for part in parts] == [15, 10, 10]
    assert len(set.union(*parts)) == 35
    assert set(split_log(tasks, 15, 4).test.names) != parts[2]
    with pytest.raises(InputError, match="asks for 21, and half of the log's 40 tasks"):
        split_log(tasks, 21, 3)


def test_a_grid_has_each_cell_once_and_refuses_what_it_cannot_draw(small: Recipe) -> None:
    tasks = small.test.take(np.arange(40))
    cells = grid(None, [10, 10, 15], [3], 2, REST, tasks)
    assert [(c.train_tasks, c.seed) for c in cells] == [(10, 0), (10, 1), (15, 0), (15, 1)]
    assert {c.clusters for c in cells} == {tasks.clusters}
    assert len({c.name for c in cells}) == 4
    with pytest.raises(InputError, match="the log's validation set"):
        grid(None, [20], [11], 1, REST, tasks)
    for sizes, words in (([], "asks for nothing"), ([0], "setting train_tasks"), (7, "is 7")):
        with pytest.raises(InputError, match=words):
            grid(None, sizes, [3], 1, REST, tasks)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="recipe_options"):
        grid(None, [10], [3], 1, REST | {"options": (("colour", 1),)}, tasks)


def test_a_known_setting_goes_by_its_letter() -> None:
    from walras.predict import SETTINGS

    def cell(clusters: tuple[str, ...]) -> RunConfig:
        return RunConfig("nb201", clusters, 40, 5, 0, 9, 0.8)

    assert cell(SETTINGS["A"]).setting == "A"
    assert cell(("x", "y")).setting == "x+y"
    assert cell(("x", "y")).name.startswith("nb201-x+y-40-n5-s0-")


def test_methods_under_other_terms_are_not_compared() -> None:
    with pytest.raises(InputError, match=r"'spo\+' has objective 'sum', 'tsm' has 'makespan'"):
        by_name(["tsm", "spo+"], {})
    dear = {"one": LearnSettings(), "other": LearnSettings(price=30.0)}
    with pytest.raises(InputError, match=r"'other' has price 30\.0, 'one' has 10\.0"):
        by_name(dear, {})
    assert by_name(dear, {"price": 20.0})["other"].price == 20.0
    assert list(by_name("tsm", {"steps": 3})) == ["tsm"]
    for wrong, words in (([], "asks for nothing"), (["tsm", "tsm"], "names of your own")):
        with pytest.raises(InputError, match=words):
            by_name(wrong, {})
