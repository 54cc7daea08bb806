"""Reflected Halpern iterations with restarts: the same answers, their rate, and when they pay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.admm.test_admm import OBJECTIVES, cluster

import walras as wl
from walras.engines.admm import ADMM
from walras.engines.admm.engine import _restarts
from walras.engines.admm.form import make_form
from walras.engines.admm.method import Method
from walras.engines.admm.restarts import Restarts
from walras.engines.admm.schemes import Collapsed, Scheme, Splitting
from walras.engines.admm.slices.slice import cut
from walras.engines.admm.start import beginning
from walras.engines.admm.worker_pool import Threads
from walras.separable import Separable
from walras.settings import Settings
from walras.types import Floats

cs = wl.domains.cluster_scheduling


@pytest.mark.parametrize("collapse", [False, True], ids=["copies", "collapsed"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_answer_is_the_same(objective: object, collapse: bool) -> None:
    problem = cluster(objective)
    known = wl.solve(problem, engine="exact", tolerance=1e-6)
    options = ADMM(restarts=True, collapse=collapse)
    found = options.solve(problem, Settings(tolerance=1e-3, threads=2))
    assert found.status is wl.Status.OPTIMAL
    scale = problem.gap_scale or abs(known.value)
    assert problem.reported(found.history[-1].value) == pytest.approx(
        problem.reported(known.value), abs=1.1e-3 * scale
    )


def _running(problem: Separable, scheme: Scheme, iterations: int) -> tuple[Method, Scheme]:
    form = make_form(problem, collapse=isinstance(scheme, Collapsed))
    first = beginning(form, None, None)
    method = Method(form, Threads().open(cut(form, 1, first.x, first.price)), first)
    for _ in range(iterations):
        scheme.iterate(method)
    return method, scheme


class _Watched(Restarts):
    """Keeps the residuals of every epoch."""

    def __init__(self) -> None:
        self.epochs: list[list[float]] = [[]]
        super().__init__(wl.engines.RestartRule())

    def note(self, residual: float) -> bool:
        self.epochs[-1].append(residual)
        over = super().note(residual)
        if over:
            self.epochs.append([])
        return over


@pytest.mark.parametrize("kind", [Splitting, Collapsed], ids=["copies", "collapsed"])
def test_restarts_happen_and_epochs_begin_nearer_and_nearer(kind: type) -> None:
    problem = cluster(cs.total_throughput, 6, 20)
    scheme = Splitting(1.8, restarts=True) if kind is Splitting else Collapsed(restarts=True)
    scheme._restarts = watch = _Watched()
    _running(problem, scheme, 400)
    assert watch.count >= 5
    starts = [epoch[0] for epoch in watch.epochs if epoch]
    assert starts[-1] < 1e-4 * starts[0]


@pytest.mark.parametrize("restarts", [False, True])
def test_rho_moves_between_epochs_or_ever_more_rarely(restarts: bool) -> None:
    problem = cluster(cs.total_throughput, 12, 60)
    scheme = Splitting(1.8, restarts=restarts)
    method, _ = _running(problem, scheme, 200)
    method.rescale(1e-3)  # far too small: the next look says so
    looks = list[int]()
    rho = method.rho
    for _ in range(600):
        before = method.rho
        scheme.iterate(method)
        looks += [method.count] if method.seen == method.count else []
        if method.rho != before:
            assert method.seen == method.count
            assert scheme._restarts is None or scheme._restarts.starting
    assert method.rho > rho
    if not restarts:
        assert np.all(np.diff(looks) >= 0.3 * np.array(looks[:-1]))


def _linear_operator(seed: int) -> tuple[Callable[[Floats], Floats], int]:
    """T of Douglas-Rachford splitting for ``min c x, A x = b, x >= 0``."""
    rng = np.random.default_rng(seed)
    A, n = rng.normal(size=(6, 15)), 15
    b, c = A @ rng.random(n), rng.random(n)
    solve = A.T @ np.linalg.inv(A @ A.T)

    def operator(z: Floats) -> Floats:
        x = np.maximum(z - c, 0.0)
        v = 2.0 * x - z
        y = v - solve @ (A @ v - b)
        return z + y - x

    return operator, n


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_residual_falls_as_fast_as_halperns_bound_in_every_epoch(seed: int) -> None:
    # ||z_k - T z_k|| <= ||z_0 - z*|| / (k + 1): the bound is monotone, the residual need not be.
    operator, n = _linear_operator(seed)
    limit = np.zeros(n)
    for _ in range(20_000):
        limit = operator(limit)
    watch, z = _Watched(), np.zeros(n)
    anchor, k = z, 0
    for _ in range(300):
        if watch.starting:
            anchor, k = z, 0
        share, reached = watch.share, operator(z)
        residual = float(np.linalg.norm(reached - z))
        assert residual <= np.linalg.norm(anchor - limit) / (k + 1) * (1 + 1e-6) + 1e-9
        z = anchor + share * (2.0 * reached - z - anchor)
        watch.note(residual)
        k += 1
    assert watch.count >= 3
    seen = [epoch for epoch in watch.epochs if epoch]
    assert seen[-1][-1] < 0.1 * seen[0][0]


def test_they_are_on_where_they_were_measured_to_pay() -> None:
    linear, shared = cluster(cs.total_throughput, 4, 10), cluster(cs.max_min, 4, 10)
    curved = cluster(cs.proportional_fairness, 4, 10)
    assert [_restarts(make_form(p)) for p in (linear, shared, curved)] == [True, False, False]


def test_a_collapsed_solve_takes_far_fewer_iterations_with_them() -> None:
    problem = cluster(cs.total_throughput, 12, 60)
    counts = []
    for restarts in (True, False):
        options = ADMM(collapse=True, restarts=restarts, iterations=5000)
        counts.append(options.solve(problem, Settings(tolerance=1e-4, threads=1)).history[-1])
    assert counts[0].gap <= 1e-4
    assert 2 * counts[0].iteration <= counts[1].iteration


@pytest.mark.parametrize("mode", ["paper", "penalty"])
def test_other_modes_refuse_them(mode: str) -> None:
    with pytest.raises(wl.InputError, match="setting restarts"):
        ADMM(mode=mode, restarts=True)
