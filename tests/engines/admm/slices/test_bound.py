"""A slice's contribution to a dual bound: payments, reduced costs and the least cost of entries."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.admm.test_admm import cluster

import walras as wl
from walras.certificate import dual_bound
from walras.engines.admm.form import Form, make_form
from walras.engines.admm.slices.row_classification import roles
from walras.engines.admm.slices.slice import cut
from walras.engines.admm.worker import Worker
from walras.separable import Separable
from walras.types import Floats

cs = wl.domains.cluster_scheduling


def worker(problem: Separable, prices: Floats) -> tuple[Worker, Form]:
    """A worker of all demands at prices of their rows."""
    form = make_form(problem)
    of_groups = np.append(prices, 0.0)[form.groups.source]
    (one,) = cut(form, 1, np.zeros(problem.entries), of_groups, roles(form))
    return Worker(one), form


def test_prices_of_the_wrong_sign_are_loaded_as_nothing() -> None:
    problem = cluster(cs.total_throughput, 3, 6)
    prices = np.where(np.arange(problem.rows.count) % 2, 1.0, -1.0)  # all rows are upper bounds
    own, form = worker(problem, prices)
    own.bound.load_prices()
    held = form.groups.source >= 0
    wanted = np.maximum(prices[form.groups.source[held]], 0.0)
    np.testing.assert_array_equal(own.bound.loaded_prices()[held], wanted)


def test_the_scalars_payment_is_its_rows_prices() -> None:
    problem = cluster(cs.max_min, 3, 6)
    prices = np.random.default_rng(0).random(problem.rows.count)
    own, _ = worker(problem, prices)
    own.bound.load_prices()
    paid, size = own.bound.scalar_payment().sum(axis=0)
    column = problem.rows.scalar_matrix[:, 0]
    assert paid == pytest.approx(float(column @ prices), rel=1e-12)
    assert size == pytest.approx(float(np.abs(column * prices).sum()), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_repaired_prices_prove_what_they_prove_in_one_place(seed: int) -> None:
    problem = cluster(cs.total_throughput, 3, 6)
    prices = np.random.default_rng(seed).random(problem.rows.count)
    own, form = worker(problem, prices)
    narrow = np.append(prices[form.narrow.source[:-1]], 0.0)
    own.bound.load_prices()
    rise = own.bound.repair_prices(narrow, 1.0, 1.0).max(axis=0)
    assert np.all(rise >= 0.0)
    own.bound.keep()
    found = np.zeros(problem.rows.count)
    found[form.narrow.source[:-1]] = (narrow + rise)[:-1]
    held = form.groups.source >= 0
    found[form.groups.source[held]] = own.bound.best()[held]
    reduced = problem.cost + problem.rows.matrix.T @ found
    assert np.all(reduced >= -1e-9)  # no entry without a limit improves without end
    value = float(-found @ problem.rows.upper)
    assert value <= dual_bound(problem, found).value + 1e-9
    best = wl.solve(problem, engine="exact", threads=1)
    assert value <= -best.value + 1e-9
