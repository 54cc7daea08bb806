"""An allocation under repair: use of rows, covers evened out, rows met, and what is kept."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.admm.test_admm import cluster

import walras as wl
from walras.engines.admm.form import Form, make_form
from walras.engines.admm.slices.repair import evened, violations
from walras.engines.admm.slices.row_classification import roles
from walras.engines.admm.slices.slice import cut
from walras.engines.admm.worker import Worker
from walras.separable import Separable
from walras.types import Floats

cs = wl.domains.cluster_scheduling


def worker(problem: Separable, x: Floats) -> tuple[Worker, Form]:
    form = make_form(problem)
    (one,) = cut(form, 1, x[form.order], np.zeros(form.groups.kind.shape), roles(form))
    return Worker(one), form


def test_covers_are_evened_up_to_twice_their_size() -> None:
    cover = np.array([True, True, True, True, False])
    load = np.array([-2.0, -4.0, -0.1, 0.0, -2.0])
    found = evened(cover, load, np.ones(5), 3.0)
    assert found.tolist() == [1.5, 0.75, 2.0, 1.0, np.inf]


def test_the_use_of_rows_is_that_of_the_clipped_entries() -> None:
    problem = cluster(cs.total_throughput, 4, 9)
    x = np.random.default_rng(0).normal(0.3, 1.0, problem.entries)
    own, form = worker(problem, x)
    used = own.repair.begin(0.0).sum(axis=0)
    clipped = np.clip(x, problem.lower, problem.upper)
    activity = problem.rows.matrix @ clipped
    np.testing.assert_allclose(used[:-1], activity[form.narrow.source[:-1]], rtol=1e-12)
    value = float(own.repair.value().sum(axis=0)[0])
    assert value == pytest.approx(float(problem.cost @ clipped), rel=1e-12)


def test_small_entries_are_dropped_and_numbers_that_are_none_are_nothing() -> None:
    problem = cluster(cs.total_throughput, 4, 9)
    x = np.full(problem.entries, 0.5)
    x[problem.resource == 0] = 1e-6
    x[problem.resource == 1] = np.nan
    own, form = worker(problem, x)
    own.repair.begin(1e-3)
    own.repair.keep()
    kept = np.empty(problem.entries)
    kept[form.order] = own.repair.best()
    assert not np.any(kept[problem.resource <= 1])
    np.testing.assert_array_equal(kept[problem.resource > 1], 0.5)


def test_rows_over_their_bound_are_met_by_scaling() -> None:
    problem = cluster(cs.total_throughput, 4, 9)
    own, form = worker(problem, np.ones(problem.entries))
    own.repair.begin(0.0)
    none = np.full(len(form.narrow.source), np.inf)
    own.repair.scale_to_rows(none)
    own.repair.keep()
    x = np.empty(problem.entries)
    x[form.order] = own.repair.best()
    time = np.bincount(problem.demand, x, 9)
    np.testing.assert_allclose(time, 1.0, rtol=1e-12)  # four machines asked for one job's time


def test_violations_are_relative_to_what_adds_up() -> None:
    form = make_form(cluster(cs.total_throughput, 2, 3))
    rows = form.narrow
    load = np.where(np.isfinite(rows.upper), rows.upper, 0.0) + 1.0
    over, scale = violations(rows, load, np.abs(load), 0.0)
    held = np.isfinite(rows.upper)
    np.testing.assert_allclose(over[held], 1.0)
    assert np.all(scale > 0.0)
