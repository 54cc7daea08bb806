"""Branch and bound of tasks that share clusters, at given prices, against counting out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from walras.kernels.matching.shared import Field, Levels, branch_shared
from walras.types import Floats

M, N = 3, 5
GOAL, PRICE = 3.9, 2.0


class Round:
    """Clusters with two slots each, the second free later; two deadlines; moves that cost."""

    def __init__(self, seed: int, *, hard: bool = False, alone: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.work, self.chance = rng.uniform(1, 3, (M, N)), rng.uniform(0.6, 0.95, (M, N))
        self.paid = np.zeros((M, N)) if alone else rng.uniform(0, 0.5, (M, N))
        self.due = np.sort(rng.integers(0, 2, N))
        self.free = np.sort(rng.uniform(0, 1, (M, 2)), axis=1)
        self.room = np.stack([np.full(M, 4.0), np.full(M, 1e9)], axis=1)
        self.hard, self.alone = hard, alone
        self.goal = GOAL if hard else 4.2

    def end(self, i: int, work: float) -> float:
        """The first slot alone, or both: what is sooner."""
        a, b = self.free[i]
        return 0.0 if work == 0.0 else min(work + a, (work + a + b) / 2)

    def worth(self, x: tuple[int, ...]) -> float:
        own = np.array(x)
        last = 0.0
        for i in range(M):
            mine = np.flatnonzero(own == i)
            if self.work[i, mine[self.due[mine] == 0]].sum() > self.room[i, 0]:
                return np.inf
            single = [self.free[i, 0] + self.work[i, j] for j in mine]
            last = max([last, self.end(i, float(self.work[i, mine].sum())), *single])
        missing = self.goal - self.chance[own, range(N)].sum()
        if missing > 0 and self.hard:
            return np.inf
        pays = 0.0 if self.hard else PRICE * max(missing, 0.0)
        return float(last + self.paid[own, range(N)].sum() + pays)

    def least(self) -> float:
        return min(self.worth(x) for x in itertools.product(range(M), repeat=N))

    def searched(self, upper: float, limit: int = 10**6, mu: float = 0.1) -> tuple[float, ...]:
        """At even prices, which pay one second for a second of all slots."""
        lam = np.full(M, 1.0 / (2 * M))
        reduced = (lam[:, None] * self.work - mu * self.chance + self.paid).T
        order = np.argsort(reduced, axis=1).astype(np.int32)

        def sorted_(values: Floats) -> Floats:
            return np.take_along_axis(np.ascontiguousarray(values.T), order, axis=1)

        def tail(best: Floats) -> Floats:
            return np.append(np.cumsum(best[::-1])[::-1], 0.0)

        rank = np.take_along_axis(reduced, order, axis=1)
        levels = Levels(
            order,
            rank,
            sorted_(self.work),
            sorted_(self.free[:, :1] + self.work),
            sorted_(self.chance),
            sorted_(self.paid),
            self.due,
            np.zeros(N + 1, bool),
            tail(rank[:, 0]),
            tail(self.chance.max(axis=0)),
            tail(self.paid.min(axis=0)),
        )
        low = 0.5 * self.work.min()
        price = 0.0 if self.hard else PRICE
        terms = (lam, mu, low, self.goal, price, self.hard, self.alone)
        clusters = Field(self.free, np.ones((M, 2), np.int64), self.room, *terms)
        place = np.full(N, -1, dtype=np.int32)
        found = branch_shared(levels, clusters, 0.0, limit, upper, place)
        self.placed = tuple(order[np.arange(N), place].tolist()) if place[0] >= 0 else None
        return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("hard", "alone"), [(False, False), (True, False), (True, True)])
def test_the_least_of_all_placements_is_found(seed: int, hard: bool, alone: bool) -> None:
    own = Round(seed, hard=hard, alone=alone)
    least = own.least()
    upper, bound, nodes = own.searched(np.inf)
    if not np.isfinite(least):
        assert (upper, own.placed) == (np.inf, None)
        return
    assert own.placed is not None
    assert own.worth(own.placed) == pytest.approx(least, rel=1e-12)
    assert upper == pytest.approx(least, rel=1e-12)
    assert bound == pytest.approx(least, rel=1e-10)
    assert nodes < sum(M**k for k in range(1, N + 1))


def test_a_start_that_is_the_best_is_kept_and_proved() -> None:
    own = Round(1)
    least = own.least()
    upper, bound, nodes = own.searched(least)
    assert (upper, own.placed) == (least, None)
    assert bound == pytest.approx(least, rel=1e-10)
    assert nodes < own.searched(np.inf)[2]


@pytest.mark.parametrize("limit", [0, 3, 20])
def test_a_search_that_ends_early_has_a_bound_that_holds(limit: int) -> None:
    own = Round(2)
    least = own.least()
    upper, bound, nodes = own.searched(2.0 * least, limit)
    assert nodes <= limit + 1
    assert bound <= least * (1 + 1e-12)
    assert upper >= least * (1 - 1e-12)
    assert own.searched(np.inf, 0)[1] <= least  # nothing is known without a placement
