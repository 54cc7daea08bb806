"""The factored Newton system against one dense solve of all its equations."""

from __future__ import annotations

import numpy as np
import pytest

import walras as wl
from walras.engines.interior.form import Form, make_form
from walras.engines.interior.newton import Newton
from walras.kernels.schur.elimination import CpuElimination
from walras.types import Floats

cs = wl.domains.cluster_scheduling


def form_of(seed: int, *, scalar: bool) -> Form:
    rng = np.random.default_rng(seed)
    objective = cs.max_min if scalar else cs.proportional_fairness
    return make_form(objective(rng.lognormal(size=(3, 7)), np.ones(7), np.full(3, 2.0)))


def dense(form: Form, d: Floats, theta: Floats, right: tuple[Floats, Floats, Floats]) -> Floats:
    """The three equations of the module as one matrix, solved by LAPACK."""
    a, e = form.matrix.toarray(), form.border
    n, k = len(form.c), len(form.e)
    system = np.block(
        [
            [np.diag(1.0 / d), a.T, np.zeros((n, k))],
            [a, -np.diag(theta), e],
            [np.zeros((k, n)), e.T, np.diag(form.border_h)],
        ]
    )
    g, beta, tau = right
    return np.linalg.solve(system, np.concatenate([g, -beta, tau]))


@pytest.mark.parametrize("scalar", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_direction_solves_all_equations(scalar: bool, threads: int) -> None:
    form = form_of(3, scalar=scalar)
    rng = np.random.default_rng(4)
    n, m, k = len(form.c), len(form.b), len(form.e)
    d, theta = rng.lognormal(size=n), rng.lognormal(size=m)
    right = rng.normal(size=n), rng.normal(size=m), rng.normal(size=k)
    newton = Newton.factor(
        form, CpuElimination(form.ptr, form.local, form.narrow, threads), d, theta
    )
    found = newton.solve(*right)
    wanted = dense(form, d, theta, right)
    np.testing.assert_allclose(found.x, wanted[:n], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.p, wanted[n : n + m], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.t, wanted[n + m :], rtol=1e-9, atol=1e-10)
