"""Filling machines, and the search that empties some again."""

from __future__ import annotations

import numpy as np
from tests.kernels.packing.test_machines import machines, types

from walras.kernels.local_search.random_numbers import seeded
from walras.kernels.packing.machines import Types, some
from walras.kernels.packing.search import Packing, fill, improve, put_running, restore


def packing(kind: list[int], was: list[int], asked: Types, count: int, price: float) -> Packing:
    """Items of given types and machines before; none is placed."""
    items = len(kind)
    return Packing(
        np.array(kind, dtype=np.int32),
        np.array(was, dtype=np.int32),
        np.full(items, -1, dtype=np.int32),
        np.arange(items),
        np.zeros(items, dtype=np.int32),
        np.full(items, -1, dtype=np.int32),
        np.full(count, -1, dtype=np.int32),
        np.full(len(asked.value), -1, dtype=np.int32),
        np.full(items, price),
    )


def _start(price: float, was: list[int]) -> tuple[Packing, Types]:
    asked = types([600], [500], [400], need=0.1)
    asked = asked._replace(group_ptr=np.zeros(4, dtype=np.int64), value=np.array([6.0, 5.0, 4.0]))
    return packing([0, 1, 1, 2], was, asked, 2, price), asked


def test_search_mends_what_filling_in_a_bad_order_left() -> None:
    held, base = machines([1000], [1000]), machines([1000], [1000])
    items, asked = _start(0.0, [-1, -1, -1, -1])
    restore(items, held, asked)
    which, most = np.arange(2), np.full(3, 9, dtype=np.int32)
    first = fill(items, held, asked, which, np.array([2, 1, 0]), most)
    assert first == 4.0 + 5.0 + 5.0  # and no room for the largest
    gained = improve(items, held, asked, np.ones((3, 1)), 200, seeded(1))
    assert first + gained == 20.0
    assert held.device.tolist() == [[0], [0]]
    again = some(base, slice(None))
    restore(items, again, asked)
    assert np.array_equal(again.device, held.device)


def test_moves_cost() -> None:
    held = machines([1000], [1000])
    items, asked = _start(100.0, [0, 1, 1, 1])
    put_running(items, held, asked, np.array([0, 1, 2, 3]))
    assert items.home.tolist() == [0, 1, 1, -1]
    held = machines([1000], [1000])
    restore(items, held, asked)
    assert improve(items, held, asked, np.ones((3, 1)), 200, seeded(2)) == 0.0
    assert items.home.tolist() == [0, 1, 1, -1]  # 4 more are worth less than a move
