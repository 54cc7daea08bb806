"""More columns for a run in progress: what is known is kept, what is new overloads nothing."""

from __future__ import annotations

import numpy as np
import pytest

import walras as wl
from walras.engines.interior.columns import carried, slim
from walras.engines.interior.form import INEQUALITY, Form, Restriction, make_form
from walras.engines.interior.loop import run
from walras.engines.interior.point import Layout, Point, residuals
from walras.engines.interior.start import cold_start, scaled_inside
from walras.kernels.schur.elimination import CpuElimination

cs = wl.domains.cluster_scheduling
TYPES, JOBS = 12, 80


@pytest.fixture(params=[cs.max_min, cs.proportional_fairness])
def grown(request: pytest.FixtureRequest) -> tuple[Form, Form, Point, float]:
    """A form on a third of the entries, one on all, a point of the first, its barrier parameter."""
    rng = np.random.default_rng(5)
    speed = rng.lognormal(0.0, 1.0, (TYPES, JOBS))
    size = 2.0 ** rng.integers(0, 7, JOBS)
    problem = request.param(speed, size, rng.choice([8.0, 64.0], TYPES))
    owner, k = problem.demand, np.arange(problem.entries)
    few = make_form(problem, Restriction(k[(k + owner) % 3 == 0]))
    layout = Layout.of(few)
    elimination = CpuElimination(few.ptr, few.local, few.narrow, 1)
    ending = run(few, layout, cold_start(few, layout), 1e-3, 60, elimination, lambda *_: False)
    assert ending.converged
    return few, make_form(problem), ending.point, ending.residuals.mu


def test_known_columns_keep_their_values_and_new_ones_are_positive(
    grown: tuple[Form, Form, Point, float],
) -> None:
    few, form, point, mu = grown
    layout = Layout.of(form)
    start = carried(form, layout, few, slim(point), mu)
    kept = np.isin(form.columns, few.columns)
    np.testing.assert_array_equal(start.x[kept], point.x)
    assert np.all(start.x > 0)
    assert np.all(start.z > 0)
    assert np.all(start.s[layout.pairs] > 0)
    assert np.all(start.p[layout.pairs] > 0)
    assert residuals(form, layout, start).dual_error < 1e-12


def test_new_columns_together_fill_little_of_a_row(grown: tuple[Form, Form, Point, float]) -> None:
    few, form, point, mu = grown
    start = carried(form, Layout.of(form), few, slim(point), mu)
    new = np.where(np.isin(form.columns, few.columns), 0.0, start.x)
    held = (form.kind == INEQUALITY) & (form.b > 0)
    load = (form.matrix @ new)[held] / form.b[held]
    assert 0.01 < np.max(load) <= 0.05 * (1 + 1e-12)


def test_columns_scaled_inside_keep_to_every_row_and_lose_no_more_than_they_must() -> None:
    form = make_form(cs.max_min(np.ones((2, 3)), [1.0, 4.0, 2.0], [2.0, 3.0]))
    x, room = np.ones(len(form.c)), np.where(form.b > 0, form.b, np.inf)
    scaled = scaled_inside(form, x, room)
    load = form.matrix @ scaled
    assert np.all(load <= room * (1 + 1e-15))
    # Each type is asked for 7 units where it has 2 or 3, each job for 2 where it has 1.
    of_type = form.problem.resource[form.columns]
    assert [set(scaled[of_type == i]) for i in (0, 1)] == [{2 / 7}, {3 / 7}]
    np.testing.assert_array_equal(scaled_inside(form, x, np.full(len(room), np.inf)), x)
