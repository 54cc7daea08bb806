"""Patterns of one machine against all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
from tests.kernels.packing.test_machines import machines, types

from walras.kernels.local_search.random_numbers import seeded
from walras.kernels.packing.patterns import search_pattern


def test_the_best_pattern_of_a_small_machine() -> None:
    asked = types([700], [500], [300], [1000], need=1.0)
    asked = asked._replace(
        need=np.array([[3.0], [1.0], [2.0], [4.0]]), group_ptr=np.zeros(5, dtype=np.int64)
    )
    worth, limit = np.array([3.0, 2.0, 1.2, 3.5]), np.array([2, 3, 2, 2], dtype=np.int32)
    held = machines([1000, 1000], left=7.0)
    pattern, found = search_pattern(held, 0, asked, np.ones((4, 1)), worth, limit, 300, seeded(3))

    def packs(count: tuple[int, ...]) -> bool:
        parts = [p for p, n in zip((700, 500, 300, 1000), count, strict=True) for _ in range(n)]
        return any(
            max(sum(p for p, s in zip(parts, sides, strict=True) if s == k) for k in (0, 1)) <= 1000
            for sides in product((0, 1), repeat=len(parts))
        )

    best = max(
        worth @ np.array(count)
        for count in product(range(3), range(4), range(3), range(3))
        if asked.need[:, 0] @ np.array(count) <= 7.0 and packs(count)
    )
    assert found == best == worth @ pattern
