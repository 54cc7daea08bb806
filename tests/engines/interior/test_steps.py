"""Directions solve the linearised optimality conditions, written out again here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.engines.interior.solved import OBJECTIVES, cluster, cs

from walras.engines.interior.form import INEQUALITY, make_form
from walras.engines.interior.point import Layout, products, residuals
from walras.engines.interior.start import cold_start
from walras.engines.interior.steps import System, iterate
from walras.kernels.schur.elimination import CpuElimination


def system_of(objective: Any, seed: int = 0) -> System:
    form = make_form(cluster(objective, seed))
    layout = Layout.of(form)
    point = cold_start(form, layout)
    shaken = point.plus(point, 0.0, 0.0)  # type: ignore[arg-type]
    noise = np.random.default_rng(seed).uniform(0.5, 1.5, len(point.primal))
    shaken.primal[:] *= noise
    elimination = CpuElimination(form.ptr, form.local, form.narrow, 1)
    return System.of(form, layout, shaken, residuals(form, layout, shaken), elimination)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(3))
def test_a_full_predictor_step_ends_all_linear_residuals(objective: Any, seed: int) -> None:
    system = system_of(objective, seed)
    form, point, step = system.form, system.point, system.predictor()
    primal = form.matrix @ step.x + form.border @ step.t + step.s
    np.testing.assert_allclose(primal, system.residuals.primal, atol=1e-8)
    dual = form.h * step.x + form.transposed @ step.p - step.z
    dual[system.layout.bounded] += step.y
    np.testing.assert_allclose(dual, -system.residuals.dual, atol=1e-8)
    np.testing.assert_allclose(form.border.T @ step.p, -system.residuals.border, atol=1e-8)
    pair = point.x * step.z + point.z * step.x  # x z + dx z + x dz = 0
    np.testing.assert_allclose(pair, -point.x * point.z, rtol=1e-8, atol=1e-10)
    rows = form.kind == INEQUALITY
    pair = (point.s * step.p + point.p * step.s)[rows]
    np.testing.assert_allclose(pair, -(point.s * point.p)[rows], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_iteration_stays_inside_and_lowers_products_and_residuals(objective: Any) -> None:
    system = system_of(objective)
    before = products(system.layout, system.point)
    point, primal, dual = iterate(system, 0.0)
    assert 0.0 < primal <= 1.0
    assert 0.0 < dual <= 1.0
    assert point.x.min() > 0.0
    assert point.z.min() > 0.0
    assert point.s[system.layout.slack_positive].min() > 0.0
    assert products(system.layout, point) < before
    after = residuals(system.form, system.layout, point)
    assert after.primal_error < system.residuals.primal_error


def test_the_target_never_falls_below_what_is_asked_for() -> None:
    system = system_of(cs.max_min)
    mu = system.residuals.mu
    high, _, _ = iterate(system, mu)
    low, _, _ = iterate(system, 0.0)
    assert products(system.layout, high) > products(system.layout, low)
