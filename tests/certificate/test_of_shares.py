"""The certificate of shares is that of the stated problem, for any shares and any prices."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import walras as wl
from walras.certificate import certify
from walras.certificate.of_shares import certify_shares
from walras.domains import cluster_scheduling as cs
from walras.separable import Separable
from walras.separable.shares import shares_of

RNG = np.random.default_rng(0)
SPEED = RNG.uniform(0.1, 1.0, (3, 300))
SIZE, WEIGHT = RNG.uniform(0.5, 2.0, (3, 300)), RNG.uniform(0.5, 2.0, 300)
CAPACITY = np.array([20.0, 60.0, 40.0])
BUILDERS: dict[str, Callable[..., Separable]] = {
    "max-min": cs.max_min,
    "pf": cs.proportional_fairness,
    "total": cs.total_throughput,
    "half": partial(cs.alpha_fair, alpha=0.5),
    "two": partial(cs.alpha_fair, alpha=2.0),
}


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("seed", range(4))
def test_any_shares_and_prices(name: str, seed: int) -> None:
    problem = BUILDERS[name](SPEED, SIZE, CAPACITY, WEIGHT)
    shares = shares_of(problem)
    assert shares is not None
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 0.6, problem.entries)
    prices = rng.uniform(0.1, 1.0, problem.rows.count)
    if name in ("pf", "half", "two"):
        prices[303:] *= -1.0
    ours = certify_shares(problem, shares, x.copy(), prices.copy())
    theirs = certify(problem, x, np.zeros(problem.scalars), prices)
    assert ours.bound == pytest.approx(theirs.bound, rel=1e-12)
    # Both repairs are feasible; neither is always the better one.
    assert ours.feasible
    assert theirs.feasible
    assert ours.value >= ours.bound - 1e-9 * abs(ours.bound)
    np.testing.assert_allclose(ours.reduced, theirs.reduced, atol=1e-9)


def test_the_value_is_that_of_the_stated_problem() -> None:
    for name, build in BUILDERS.items():
        problem = build(SPEED, SIZE, CAPACITY, WEIGHT)
        shares = shares_of(problem)
        assert shares is not None
        s = wl.solve(problem, engine="prices")
        ours = certify_shares(problem, shares, s.certificate.x.copy(), s.certificate.prices.copy())
        assert ours.value == pytest.approx(s.certificate.value, rel=1e-9), name
        assert ours.gap == pytest.approx(s.certificate.gap, abs=1e-9), name


def test_broken_numbers_are_repaired_and_prove_nothing_false() -> None:
    problem = cs.proportional_fairness(SPEED, SIZE, CAPACITY)
    shares = shares_of(problem)
    assert shares is not None
    x = np.full(problem.entries, np.nan)
    found = certify_shares(problem, shares, x, np.full(problem.rows.count, np.inf))
    assert found.feasible
    assert found.gap == np.inf
    none = cs.max_min(SPEED, SIZE, CAPACITY)
    assert certify_shares(none, shares_of(none) or shares, x, np.zeros(603)).gap == np.inf


def test_it_can_be_saved() -> None:
    problem = cs.total_throughput(SPEED, SIZE, CAPACITY)
    shares = shares_of(problem)
    assert shares is not None
    found = certify_shares(problem, shares, np.zeros(900), np.ones(303)).as_read_only()
    assert not found.x.flags.writeable
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.reduced, found.reduced)
    assert again.bound == found.bound
