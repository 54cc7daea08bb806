"""Proofs by sums prove what proofs in one place do, whoever holds the demands."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bank.bank import CASES
from tests.bank.random_problems import problems
from tests.bank.statement import Entry, Row, Scalar, state
from tests.engines.admm.proofs.points import standing_at
from tests.engines.admm.test_admm import OBJECTIVES, cluster

import walras as wl
from walras.certificate import certify, dual_bound, violation
from walras.engines.admm import ADMM, worker_pool
from walras.engines.admm.form import make_form
from walras.engines.admm.method import Method
from walras.engines.admm.passes import (
    PASSES,
    Answer,
    Call,
    Pass,
    RepairPasses,
    Resume,
    calls_of,
)
from walras.engines.admm.proofs.central_prover import CentralProver
from walras.engines.admm.proofs.distributed_prover import DistributedProver
from walras.engines.admm.proofs.incumbent import Incumbent
from walras.engines.admm.proofs.tighten_duals import DualTightening
from walras.engines.admm.slices.row_classification import roles
from walras.engines.admm.slices.slice import Slice
from walras.engines.admm.worker import Worker
from walras.engines.admm.worker_pool import LocalPool, Threads, WorkerPool
from walras.progress_log import IterationLog
from walras.separable import Leximin, Separable, Utility
from walras.settings import Settings
from walras.types import Floats

cs = wl.domains.cluster_scheduling
te = wl.domains.traffic_engineering
FEASIBLE = 1e-9
BANK = [
    pytest.param(case.base, id=case.name)
    for case in CASES
    if not isinstance(case.problem, Leximin)
    and (case.base.integer is None or not np.any(case.base.integer))
    and roles(make_form(case.base)) is not None
]
GATHERED = ("free entry", "two free scalars")


def summed(method: Method, tightening: DualTightening) -> DistributedProver:
    """The prover of a problem with roles."""
    of_rows = roles(method.form)
    assert of_rows is not None
    return DistributedProver(method, tightening, of_rows)


def disturbed(problem: Separable, seed: int, noise: float) -> tuple[Floats, Floats, Floats]:
    """Near the optimum."""
    s = wl.solve(problem, engine="exact", tolerance=1e-6)
    rng = np.random.default_rng(seed)
    return (
        s.entries * rng.lognormal(0.0, noise, problem.entries),
        s.scalars * rng.lognormal(0.0, noise, problem.scalars),
        s.prices.rows * rng.lognormal(0.0, noise, problem.rows.count),
    )


def proved(problem: Separable, point: tuple[Floats, Floats, Floats], **how: Any) -> Any:
    """The proof by sums: the allocation, the bound, and what was kept."""
    with standing_at(problem, *point, **how) as (method, tightening):
        prover = summed(method, tightening)
        found = prover.allocation()
        prover.keep()
        return found, prover.bound(-np.inf), prover.best()


@pytest.mark.parametrize("problem", BANK)
@pytest.mark.parametrize("noise", [1e-6, 0.2])
def test_the_bank_is_proved_as_in_one_place(problem: Separable, noise: float) -> None:
    point = disturbed(problem, 1, noise)
    found, bound, (x, t, prices) = proved(problem, point, slices=2)
    with standing_at(problem, *point) as (method, tightening):
        known = CentralProver(problem, method, tightening, 1)
        expected, best = known.allocation(), known.bound(-np.inf)
    scale = max(abs(expected.value), 1.0)
    assert found.violation <= max(FEASIBLE, 1.001 * expected.violation)
    assert found.value == pytest.approx(expected.value, abs=1e-7 * scale)
    assert found.terms >= 0.999 * expected.terms
    assert bound == pytest.approx(best, abs=1e-9 * scale)
    certificate = certify(problem, x, t, prices)
    assert certificate.value == pytest.approx(found.value, abs=1e-9 * scale)
    assert certificate.bound >= bound - 1e-9 * scale


@pytest.mark.parametrize("noise", [1e-6, 1e-2])
@pytest.mark.parametrize("slices", [1, 3])
def test_rows_of_single_demands_are_proved_as_in_one_place(noise: float, slices: int) -> None:
    net = te.load_topology("B4", synthetic=True)
    traffic = te.lognormal_traffic(net, seed=1, total=0.3 * float(np.sum(net.capacity)))
    problem = te.max_total_flow_by_link(net, traffic)
    point = disturbed(problem, 1, noise)
    found, bound, (x, t, prices) = proved(problem, point, slices=slices, own=True)
    with standing_at(problem, *point) as (method, tightening):
        known = CentralProver(problem, method, tightening, 1)
        expected, best = known.allocation(), known.bound(-np.inf)
    assert found.violation <= FEASIBLE
    assert expected.violation <= FEASIBLE
    assert found.value == pytest.approx(expected.value, rel=1e-6)
    assert bound == pytest.approx(best, rel=1e-9)
    certificate = certify(problem, x, t, prices)
    assert certificate.value == pytest.approx(found.value, rel=1e-9)
    assert certificate.bound == pytest.approx(bound, rel=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(OBJECTIVES), st.sampled_from([0.0, 0.01, 0.5]))
def test_any_point_is_proved_and_any_price_bounds(
    seed: int, objective: object, noise: float
) -> None:
    problem = cluster(objective, 6, 25, seed=seed)
    rng = np.random.default_rng(seed)
    point = disturbed(problem, seed, noise)
    if noise == 0.0:  # far from everything
        x, t, prices = (rng.normal(0.0, 1.0, len(part)) for part in point)
        point = x, t, prices
    found, bound, (x, t, prices) = proved(problem, point, slices=3)
    known = wl.solve(problem, engine="exact", tolerance=1e-8).certificate
    assert violation(problem, x, t) <= FEASIBLE
    assert found.violation <= FEASIBLE
    slack = 1e-7 * max(abs(known.value), 1.0)
    assert bound <= known.value + slack
    assert found.value >= known.bound - slack
    assert dual_bound(problem, prices).value >= bound - slack


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(0, 1000), st.sampled_from([1e-6, 0.2]))
def test_problems_of_every_kind_are_proved_as_in_one_place(
    problem: Separable, seed: int, noise: float
) -> None:
    point = disturbed(problem, seed, noise)
    found, bound, best = proved(problem, point, slices=1)
    with standing_at(problem, *point) as (method, tightening):
        known = CentralProver(problem, method, tightening, 1)
        expected, level = known.allocation(), known.bound(-np.inf)
    scale = max(abs(expected.value), 1.0)
    assert found.violation <= max(FEASIBLE, 1.001 * expected.violation)
    assert bound >= level - 1e-7 * scale
    if expected.violation <= FEASIBLE:  # rows that contradict one another end near by
        assert found.value == pytest.approx(expected.value, abs=1e-2 * scale)
    other, also, kept = proved(problem, point, slices=3)
    assert (other, also) == (found, bound)
    assert all(np.array_equal(a, b) for a, b in zip(kept, best, strict=True))


@pytest.mark.parametrize("collapse", [False, True])
@pytest.mark.parametrize("objective", [*OBJECTIVES, cs.alpha_fair])
def test_the_same_bits_whoever_holds_the_demands(objective: object, *, collapse: bool) -> None:
    kwargs = {"alpha": 2.0} if objective is cs.alpha_fair else {}
    problem = cluster(lambda *data: objective(*data, **kwargs), 10, 80)  # type: ignore[operator]
    point = disturbed(problem, 3, 0.3)
    (found, bound, best), *others = (
        proved(problem, point, slices=count, collapse=collapse) for count in (1, 2, 4)
    )
    for other, level, kept in others:
        assert (other, level) == (found, bound)
        assert all(np.array_equal(a, b) for a, b in zip(kept, best, strict=True))


def test_wholes_of_which_nothing_is_used_are_shared_out_equally() -> None:
    problem = next(case.base for case in CASES if case.name == "least peak load")
    point = np.zeros(problem.entries), np.zeros(problem.scalars), np.zeros(problem.rows.count)
    found, _, (x, _, _) = proved(problem, point)
    assert found.violation <= FEASIBLE
    assert np.all(x > 0)
    assert dual_bound(problem, np.zeros(problem.rows.count)).value <= found.value


class Losing(LocalPool):
    """Before one pass, or the pass of a number, a slice is lost, and begins somewhere else."""

    def __init__(self, slices: Sequence[Slice], at: int | Pass) -> None:
        super().__init__(slices, [Worker(one) for one in slices])
        self._slices, self._at, self._calls, self._lost = slices, at, 0, 0
        self._since: list[Call] = []

    @property
    def replaced(self) -> int:
        return self._lost

    def begin_iteration(self, resume: Resume) -> None:
        self._since = calls_of(resume)

    def _answers(self, one: Pass, *args: object) -> list[Answer]:
        self._calls += 1
        if self._at in (self._calls, one) and not self._lost:
            self._lost = 1
            first = self._slices[0]
            self._workers[0] = worker = Worker(
                replace(first, x=np.roll(first.x, 1), price=first.price[::-1].copy())
            )
            for done, given in self._since:
                done.run(worker, *given)
        self._since.append((one, args))
        return super()._answers(one, *args)


@pytest.mark.parametrize("at", range(2, 32))
def test_what_was_added_up_from_two_states_is_not_believed(at: int) -> None:
    problem = cluster(cs.max_min, 5, 20)
    point = disturbed(problem, 0, 0.05)
    with standing_at(problem, *point, slices=2, opened=partial(Losing, at=at)) as (
        method,
        tightening,
    ):
        prover, best = (
            summed(method, tightening),
            Incumbent(problem, IterationLog(Settings()), 1e-3),
        )
        best.prove(1, prover)
        best.hand_over(prover)
        assert method.pool.replaced == 1
    certificate = certify(problem, best.x, best.t, best.prices)
    assert certificate.value == pytest.approx(best.value, rel=1e-9)
    assert certificate.bound == pytest.approx(best.bound, rel=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_what_is_lost_as_it_is_handed_over_is_solved_again(objective: object) -> None:
    class Careless(Threads):
        def open(self, slices: Sequence[Slice]) -> WorkerPool:
            return Losing(slices, PASSES[RepairPasses.best])

    problem = cluster(objective, 8, 40)
    tolerance = Settings(tolerance=1e-4, threads=2)
    found = ADMM(executor=Careless()).solve(problem, tolerance)
    assert found.status is wl.Status.OPTIMAL
    assert certify(problem, found.x, found.t, found.prices).proves(1e-4)


def test_logarithms_under_a_peak_that_costs_are_proved() -> None:
    """A scalar in the resources' rows, utilities in the demands'."""
    entries = [Entry(i, j, 0.0) for j in range(6) for i in range(3)]
    speed = np.random.default_rng(0).lognormal(size=(6, 3))
    rows = [
        *(
            Row(f"load[r{i}]", {3 * j + i: 1.0 for j in range(6)}, upper=0.0, scalars={0: -2.0})
            for i in range(3)
        ),
        *(
            Row(f"speed[d{j}]", {3 * j + i: speed[j, i] for i in range(3)}, utility=Utility.LOG)
            for j in range(6)
        ),
        *(Row(f"time[d{j}]", {3 * j + i: 1.0 for i in range(3)}, upper=1.0) for j in range(6)),
    ]
    problem = state(entries, rows, scalars=[Scalar(1.5, 0.0, np.inf)])
    s = wl.solve(problem, engine="admm", tolerance=1e-4)
    assert (s.engine, s.status) == ("admm", wl.Status.OPTIMAL)
    assert s.value == pytest.approx(wl.solve(problem, engine="exact").value, abs=1e-3)


@pytest.mark.parametrize("noise", [1e-4, 1e-2, 0.1])
def test_demands_whose_rows_repeat_one_another_are_corrected(noise: float) -> None:
    rng, m, n = np.random.default_rng(0), 4, 30
    shares, size = rng.dirichlet(np.ones(m), n), rng.uniform(0.5, 2.0, n)
    entries = [Entry(i, j, rng.uniform(0.0, 1.0)) for j in range(n) for i in range(m)]
    rows = []
    for j in range(n):
        own = [j * m + i for i in range(m)]
        rows.append(Row(f"served[d{j}]", dict.fromkeys(own, 1.0), lower=1.0, upper=1.0))
        rows.append(Row(f"again[d{j}]", dict.fromkeys(own, 3.0), lower=3.0, upper=3.0))
        rows.append(Row(f"most[d{j}]", dict.fromkeys(own, 1.0), upper=1.0))
    for i in range(m):
        terms = {j * m + i: float(size[j]) for j in range(n)}
        used = float(size @ shares[:, i])
        exact = i < 2
        limits = (used, used) if exact else (-np.inf, 1.5 * used)
        rows.append(Row(f"use[r{i}]", terms, *limits))
    problem = state(entries, rows)
    optimum = wl.solve(problem, engine="exact").entries
    x = optimum * rng.lognormal(0.0, noise, len(optimum)) + 1e-4
    found, _, (kept, _, _) = proved(problem, (x, np.zeros(0), np.zeros(problem.rows.count)))
    assert found.violation <= FEASIBLE
    assert violation(problem, kept, np.zeros(0)) <= FEASIBLE


def test_a_whole_of_the_resources_of_which_nothing_is_used_is_shared_out() -> None:
    entries = [Entry(i, j, 1.0) for j in range(3) for i in range(2)]
    rows = [
        *(Row(f"work[d{j}]", {2 * j: 1.0}, utility=Utility.LOG) for j in range(3)),
        Row("whole[r1]", {1: 1.0, 3: 2.0, 5: 1.0}, lower=1.0, upper=1.0),
    ]
    problem = state(entries, rows)
    x = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    found, _, _ = proved(problem, (x, np.zeros(0), np.zeros(problem.rows.count)), slices=2)
    assert found.violation <= FEASIBLE


@pytest.mark.parametrize("spoilt", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_repaired(spoilt: float) -> None:
    problem = cluster(cs.max_min, 4, 10)
    x, _, prices = disturbed(problem, 0, 0.1)
    x[3] = spoilt
    found, _, _ = proved(problem, (x, np.array([spoilt]), prices))
    assert found.violation <= FEASIBLE
    assert np.isfinite(found.value)


def test_what_has_no_end_is_found_out_beside_entries_that_nothing_limits() -> None:
    entries = [Entry(0, j, 0.0, lower=1.0) for j in range(2)]
    problem = state(entries, [Row("work[r0]", {0: 1.0, 1: 1.0}, utility=Utility.LOG)])
    with pytest.raises(wl.UnboundedError):
        wl.solve(problem, engine="admm", tolerance=1e-3)


def served(seed: int, n: int, m: int, levels: bool) -> Separable:
    """Least cost of serving resources, and of tracking demands' targets or of raising the least."""
    rng = np.random.default_rng(seed)
    entries = [Entry(i, j, rng.uniform(0.1, 1.0)) for j in range(n) for i in range(m)]
    rows = []
    for j in range(n):
        brought = rng.uniform(0.5, 2.0, m)
        if levels:
            terms = {j * m + i: -brought[i] for i in range(m)}
            rows.append(Row(f"level[d{j}]", terms, upper=0.0, scalars={0: 1.0}))
        else:
            terms = {j * m + i: brought[i] for i in range(m)}
            target = float(rng.uniform(1.0, 2.0))
            rows.append(Row(f"track[d{j}]", terms, utility=Utility.QUADRATIC, parameter=target))
    for i in range(m):
        terms = {j * m + i: float(rng.choice([0.5, 1.0])) for j in range(n)}
        rows.append(Row(f"least[r{i}]", terms, lower=float(rng.uniform(0.5, 2.0))))
    scalars = [Scalar(-0.2 * n * rng.uniform(0.5, 4.0), 0.0, 50.0)] if levels else []
    return state(entries, rows, scalars)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("levels", [False, True])
def test_entries_that_nothing_limits_are_priced(seed: int, *, levels: bool) -> None:
    problem = served(seed, 5, 3, levels)
    optimum = wl.solve(problem, engine="exact", tolerance=1e-8)
    found = ADMM().solve(problem, Settings(tolerance=1e-3, threads=2))
    assert found.status is wl.Status.OPTIMAL
    certificate = certify(problem, found.x, found.t, found.prices)
    assert certificate.proves(1e-3)
    slack = 1e-6 * max(1.0, abs(optimum.value))
    assert max(step.bound for step in found.history) <= optimum.value + slack


def test_the_arrays_of_a_solve_go_when_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[weakref.ref[Worker]] = []

    class Watched(Worker):
        def __init__(self, data: Slice) -> None:
            super().__init__(data)
            alive.append(weakref.ref(self))

    monkeypatch.setattr(worker_pool, "Worker", Watched)
    gc.disable()
    try:
        wl.solve(cluster(cs.max_min, 5, 20), engine="admm", tolerance=1e-2, threads=2)
        assert alive
        assert not [worker for worker in alive if worker() is not None]
    finally:
        gc.enable()
