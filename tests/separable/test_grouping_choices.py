"""Which side takes a block, what couples, what merges, and which of two splits wins."""

from __future__ import annotations

import numpy as np
import pytest
from tests.separable.test_grouping import block, grid

from walras.separable import Side
from walras.separable.grouping import MOST_COUPLED, Groups, RowBlock, Split, _badness, split

RESOURCE, DEMAND = Side.RESOURCE, Side.DEMAND


def sided(m: int, n: int) -> tuple[np.ndarray, list[RowBlock]]:
    """A grid whose rows are the resources and whose columns the demands, as the user said."""
    cell = np.arange(m * n).reshape(m, n, order="F")
    rows = block("capacity", list(cell), side=RESOURCE)
    return cell, [rows, block("time", list(cell.T), side=DEMAND)]


def all_rows(some: RowBlock) -> np.ndarray:
    return np.ones(some.rows, bool)


def test_groups_begin_empty_and_tell_which_entry_is_where() -> None:
    groups = Groups(4)
    pairs = block("pairs", [[0, 1], [3]])
    empty = [groups.is_empty]
    assert groups.of(np.array([0, 3])).tolist() == [-1, -1]
    for chosen in ([False, False], [True, False]):
        groups.absorb(pairs, np.array(chosen))
        empty.append(groups.is_empty)
    assert empty == [True, True, False]
    found = groups.of(np.arange(4))
    assert found[0] == found[1] >= 0
    assert found[2:].tolist() == [-1, -1]


def test_a_row_spans_none_one_or_more_groups() -> None:
    groups = Groups(6)
    first = block("first", [[0, 1], [2], [3]])
    groups.absorb(first, all_rows(first))
    rows = block("rows", [[4, 5], [0, 1], [5, 0], [1, 2], [0, 2, 3], [3, 4]])
    assert groups.spans(rows).tolist() == [0, 1, 1, 2, 2, 1]


def test_several_blocks_open_at_once_only_if_nothing_overlaps() -> None:
    groups = Groups(6)
    first, second = block("first", [[0, 1], [2]]), block("second", [[4, 3]])
    assert groups.open_all([first, second])
    owner, count = groups.owners()
    assert (owner.tolist(), count) == ([0, 0, 1, 2, 2, -1], 3)
    assert not groups.open_all([block("taken", [[5], [1]])])
    assert not groups.open_all([block("one", [[5]]), block("twice", [[5]])])
    assert groups.owners()[0].tolist() == [0, 0, 1, 2, 2, -1]
    assert groups.open_all([block("last", [[5]])])
    assert groups.owners()[0].tolist() == [0, 0, 1, 2, 2, 3]


def test_what_was_opened_at_once_counts_as_one_row_over_all() -> None:
    groups = Groups(4)
    groups.open_all([block("a", [[0, 1]]), block("b", [[2, 3]])])
    assert not groups.tied(DEMAND)


def test_overlapping_groups_that_no_row_holds_are_counted_by_names() -> None:
    groups = Groups(9)
    first = block("first", [[0, 1], [3, 4], [6, 7]], hint=RESOURCE)
    second = block("second", [[1, 2], [4, 5], [7, 6]], hint=RESOURCE)
    groups.absorb(first, all_rows(first))
    groups.absorb(second, all_rows(second))
    # The last two rows hold the same entries: a row holds the whole group.
    assert groups.tied(DEMAND) == {("first", "second"): 2}
    assert not groups.tied(RESOURCE)
    third = block("third", [[5, 8]])
    groups.absorb(third, all_rows(third))
    assert groups.tied(RESOURCE) == {("first", "second", "third"): 1}
    whole = block("whole", [[0, 1, 2]])
    groups.absorb(whole, all_rows(whole))
    assert groups.tied(DEMAND) == {("first", "second", "third"): 1}


