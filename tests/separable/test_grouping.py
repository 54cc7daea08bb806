"""The split into resources and demands, on patterns alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.separable import Side
from walras.separable.grouping import MOST_COUPLED, Groups, RowBlock, split


def block(name: str, rows: list[Any], **sides: Any) -> RowBlock:
    lists = [np.asarray(row, dtype=np.int64) for row in rows]
    start = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    return RowBlock(name, start, np.concatenate(lists), **sides)


def grid(m: int, n: int) -> tuple[np.ndarray, RowBlock, RowBlock]:
    cell = np.arange(m * n).reshape(m, n, order="F")
    return (
        cell,
        block("capacity", [cell[i] for i in range(m)]),
        block("time", [cell[:, j] for j in range(n)]),
    )


@pytest.mark.parametrize("one_by_one", [False, True])
def test_rows_and_columns_of_a_grid_are_told_apart_without_hints(one_by_one: bool) -> None:
    cell, capacity, time = grid(4, 6)
    blocks = [capacity, time]
    if one_by_one:
        blocks = [block(f"r{i}", [cell[i]]) for i in range(4)]
        blocks += [block(f"d{j}", [cell[:, j]]) for j in range(6)]
    found = split(24, blocks, [])
    # Nothing says which is which, so the fewer are the resources.
    assert found.resource.tolist() == np.tile(np.arange(4), 6).tolist()
    assert found.demand.tolist() == np.repeat(np.arange(6), 4).tolist()


def test_hints_and_sides_decide_names() -> None:
    cell, _, _ = grid(6, 4)
    rows, columns = list(cell), list(cell.T)
    axes = [block("a", rows, hint=Side.RESOURCE), block("b", columns, hint=Side.DEMAND)]
    hinted = split(24, axes, [])
    assert (hinted.resources, hinted.demands) == (6, 4)
    sides = [block("a", rows, side=Side.DEMAND), block("b", columns, side=Side.RESOURCE)]
    turned = split(24, sides, [])
    assert (turned.resources, turned.demands) == (4, 6)


def test_overlapping_rows_of_one_side_merge() -> None:
    found = split(6, [block("chain", [[0, 1], [1, 2], [4, 5]], side=Side.DEMAND)], [])
    assert found.demand.tolist() == [0, 0, 0, -1, 1, 1]
    assert found.resource.tolist() == [-1] * 6


def test_rows_that_overlap_without_one_over_all_are_reported() -> None:
    cell, capacity, time = grid(3, 5)
    chain = [block("a", [cell[0, :2]], side=Side.DEMAND), block("b", [[cell[0, 1], cell[1, 2]]])]
    assert split(cell.size, chain, []).tied == ((("a", "b"), Side.DEMAND, 1),)
    inner = block("inner", [cell[0, :2], cell[1, 2:4]])
    assert split(cell.size, [capacity, time, inner], []).tied == ()
    along = [block(name, [cell[0, k : k + 3]], hint=Side.RESOURCE) for k, name in enumerate("pqr")]
    assert split(cell.size, along, []).tied == ()


def test_a_few_spanning_rows_couple_and_many_merge() -> None:
    cell, capacity, time = grid(3, 2 * MOST_COUPLED + 10)
    quota = block("quota", [cell[:, :3].ravel(), cell[:, 5:7].ravel()])
    few = split(cell.size, [capacity, time, quota], [])
    assert few.coupled == (("quota", 2, 3),)
    assert few.demands == cell.shape[1]
    pairs = [cell[:, j : j + 2].ravel() for j in range(0, cell.shape[1], 2)]
    sided = [
        block("capacity", list(cell), side=Side.RESOURCE),
        block("time", list(cell.T), side=Side.DEMAND),
        block("pairs", pairs, side=Side.DEMAND),
    ]
    many = split(cell.size, sided, [])
    assert many.merged == (("pairs", MOST_COUPLED + 5),)
    assert (many.resources, many.demands) == (3, MOST_COUPLED + 5)


def test_a_block_on_the_wrong_side_is_noticed() -> None:
    cell, _, _ = grid(5, 3)
    rows = block("rows", list(cell), side=Side.RESOURCE, hint=Side.RESOURCE)
    columns = block("columns", list(cell.T)[:2], side=Side.DEMAND, hint=Side.DEMAND)
    wrong = block("wrong", [cell[:, 1]], side=Side.RESOURCE, hint=Side.DEMAND)
    assert split(15, [rows, columns, wrong], []).misplaced == (("wrong", Side.DEMAND),)
    assert split(15, [rows, columns], []).misplaced == ()


def test_utilities_extend_the_groups_they_touch() -> None:
    found = split(4, [block("cap", [[0, 1]], side=Side.DEMAND)], [block("log", [[1, 2], [3]])])
    assert found.demand.tolist() == [0, 0, 0, 1]


@given(
    st.lists(
        st.lists(st.integers(0, 19), min_size=1, max_size=5, unique=True), min_size=1, max_size=12
    ),
    st.integers(1, 4),
)
def test_groups_are_the_connected_components(rows: list[list[int]], parts: int) -> None:
    groups = Groups(20)
    for k in range(0, len(rows), parts):
        some = block("rows", rows[k : k + parts])
        groups.absorb(some, np.ones(some.rows, bool))
    owner, count = groups.owners()
    # Reference: spread labels along rows until nothing changes.
    label = {entry: entry for row in rows for entry in row}
    for _ in range(20):
        for row in rows:
            lowest = min(label[entry] for entry in row)
            label.update({entry: lowest for entry in row})
    assert count == len(set(label.values()))
    for a in range(20):
        assert (owner[a] < 0) == (a not in label)
        for b in label:
            if a in label:
                assert (owner[a] == owner[b]) == (label[a] == label[b])
    # Groups are numbered by their first entry.
    seen = [int(k) for k in owner if k >= 0]
    assert list(dict.fromkeys(seen)) == sorted(set(seen))
