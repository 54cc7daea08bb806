"""The structure of a problem, against each attribute's definition written out entry by entry."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.bank.statement import Entry, Row, state
from tests.certificate.messy import messy

from walras.certificate.structure import own_limit, structure
from walras.separable import Separable, Side

SEEDS = range(150)
ORDER = {Side.DEMAND: 0, Side.RESOURCE: 1, Side.COUPLED: 2}


class Definition:
    """A problem as dense arrays, and what each row and entry is called."""

    def __init__(self, problem: Separable) -> None:
        self.problem, self.rows = problem, problem.rows
        self.a, self.e = problem.rows.matrix.toarray(), problem.rows.scalar_matrix
        self.count, self.entries = self.a.shape

    def limiting(self, k: int) -> bool:
        """No scalar, no negative coefficient, no entry that may be negative, 0 <= b finite."""
        inside = self.a[k] != 0
        return bool(
            not np.any(self.e[k])
            and np.all(self.a[k] >= 0)
            and np.all(self.problem.lower[inside] >= 0)
            and 0 <= self.rows.upper[k] < np.inf
        )

    def packing(self, k: int) -> bool:
        return self.limiting(k) and self.rows.lower[k] <= 0

    def cap(self, q: int) -> int:
        """A demand's limiting row before a resource's before a coupled one, the first of each."""
        held = [k for k in range(self.count) if self.a[k, q] > 0 and self.limiting(k)]
        return min(held, key=lambda k: (ORDER[Side(int(self.rows.side[k]))], k), default=-1)

    def limit(self, q: int) -> float:
        k = self.cap(q)
        return np.inf if k < 0 else float(self.rows.upper[k] / self.a[k, q])

    def endless(self, q: int) -> bool:
        """Without an upper bound, a quadratic cost or a lower bound other than zero."""
        p = self.problem
        return bool(p.lower[q] == 0 and np.isinf(p.upper[q]) and p.quadratic[q] == 0)

    def open_rows(self) -> list[bool]:
        fixed = self.problem.lower == self.problem.upper
        capped = [[q for q in range(self.entries) if self.cap(q) == k] for k in range(self.count)]
        found = [
            self.packing(k)
            and any(self.endless(q) for q in capped[k])
            and all(self.endless(q) or fixed[q] for q in capped[k])
            for k in range(self.count)
        ]
        alone = all(
            self.cap(q) == k
            for k in range(self.count)
            for q in range(self.entries)
            if found[k] and self.a[k, q] != 0
        )
        return [one and alone for one in found]

    def shares(self, k: int) -> bool:
        """A limiting row with a least, with entries that only it holds and nothing else limits."""
        bounded = np.isfinite(self.rows.lower) | np.isfinite(self.rows.upper)
        plain = bounded & ~np.any(self.e, axis=1)
        return bool(
            self.limiting(k)
            and self.rows.lower[k] > 0
            and np.any(self.a[k])
            and all(
                self.endless(q) and np.sum(plain & (self.a[:, q] != 0)) == 1
                for q in range(self.entries)
                if self.a[k, q] != 0
            )
        )

    def reach(self, q: int) -> float:
        own = max(abs(self.problem.lower[q]), abs(self.problem.upper[q]))
        return min(own, self.limit(q), 1.0) or 1.0

    def least(self, k: int, reach: list[float]) -> float:
        terms = [abs(self.a[k, q]) * reach[q] for q in range(self.entries)]
        return float(min((term for term in [*terms, *abs(self.e[k])] if term > 0), default=0.0))


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_and_entries_are_what_their_definitions_say(seed: int) -> None:
    problem = messy(seed)
    by, found = Definition(problem), structure(problem)
    rows, entries = range(by.count), range(by.entries)
    curved = problem.quadratic > 0
    assert found.limiting.tolist() == [by.limiting(k) for k in rows]
    assert found.packing.tolist() == [by.packing(k) for k in rows]
    assert found.negative.tolist() == [bool(np.any(by.a[k] < 0)) for k in rows]
    assert found.cap.tolist() == [by.cap(q) for q in entries]
    caps = [by.a[by.cap(q), q] if by.cap(q) >= 0 else 1.0 for q in entries]
    assert found.coefficient.tolist() == caps
    assert found.exempt.tolist() == (np.isfinite(problem.upper) | curved).tolist()
    assert found.moved.tolist() == [q for q in entries if curved[q] or problem.lower[q] != 0]
    assert found.open_rows.tolist() == by.open_rows()
    assert found.shares.tolist() == [by.shares(k) for k in rows]
    assert own_limit(problem, found).tolist() == [by.limit(q) for q in entries]
    some = np.arange(by.entries)[::-2]
    assert own_limit(problem, found, some).tolist() == [by.limit(q) for q in some]


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_without_bounds_and_least_terms_are_what_their_definitions_say(seed: int) -> None:
    problem = messy(seed)
    by, found = Definition(problem), structure(problem)
    rows, entries = range(by.count), range(by.entries)
    ends = np.isinf(problem.lower).astype(int) + np.isinf(problem.upper)
    flat = problem.quadratic == 0
    free = [q for q in entries if ends[q] == 2 and flat[q]]
    assert found.free.tolist() == free
    loose = (ends == 1) & flat & [by.cap(q) < 0 for q in entries]
    assert found.loose.tolist() == np.flatnonzero(loose).tolist()
    scalars = np.flatnonzero(np.isinf(problem.scalar_lower) & np.isinf(problem.scalar_upper))
    assert found.free_scalars.tolist() == scalars.tolist()
    columns = np.hstack([by.e[:, scalars], by.a[:, free]])
    if columns.shape[1]:
        assert found.free_columns is not None
        assert np.array_equal(found.free_columns.toarray(), columns)
    else:
        assert found.free_columns is None
    assert found.holds_free.tolist() == np.any(columns != 0, axis=1).tolist()
    nothing = ~np.any(by.a, axis=1) & ~np.any(by.e, axis=1)
    assert found.unmoved.tolist() == (problem.rows.is_utility & nothing).tolist()
    assert found.homogeneous == (
        not np.any(problem.cost) and bool(np.all(flat)) and not np.any(problem.rows.is_utility)
    )
    assert found.least_coefficient.tolist() == [by.least(k, [1.0] * by.entries) for k in rows]
    reach = [by.reach(q) for q in entries]
    assert found.least_term == pytest.approx([by.least(k, reach) for k in rows], rel=1e-15)


def test_the_random_problems_have_rows_of_every_kind() -> None:
    """What the two tests above compare is not always the same answer."""
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        found = structure(messy(seed))
        for name in ("limiting", "packing", "negative", "open_rows", "shares", "unmoved"):
            seen[name] += bool(np.any(getattr(found, name)))
        for name in ("loose", "free", "free_scalars", "moved"):
            seen[name] += len(getattr(found, name)) > 0
    assert min(seen.values()) >= 5, seen
    assert len(seen) == 10


@pytest.mark.parametrize(
    ("entry", "row", "alike"),
    [
        (Entry(0, 0), Row("most[0]", {0: 1.0}, upper=1.0), True),
        (Entry(0, 0, cost=1.0), Row("most[0]", {0: 1.0}, upper=1.0), False),
        (Entry(0, 0, quadratic=1.0), Row("most[0]", {0: 1.0}, upper=1.0), False),
        (Entry(0, 0), Row("log[0]", {0: 1.0}, utility=1), False),  # type: ignore[arg-type]
    ],
)
def test_prices_scale_together_where_nothing_costs(entry: Entry, row: Row, alike: bool) -> None:
    assert structure(state([entry], [row])).homogeneous is alike
