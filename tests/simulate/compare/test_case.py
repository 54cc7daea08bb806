"""Keys of cases: they change with all that the result hangs on."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.simulate.small import ONE, on_one

from walras.policies import fastest_cluster, fifo, first_fit, las
from walras.policies.named import named
from walras.simulate import Outage, Run, Slots, TaskTrace, draw_tasks, run
from walras.simulate.compare.case import Case, MakePolicy
from walras.simulate.time_shared import Policy


def _key(make: MakePolicy, steps: float = 10.0) -> str:
    return Case("t", "p", 0, on_one([steps]), ONE, make, None, {}).key


def _of_table(table: Any) -> Policy:
    del table
    return fifo()


def test_equal_cases_have_equal_keys_and_others_not() -> None:
    assert _key(fifo) == _key(fifo)
    assert _key(partial(las, by_speed=True)) == _key(partial(las, by_speed=True))
    keys = {_key(fifo), _key(las), _key(partial(las, by_speed=True)), _key(fifo, 11.0)}
    assert len(keys) == 4


def test_a_file_counts_by_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    keys = []
    for text in ("a = 1\n", "a = 2\n", "a = 1\n"):
        path.write_text(text, "utf-8")
        keys.append(_key(partial(named, f"{path}:policy")))
    assert keys[0] == keys[2] != keys[1]


@pytest.mark.parametrize("kind", [np.array, pd.Series, pd.DataFrame])
def test_large_arrays_and_tables_count_with_every_number(kind: Any) -> None:
    """Their ``repr`` leaves out the middle: a kept run would be taken for another one's."""
    one, other = np.zeros((2, 5000, 1))
    other[2500] = 1.0
    given = [kind(values[:, 0] if kind is pd.Series else values) for values in (one, other, one)]
    assert repr(given[0]) == repr(given[1])
    for keys in (
        [_key(partial(_of_table, values)) for values in given],
        [Case("t", "p", 0, on_one([1.0]), ONE, las, None, {"measured": v}).key for v in given],
    ):
        assert keys[0] == keys[2] != keys[1]


def test_clusters_with_slots_count_with_all_that_they_are() -> None:
    tasks = TaskTrace.of(["a"], clusters=("east",))
    keys = {
        Case("t", "p", 0, tasks, slots, first_fit, None, {}).key
        for slots in (
            Slots({"east": 2}),
            Slots({"east": 2}),
            Slots({"east": 2}, quotas={"all": 1}),
            Slots({"east": 2}, outages=[Outage("east", 5.0, 9.0)]),
        )
    }
    assert len(keys) == 3


def test_a_case_of_tasks_is_the_same_in_another_process() -> None:
    tasks = draw_tasks(20, rate=600.0)
    case = Case("t", "p", 3, tasks, Slots({"east": 2, "west": 2}), fastest_cluster, None, {})
    found = [one.solve() for one in (case, pickle.loads(pickle.dumps(case)))]
    ones = [one.hash for one in found if isinstance(one, Run)]
    chosen = run(
        tasks, Slots({"east": 2, "west": 2}), fastest_cluster(predict=tasks.predict), seed=3
    )
    assert ones == [chosen.hash] * 2