def test_only_chosen_rows_tie() -> None:
    groups = Groups(5)
    rows = block("rows", [[0, 1], [1, 2], [2, 3, 4]])
    groups.absorb(rows, np.array([True, True, False]))
    assert groups.owners()[0].tolist() == [0, 0, 0, -1, -1]
    assert groups.tied(DEMAND) == {("rows",): 1}


def test_what_most_hinted_rows_do_is_right_even_turned_round() -> None:
    """The author's demands are the matrix's rows; three columns among the demands are wrong."""
    cell, _, _ = grid(3, 3)
    rows = block("rows", list(cell), side=DEMAND, hint=RESOURCE)
    columns = block("columns", list(cell.T), side=RESOURCE, hint=DEMAND)
    wrong = block("wrong", list(cell.T), side=DEMAND, hint=DEMAND)
    found = split(9, [wrong, rows, columns], [])
    assert found.misplaced == (("wrong", RESOURCE),)
    assert found.demand.tolist() == np.tile(np.arange(3), 3).tolist()
    assert found.coupled == (("wrong", 3, 3),)


def test_where_as_many_are_turned_as_not_the_axes_are_right() -> None:
    cell, _, _ = grid(3, 3)
    rows = block("rows", list(cell), side=RESOURCE, hint=RESOURCE)
    columns = block("columns", list(cell.T), side=DEMAND, hint=DEMAND)
    wrong = [
        block("wrong columns", list(cell.T), side=RESOURCE, hint=DEMAND),
        block("wrong rows", list(cell), side=DEMAND, hint=RESOURCE),
    ]
    found = split(9, [*wrong, rows, columns], [])
    assert found.misplaced == (("wrong columns", DEMAND), ("wrong rows", RESOURCE))


def test_a_block_of_which_some_rows_fit_elsewhere_is_not_misplaced() -> None:
    cell, blocks = sided(3, 4)
    mixed = block("mixed", [cell[:, 1], cell[:2, :2].ravel()], side=RESOURCE)
    within = block("within", [cell[:, 1], cell[0, :2]], side=RESOURCE)
    for odd in (mixed, within):
        assert split(12, blocks, [odd]).misplaced == ()
    # One whose rows all fit elsewhere is.
    both = block("both", [cell[:, 1], cell[:2, 2]], side=RESOURCE)
    assert split(12, blocks, [both]).misplaced == (("both", DEMAND),)


@pytest.mark.parametrize("hint", [RESOURCE, DEMAND])
def test_a_hinted_block_goes_to_the_other_side_where_it_fits_better(hint: Side) -> None:
    m, n = (5, 3) if hint is RESOURCE else (3, 5)
    cell, blocks = sided(m, n)
    odd = block("odd", [cell[:, 0] if hint is RESOURCE else cell[0]], hint=hint)
    found = split(15, [*blocks, odd], [])
    assert (found.coupled, found.resources, found.demands) == ((), m, n)


@pytest.mark.parametrize("hint", [RESOURCE, DEMAND])
def test_a_hinted_block_that_fits_both_sides_follows_its_hint(hint: Side) -> None:
    found = split(3, [block("all", [[0, 1, 2]], hint=hint)], [])
    assert (found.resources, found.demands) == ((1, 0) if hint is RESOURCE else (0, 1))


def test_blocks_open_groups_on_their_side_whatever_their_axes_say() -> None:
    cell, _, _ = grid(3, 4)
    rows = [block(f"r{i}", [row], side=DEMAND, hint=RESOURCE) for i, row in enumerate(cell)]
    found = split(12, rows, [])
    assert (found.resources, found.demands) == (0, 3)
    assert found.demand.tolist() == np.tile(np.arange(3), 4).tolist()


def test_a_block_without_hint_joins_groups_that_are_there() -> None:
    first = block("first", [[0, 1, 2]], side=RESOURCE)
    found = split(4, [first, block("second", [[0, 1]])], [])
    assert (found.resource.tolist(), found.demand.tolist()) == ([0, 0, 0, -1], [-1] * 4)
    found = split(4, [first, block("second", [[0, 1], [3]])], [])  # one row lies outside
    assert found.resource.tolist() == [0, 0, 0, -1]
    assert found.demand.tolist() == [0, 0, -1, 1]


