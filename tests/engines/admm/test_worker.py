"""A slice's passes against their formulas: use of rows, moves of copies, and changes."""

from __future__ import annotations

import numpy as np
from tests.engines.admm.test_admm import OBJECTIVES, cluster

from walras.engines.admm.form import make_form
from walras.engines.admm.slices.slice import cut
from walras.engines.admm.worker import Worker
from walras.types import Floats


def made(seed: int = 0) -> tuple[Worker, Floats]:
    form = make_form(cluster(OBJECTIVES[2], 4, 9))
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 0.5, form.entries.count)
    (one,) = cut(form, 1, x, np.zeros(form.groups.kind.shape))
    return Worker(one), np.append(rng.random(len(form.narrow.source) - 1), 0.0)


def answers(own: Worker, price: Floats) -> Floats:
    """Each copy's answer at prices over rho: 2 x - z - p a / w, within its entry's bounds."""
    e = own.data.entries
    entry = np.repeat(np.arange(e.count), np.diff(e.copies))
    free = 2.0 * own.x[entry] - own.state - price[e.row] * e.a / e.w
    return np.asarray(np.clip(free, e.lower[entry], e.upper[entry]))


def test_a_state_at_prices_is_a_fixed_point_of_these_prices() -> None:
    own, price = made()
    own.init_at_prices(0.7, price)
    e = own.data.entries
    entry = np.repeat(np.arange(e.count), np.diff(e.copies))
    np.testing.assert_allclose(0.7 * e.w * (own.x[entry] - own.state), e.a * price[e.row])


def test_the_use_of_rows_is_the_answers_of_their_copies() -> None:
    own, price = made()
    own.init_at_prices(0.7, price)
    used = own.row_usage(1.3 * price).sum(axis=0)
    e, y = own.data.entries, answers(own, 1.3 * price)
    np.testing.assert_allclose(used[0], np.bincount(e.row, e.a * y, len(price)), rtol=1e-12)


def test_copies_move_by_their_distance_from_their_entry() -> None:
    own, price = made()
    own.init_at_prices(0.7, price)
    e, y, before = own.data.entries, answers(own, 1.3 * price), own.state.copy()
    entry = np.repeat(np.arange(e.count), np.diff(e.copies))
    apart, size, _ = own.advance(1.3 * price, 1.6).sum(axis=0)
    np.testing.assert_allclose(own.state, before + 1.6 * (y - own.x[entry]), rtol=1e-12)
    np.testing.assert_allclose(apart, np.sum(e.w * (y - own.x[entry]) ** 2), rtol=1e-12)
    np.testing.assert_allclose(size, np.sum(e.w * own.x[entry] ** 2), rtol=1e-12)


def test_a_new_penalty_leaves_the_multipliers() -> None:
    own, price = made()
    own.init_at_prices(0.7, price)
    e = own.data.entries
    entry = np.repeat(np.arange(e.count), np.diff(e.copies))
    before = 0.7 * e.w * (own.x[entry] - own.state)
    own.rescale(0.5)  # rho doubles
    np.testing.assert_allclose(1.4 * e.w * (own.x[entry] - own.state), before, rtol=1e-12)


def test_entries_and_prices_are_told_as_they_are() -> None:
    own, _ = made()
    np.testing.assert_array_equal(own.entries(), own.x)
    assert own.prices().shape == own.data.groups.kind.shape
    assert own.own_prices().shape == (0,)
