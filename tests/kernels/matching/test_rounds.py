"""Matchings of many rounds against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.matching.rounds import DECAY, ONES, as_kernel
from tests.matching.rounds import batch, cost, enumerate_best

from walras.kernels.matching.rounds import HARD, most_tasks, solve_rounds


@pytest.mark.parametrize("zeta", [ONES, DECAY], ids=["apart", "together"])
@pytest.mark.parametrize("price", [HARD, 20.0, 3.0])
def test_branch_and_bound_equals_enumeration(zeta: np.ndarray, price: float) -> None:
    times, success = batch(1, 12, 3, 6)
    floor, n = 0.84, 6
    found = solve_rounds(
        as_kernel(times),
        as_kernel(success),
        zeta,
        np.full(12, n * floor),
        np.full(12, price / n),
        0.0,
        10**6,
    )
    soft = np.inf if price == HARD else price
    for b in range(12):
        best = enumerate_best(times[b], success[b], floor, zeta, soft)
        if not np.isfinite(best):
            assert found.x[b].tolist() == success[b].argmax(axis=0).tolist()
            continue
        assert found.value[b] == pytest.approx(best, rel=1e-12)
        assert cost(times[b], success[b], found.x[b], floor, zeta, soft) == pytest.approx(best)
        assert found.bound[b] <= best * (1 + 1e-12)
        assert found.bound[b] >= best * (1 - 1e-11)


def test_a_search_cut_short_keeps_a_true_bound() -> None:
    times, success = batch(2, 6, 4, 14)
    arrays = as_kernel(times), as_kernel(success), np.ones((4, 15))
    goal, price = np.full(6, 14 * 0.85), np.full(6, HARD)
    whole = solve_rounds(*arrays, goal, price, 0.0, 10**7)
    short = solve_rounds(*arrays, goal, price, 0.0, 5)
    assert np.all(whole.nodes < 10**7)
    assert np.any(short.nodes > 5)
    assert np.all(short.bound <= whole.value * (1 + 1e-12))
    assert np.all(short.value >= whole.value * (1 - 1e-12))


def test_the_answer_does_not_depend_on_threads() -> None:
    times, success = batch(3, 20, 3, 9)
    given_ = (
        as_kernel(times),
        as_kernel(success),
        np.ones((3, 10)),
        np.full(20, 7.6),
        np.full(20, HARD),
    )
    one, two = (solve_rounds(*given_, 0.0, 10**6, threads) for threads in (1, 2))
    assert np.array_equal(one.x, two.x)
    assert np.array_equal(one.nodes, two.nodes)


def test_most_tasks_counts_what_fits() -> None:
    times, _ = batch(5, 1, 3, 6)
    t = as_kernel(times)[0]
    cut = 0.6 * t.sum(axis=0).max()
    for i, most in enumerate(most_tasks(t, DECAY, cut)):
        spans = [DECAY[i, k] * np.sort(t[:, i])[:k].sum() for k in range(1, 7)]
        assert most == max((k for k in range(1, 7) if spans[k - 1] < cut), default=0)


def test_equal_tasks_are_not_told_apart() -> None:
    """18 tasks of two kinds: 3^18 placements, but only C(11, 2)^2 = 3,025 that differ."""
    times = np.array([[4.0, 9.0], [5.0, 7.0], [6.0, 8.0]])[:, np.arange(18) % 2]
    given_ = as_kernel(times[None]), np.full((1, 18, 3), 0.9), np.ones((3, 19))
    found = solve_rounds(*given_, np.zeros(1), np.full(1, HARD), 0.0, 10**6)
    counts = [(p, q, 9 - p - q) for p in range(10) for q in range(10 - p)]
    best = min(
        max(a * times[i, 0] + b * times[i, 1] for i, (a, b) in enumerate(zip(x, y, strict=True)))
        for x in counts
        for y in counts
    )
    assert found.value[0] == pytest.approx(best, rel=1e-12)
    assert found.bound[0] == pytest.approx(best, rel=1e-9)
    assert found.nodes[0] < 18 * 3025