@pytest.mark.parametrize("pairs", [MOST_COUPLED, MOST_COUPLED + 1])
@pytest.mark.parametrize("parts", [1, 2])
def test_rows_that_span_couple_up_to_a_number_and_merge_beyond(pairs: int, parts: int) -> None:
    cell, blocks = sided(3, 2 * pairs)
    rows = [cell[:, j : j + 2].ravel() for j in range(0, 2 * pairs, 2)]
    cut = [rows[k::parts] for k in range(parts)]
    named = [block(f"pairs {k}", part, side=DEMAND) for k, part in enumerate(cut)]
    found = split(cell.size, [*blocks, *named], [])
    if pairs > MOST_COUPLED:
        assert found.coupled == ()
        assert found.merged == tuple((b.name, b.rows) for b in named)
        assert (found.resources, found.demands) == (3, pairs)
        # Each pair's own row holds all of its entries.
        assert found.tied == ()
    else:
        assert found.merged == ()
        assert [(name, count) for name, count, _ in found.coupled] == [
            (b.name, b.rows) for b in named
        ]
        assert (found.resources, found.demands) == (3, 2 * pairs)


def test_coupled_rows_tell_the_fewer_groups_that_they_touch() -> None:
    cell, blocks = sided(3, 5)
    wide = block("wide", [cell[:2].ravel()])
    tall = block("tall", [cell[:, :2].ravel()])
    part = block("part", [cell[0, :2], [cell[0, 0], cell[2, 2]], cell[1:, 3]])
    assert split(15, [*blocks, wide], []).coupled == (("wide", 1, 2),)
    assert split(15, [*blocks, tall], []).coupled == (("tall", 1, 2),)
    # One row of three spans groups on both sides: it alone is coupled.
    assert split(15, [*blocks, part], []).coupled[0][0] == "part"


