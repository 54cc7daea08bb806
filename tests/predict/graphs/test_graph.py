"""Task graphs: what is refused, closed-form features, and the cells of NAS-Bench-201."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.errors import InputError
from walras.predict import FEATURES, KINDS, TaskGraph, closed_form
from walras.predict.graphs.graph import batch_graphs


def chain(**changes: Any) -> TaskGraph:
    fields: dict[str, Any] = {
        "kinds": ("input", "conv3x3", "output"),
        "macs": [0, 9, 0],
        "params": [0, 9, 0],
        "elements": [4, 4, 4],
        "edges": [(0, 1), (1, 2)],
    }
    return TaskGraph(**(fields | changes))


def test_depth_and_height_are_longest_paths() -> None:
    graph = chain(edges=[(0, 1), (1, 2), (0, 2)])
    assert graph.depth.tolist() == [0, 1, 2]
    assert graph.height.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("changes", "where", "what"),
    [
        ({"edges": [(0, 1), (1, 2), (2, 1)]}, "edges", r"cycle among operators \[1, 2\]"),
        ({"edges": [(0, 3)]}, r"edges\[0\]", r"is \(0, 3\)"),
        ({"edges": [(0, 1), (-1, 1)]}, r"edges\[1\]", r"is \(-1, 1\)"),
        ({"kinds": ("input", "magic", "output")}, r"kinds\[1\]", "is 'magic'"),
        ({"macs": [0, -1, 0]}, r"macs\[1\]", "is -1"),
        ({"params": [0, np.nan, 0]}, r"params\[1\]", "is NaN"),
        ({"elements": [1, 2]}, "elements", r"has shape \(2,\)"),
        ({"batch": 0}, "batch", "is 0"),
        ({"kinds": (), "macs": [], "params": [], "elements": [], "edges": []}, "kinds", "no oper"),
    ],
)
def test_what_is_no_task_graph_is_refused(changes: dict[str, Any], where: str, what: str) -> None:
    with pytest.raises(InputError, match=f"graph, {where}: .*{what}") as caught:
        chain(**changes)
    assert caught.value.remedy


def test_closed_form_features_count_operators_and_work() -> None:
    row = dict(zip(FEATURES, closed_form([chain(batch=2)])[0], strict=True))
    assert row["log macs"] == pytest.approx(np.log(10))
    assert row["log batch"] == pytest.approx(np.log(3))
    assert row["operators of conv3x3"] == 1
    assert row["log macs of conv3x3"] == pytest.approx(np.log(10))
    assert row["depth"] == 2
    assert sum(row[f"operators of {kind}"] for kind in KINDS) == 3


@given(st.permutations(range(6)))
def test_features_do_not_depend_on_the_numbering_of_operators(order: list[int]) -> None:
    rng = np.random.default_rng(0)
    kinds = ("input", "conv3x3", "pool", "add", "linear", "output")
    macs, edges = rng.random(6), np.array([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)])
    place = np.argsort(order)
    graph = TaskGraph(kinds, macs, macs, macs, edges)
    shuffled = TaskGraph(
        tuple(kinds[k] for k in order), macs[order], macs[order], macs[order], place[edges]
    )
    np.testing.assert_allclose(closed_form([graph]), closed_form([shuffled]))


def test_graphs_beside_each_other_keep_their_edges_apart() -> None:
    batch = batch_graphs([chain(), chain(), chain()])
    assert batch.count == 3
    assert np.array_equal(batch.graph, np.repeat([0, 1, 2], 3))
    assert np.array_equal(batch.graph[batch.edges[:, 0]], batch.graph[batch.edges[:, 1]])


def test_a_cycle_names_five_operators_at_most() -> None:
    ring = [(k, k % 7 + 1) for k in range(1, 8)]
    fields = {name: [0.0] * 9 for name in ("macs", "params", "elements")}
    with pytest.raises(InputError, match=r"among operators \[1, 2, 3, 4, 5\]"):
        TaskGraph(("input", *["conv"] * 7, "output"), **fields, edges=[(0, 1), *ring])  # type: ignore[arg-type]
