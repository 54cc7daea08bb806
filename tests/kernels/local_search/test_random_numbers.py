"""Random numbers of compiled searches: their distribution and their seeds."""

from __future__ import annotations

import numpy as np

from walras.kernels.local_search.random_numbers import below, draw, seeded


def test_random_numbers_fill_the_interval_and_depend_on_the_seed() -> None:
    state = seeded(3)
    drawn = np.array([draw(state) for _ in range(4000)])
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    assert abs(drawn.mean() - 0.5) < 0.02
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.05
    assert draw(seeded(4)) != draw(seeded(5))
    counts = np.bincount([below(state, 5) for _ in range(2000)], minlength=5)
    assert counts.min() > 300