@pytest.mark.parametrize("turned", [False, True])
def test_rows_without_a_side_merge_where_more_groups_stay(turned: bool) -> None:
    n = 2 * MOST_COUPLED + 2
    cell, blocks = sided(n, 2) if turned else sided(2, n)
    lines = cell if turned else cell.T
    pairs = block("pairs", [lines[j : j + 2].ravel() for j in range(0, n, 2)])
    found = split(cell.size, [*blocks, pairs], [])
    assert (found.resources, found.demands) == ((n // 2, 2) if turned else (2, n // 2))


def test_a_side_that_was_only_tried_stays_as_it_was() -> None:
    """Entries without groups that merging rows hold get none on the side that is not merged."""
    n = 2 * MOST_COUPLED + 2
    cell, blocks = sided(2, n)
    lone = cell.size + np.arange(n // 2)
    pairs = [np.append(cell[:, 2 * k : 2 * k + 2].ravel(), lone[k]) for k in range(n // 2)]
    found = split(cell.size + n // 2, blocks, [block("pairs", pairs)])
    assert (found.resources, found.demands) == (2, n // 2)
    assert found.resource[lone].tolist() == [-1] * (n // 2)
    assert found.demand[lone].tolist() == list(range(n // 2))


def test_sided_rows_merge_on_their_side_though_more_groups_would_stay_elsewhere() -> None:
    n = 2 * MOST_COUPLED + 2
    cell, blocks = sided(2, n)
    pairs = block("pairs", [cell[:, j : j + 2].ravel() for j in range(0, n, 2)], side=RESOURCE)
    found = split(cell.size, blocks, [pairs])
    assert found.merged == (("pairs", MOST_COUPLED + 1),)
    assert (found.resources, found.demands) == (1, n)


def test_of_two_sides_with_as_many_groups_none_is_turned_round() -> None:
    """The first block has the demands' place; only fewer groups are called resources."""
    _, capacity, time = grid(3, 3)
    found = split(9, [capacity, time], [])
    assert found.demand.tolist() == np.tile(np.arange(3), 3).tolist()
    assert found.resource.tolist() == np.repeat(np.arange(3), 3).tolist()


@pytest.mark.parametrize("given", [{"side": DEMAND}, {"hint": DEMAND}], ids=str)
@pytest.mark.parametrize("one_by_one", [False, True])
def test_where_something_tells_the_sides_apart_their_numbers_do_not(
    given: dict[str, Side], one_by_one: bool
) -> None:
    """The columns are the demands, though they are fewer than the rows."""
    cell, capacity, _ = grid(5, 3)
    columns = [block("time", list(cell.T), **given)]
    if one_by_one:
        columns = [block(f"time {k}", [column], **given) for k, column in enumerate(cell.T)]
    found = split(15, [capacity, *columns], [])
    assert (found.resources, found.demands) == (5, 3)


def test_a_turned_split_names_the_side_of_what_overlaps() -> None:
    """Short columns come first, and overlap in one place; being fewer, they are the resources."""
    cell, capacity, _ = grid(6, 4)
    columns = [*(cell[:3, k] for k in range(3)), cell[:2, 3], cell[1:3, 3]]
    found = split(24, [block("columns", columns), capacity], [])
    assert (found.resources, found.demands) == (4, 6)
    assert found.resource[cell[0]].tolist() == [0, 1, 2, 3]
    assert found.tied == ((("columns",), RESOURCE, 1),)


def test_blocks_that_the_user_put_nowhere_do_not_say_what_is_right() -> None:
    cell, _, _ = grid(3, 4)
    rows = block("rows", list(cell), side=RESOURCE, hint=RESOURCE)
    wrong = block("wrong", list(cell.T[:2]), side=RESOURCE, hint=DEMAND)
    free = block("free", list(cell.T), hint=DEMAND)
    assert split(12, [wrong, rows, free], []).misplaced == (("wrong", DEMAND),)


def test_fewer_spanning_rows_are_better_then_more_groups() -> None:
    none = np.zeros(0, np.int32)

    def badness(resources: int, demands: int, coupled: int = 0, merged: int = 0) -> tuple[int, int]:
        return _badness(
            Split(
                none,
                none,
                resources,
                demands,
                (("a", coupled, 2), ("b", coupled, 2)),
                (("c", merged), ("d", merged)),
                (),
            )
        )

    assert badness(3, 4, coupled=1) < badness(3, 4, coupled=1, merged=1) < badness(9, 9, coupled=3)
    assert badness(3, 4) < badness(3, 3) < badness(2, 4)
    assert badness(0, 4) == badness(1, 4)
    assert badness(3, 0) == badness(3, 1)


def test_utilities_follow_the_constraints_groups_and_have_no_say_in_the_orders() -> None:
    cell, blocks = sided(3, 4)
    log = block("log", [*cell.T, cell[:, :2].ravel()])
    found = split(12, blocks, [log])
    assert found.coupled == (("log", 1, 2),)
    assert (found.resources, found.demands) == (3, 4)


def test_blocks_of_no_rows_say_nothing() -> None:
    blocks = sided(2, 3)[1]
    none = RowBlock("none", np.zeros(1, np.int64), np.zeros(0, np.int64))
    found = split(6, [none, *blocks, none], [none])
    assert (found.resources, found.demands) == (2, 3)
    assert split(2, [], []).resource.tolist() == [-1, -1]


def test_the_order_with_fewer_spanning_rows_wins() -> None:
    """Short rows first would open groups that the grid's own rows span."""
    cell, capacity, time = grid(4, 4)
    diagonals = [[cell[k, (k + shift) % 3] for k in range(3)] for shift in (0, 1)]
    found = split(16, [block("scattered", diagonals), capacity, time], [])
    assert found.coupled == (("scattered", 2, 3),)
    assert (found.resources, found.demands) == (4, 4)
