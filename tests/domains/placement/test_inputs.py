"""Tables become items and types, or an error that names the row and the column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import walras as wl
from walras.domains.placement.inputs import make_instance

NODES = pd.DataFrame({"cpu": [8.0, 8.0], "gpus": [2, 0], "model": ["T4", ""]}, index=["a", "b"])
TASKS = pd.DataFrame({"cpu": [1.0, 1.0, 2.0], "gpus": [0.5, 0.5, 1]}, index=["x", "y", "z"])


def test_alike_tasks_are_one_type() -> None:
    instance = make_instance(NODES, TASKS)
    assert instance.count.tolist() == [2, 1]
    assert instance.types.request.tolist() == [500, 1000]
    assert instance.devices.tolist() == [0.5, 1.0]
    assert instance.types.value.tolist() == [0.5, 1.0]


def test_tasks_of_an_affinity_are_one_item() -> None:
    tasks = TASKS.assign(affinity=["p", "", "p"], anti_affinity=["q", "", ""], model=["T4", "", ""])
    instance = make_instance(NODES, tasks)
    assert instance.count.tolist() == [1, 1]
    pair = int(instance.kind[0])
    assert instance.types.need[pair].tolist() == [3.0]
    first, last = instance.types.ptr[pair : pair + 2]
    assert instance.types.request[first:last].tolist() == [1000, 500]
    assert instance.request_task[first:last].tolist() == [1, 0]
    assert instance.groups == 1
    assert instance.types.allowed[pair].sum() == 1


def test_shares_are_rounded_up_to_thousandths() -> None:
    tasks = TASKS.assign(gpus=[1 / 3, 0.9999, 0.3])
    request = make_instance(NODES, tasks).types.request.tolist()
    assert request == [334, 1000, 300]


def test_names_in_columns() -> None:
    nodes = NODES.rename_axis("node").reset_index()
    assert list(make_instance(nodes, TASKS.rename_axis("task").reset_index()).nodes) == ["a", "b"]


@pytest.mark.parametrize(
    ("nodes", "tasks", "extra", "message"),
    [
        ({}, {}, {"nodes": [1]}, "a table, one row a node"),
        ({}, {"cpu": [1.0, -1.0, 1.0]}, {}, r"tasks\['cpu'\] of task 'y'"),
        ({}, {"gpus": [0.5, 1.5, 1]}, {}, r"tasks\['gpus'\] of task 'y'"),
        ({"gpus": [0.5, 1]}, {}, {}, r"nodes\['gpus'\] of node 'a'"),
        ({"disk": [1, 1]}, {}, {}, "has no column 'disk'"),
        ({}, {"dsk": [1, 1, 1]}, {}, "there is no column 'dsk'"),
        ({}, {"value": ["a", "b", "c"]}, {}, r"tasks\['value'\]"),
        ({}, {}, {"previous": {"x": "c"}}, r"previous\['x'\]"),
        ({}, {}, {"previous": 3}, "a Series or a dictionary"),
        ({}, {}, {"move_price": -1.0}, "move_price"),
        ({}, {"affinity": ["p", "p", ""], "anti_affinity": ["q", "q", ""]}, {}, "'x' and 'y'"),
    ],
)
def test_bad_input(nodes: Any, tasks: Any, extra: Any, message: str) -> None:
    given: dict[str, Any] = {"nodes": NODES.assign(**nodes), "tasks": TASKS.assign(**tasks)}
    with pytest.raises(wl.InputError, match=message):
        make_instance(**given | extra)


def test_no_rows_and_equal_names() -> None:
    with pytest.raises(wl.InputError, match="has no rows"):
        make_instance(NODES.iloc[:0], TASKS)
    with pytest.raises(wl.InputError, match="nodes"):
        make_instance(NODES.set_axis(["a", "a"]), TASKS)


def test_resources_may_be_none() -> None:
    instance = make_instance(NODES[["gpus"]], TASKS[["gpus"]])
    assert instance.capacity.shape == (2, 0)
    assert np.isinf(instance.move_price)
