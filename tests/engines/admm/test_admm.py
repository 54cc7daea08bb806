"""The first-order engine: the bank, its schemes, warm starts, limits, and what it refuses."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bank.bank import CASES
from tests.bank.case import Case
from tests.bank.statement import Entry, Row, Scalar, state

import walras as wl
from walras.certificate import certify
from walras.engines.admm import ADMM
from walras.engines.admm.engine import PROOF
from walras.engines.admm.form import make_form
from walras.engines.admm.method import Method
from walras.engines.admm.roots import increasing_root
from walras.engines.admm.schemes import Splitting
from walras.engines.admm.slices.slice import cut
from walras.engines.admm.start import beginning
from walras.engines.admm.worker_pool import Threads
from walras.progress import Progress
from walras.separable import Leximin, Separable
from walras.settings import Settings

cs = wl.domains.cluster_scheduling
te = wl.domains.traffic_engineering
FEASIBLE = 1e-9
HARD = "coefficients from 1e-5 to 1e6"  # with copies it is solved: tests/engines/test_bank.py
BANK = [
    pytest.param(case, id=case.name)
    for case in CASES
    if not isinstance(case.problem, Leximin) and case.name != HARD
]
OBJECTIVES = (cs.max_min, cs.proportional_fairness, cs.total_throughput)


def cluster(
    objective: object, m: int = 12, n: int = 60, tightness: float = 0.3, seed: int = 0
) -> Separable:
    rng = np.random.default_rng([m, n, seed])
    T = np.exp(rng.normal(0, 1, (m, 1)) + rng.normal(0, 1, (1, n)) + rng.normal(0, 0.4, (m, n)))
    size = rng.choice([1.0, 2.0, 4.0, 8.0], n)
    capacity = rng.choice([8.0, 16.0, 32.0, 64.0], m)
    capacity *= tightness * size.sum() / capacity.sum()
    return objective(T / T.max(0), size, capacity)  # type: ignore[operator]


OPTIONS = {field.name for field in dataclasses.fields(ADMM)}


def solved(problem: Separable, tolerance: float, **given: Any) -> wl.Solution:
    """Solve by the first-order engine; what is no option of it is a setting of the solve."""
    engine = ADMM(**{name: given.pop(name) for name in OPTIONS & given.keys()})
    return wl.solve(problem, engine=engine, tolerance=tolerance, threads=2, **given)


@pytest.mark.parametrize("case", BANK)
def test_proves_the_optima_of_the_bank_with_half_the_memory(case: Case) -> None:
    tolerance = 1e-4
    s = solved(case.base, tolerance, collapse=True)
    assert (s.status, s.engine) == (wl.Status.OPTIMAL, "admm"), str(s)
    scale = case.base.gap_scale or max(abs(case.value), 1.0)
    assert abs(s.value - case.value) <= 2 * tolerance * scale
    assert s.certificate.violation <= FEASIBLE


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(OBJECTIVES), st.sampled_from([0.1, 0.5, 3.0]))
def test_agrees_with_the_exact_engines(seed: int, objective: object, tightness: float) -> None:
    problem = cluster(objective, 6, 25, tightness, seed)
    known = wl.solve(problem, engine="exact", tolerance=1e-6)
    s = solved(problem, 1e-3)
    assert s.status is wl.Status.OPTIMAL
    scale = problem.gap_scale or abs(known.value)
    assert s.value == pytest.approx(known.value, abs=1.1e-3 * scale)
    assert s.bound >= known.value - 1e-6 * scale


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_same_iterations_give_the_same_numbers(objective: object) -> None:
    form = make_form(cluster(objective))
    first = beginning(form, None, None)
    found = []
    for _ in range(2):
        pool = Threads().open(cut(form, 2, first.x, first.price))
        method, scheme = Method(form, pool, first), Splitting(1.6)
        for _ in range(40):
            scheme.iterate(method)
        found.append(method.point())
        pool.close()
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_solve_ends_at_the_same_iterate_whatever_the_clock_says(
    objective: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = cluster(objective)
    one = solved(problem, 1e-3)
    monkeypatch.setattr("walras.engines.admm.proofs.incumbent.time", _Slow())
    other = solved(problem, 1e-3)
    assert [step.iteration for step in one.history] == [step.iteration for step in other.history]
    assert np.array_equal(one.entries, other.entries)
    assert one.bound == other.bound


class _Slow:
    """A clock on which a proof takes an hour."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        self.now += 3600.0
        return self.now


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_millisecond_gives_a_feasible_allocation_with_a_gap(objective: object) -> None:
    problem = cluster(objective, 20, 200)
    s = solved(problem, 1e-9, time_limit=1e-3)
    assert s.status is wl.Status.LIMIT
    assert s.certificate.violation <= FEASIBLE
    assert 0.0 < s.gap < np.inf


def test_a_scalar_goes_no_higher_than_is_good_enough() -> None:
    problem = cluster(cs.max_min)
    enough = 0.9 * wl.solve(problem, engine="exact").scalars[0]
    form = make_form(problem)
    first = beginning(form, None, None)
    pool = Threads().open(cut(form, 2, first.x, first.price))
    method, scheme = Method(form, pool, first), Splitting(1.8)
    method.settle_for(-enough)  # what is minimised is -t
    for _ in range(300):
        scheme.iterate(method)
        assert method.t <= enough * (1.0 + FEASIBLE)
    x, t, prices = method.point()
    pool.close()
    assert t[0] == pytest.approx(enough)
    found = certify(problem, x, t, prices)  # with room in every row the two blocks meet
    assert -found.value >= enough * (1.0 - 1e-4)


def test_proofs_come_sooner_where_the_gap_is_about_to_close() -> None:
    problem = cluster(cs.max_min, 20, 200)
    near, far = (
        [step.iteration for step in solved(problem, gap).history if step.note == PROOF]
        for gap in (0.02, 1e-4)
    )
    for seen in (near, far):
        made, pause = np.array(seen[:-1]), np.diff(seen)
        most = np.maximum(16, 0.2 * made)
        assert np.all((pause >= 8) & (pause <= most))
        assert np.any(pause < np.floor(most))
    assert near[0] < far[0]  # a fine gap cannot be proved at once


def test_a_callback_stops_with_the_best_so_far() -> None:
    seen: list[Progress] = []

    def watch(step: Progress) -> bool:
        seen.append(step)
        return len(seen) == 3

    s = solved(cluster(cs.max_min), 1e-12, on_progress=watch)
    assert s.status is wl.Status.INTERRUPTED
    assert len(s.history) == 3
    assert s.certificate.violation <= FEASIBLE
    assert s.value >= max(step.value for step in seen) - 1e-12


def test_a_callback_hears_of_every_iteration() -> None:
    seen: list[Progress] = []
    s = solved(cluster(cs.max_min, 20, 200), 1e-4, on_progress=seen.append)
    assert [step.iteration for step in seen] == list(range(1, len(seen) + 1))
    assert seen == list(s.history)
    assert 0 < sum(step.note == PROOF for step in seen) < len(seen)


def test_a_callback_that_stops_between_proofs_gets_that_iteration_proved() -> None:
    def stop(step: Progress) -> bool:
        return step.iteration == 20

    s = solved(cluster(cs.max_min, 20, 200), 1e-9, on_progress=stop)
    assert (s.status, s.history[-1].note) == (wl.Status.INTERRUPTED, "")
    assert s.gap < s.history[-1].gap  # that of iteration 16


def test_control_c_stops_with_the_best_so_far() -> None:
    def interrupt(step: Progress) -> bool:
        raise KeyboardInterrupt

    s = solved(cluster(cs.proportional_fairness), 1e-12, on_progress=interrupt)
    assert s.status is wl.Status.INTERRUPTED
    assert s.certificate.violation <= FEASIBLE


def test_the_history_never_gets_worse() -> None:
    s = solved(cluster(cs.max_min, 20, 200), 1e-4)
    gaps = [step.gap for step in s.history]
    assert all(later <= earlier for earlier, later in pairwise(gaps))
    assert gaps[-1] <= 1e-4


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_warm_start_takes_fewer_iterations(objective: object) -> None:
    problem = cluster(objective, 20, 200)
    cold = solved(problem, 1e-4)
    rows = problem.rows
    tighter = replace(
        problem, rows=replace(rows, upper=np.where(rows.side == 0, 0.99, 1.0) * rows.upper)
    )
    again, fresh = solved(tighter, 1e-3, start=cold), solved(tighter, 1e-3)
    assert again.status is fresh.status is wl.Status.OPTIMAL
    assert again.history[-1].iteration < fresh.history[-1].iteration


@pytest.mark.parametrize("mode", ["paper", "augmented-lagrangian"])
def test_other_schemes_start_warm_too(mode: str) -> None:
    problem = cluster(cs.max_min)
    known = wl.solve(problem, engine="exact", tolerance=1e-6)
    enough = 100  # iterations
    s = solved(problem, 1e-2, mode=mode, start=known, on_progress=lambda p: p.iteration >= enough)
    assert s.certificate.violation <= FEASIBLE
    assert s.value >= 0.8 * known.value


def test_polish_makes_an_exact_vertex() -> None:
    problem = cluster(cs.max_min)
    known = wl.solve(problem, engine="exact", tolerance=1e-9)
    s = solved(problem, 1e-5, polish=True)
    assert s.value == pytest.approx(known.value, rel=1e-5)
    assert np.count_nonzero(s.entries) <= problem.rows.count


@pytest.mark.parametrize("collapse", [False, True])
def test_an_optimum_of_exactly_zero_is_proved(collapse: bool) -> None:
    # Demand 1 may use nothing: the least throughput is 0, whatever the others get.
    entries = [Entry(0, 0), Entry(0, 1, upper=0.0), Entry(1, 0)]
    rows = [
        Row("capacity[r0]", {0: 1.0, 1: 1.0}, upper=1.0),
        Row("capacity[r1]", {2: 1.0}, upper=1.0),
        Row("time[d0]", {0: 1.0, 2: 1.0}, upper=1.0),
        Row("share[d0]", {0: -1.0, 2: -2.0}, upper=0.0, scalars={0: 1.0}),
        Row("share[d1]", {1: -1.0}, upper=0.0, scalars={0: 1.0}),
    ]
    problem = state(entries, rows, maximize=True, scalars=[Scalar(-1.0)])
    s = solved(problem, 1e-6, collapse=collapse)
    assert (s.status, s.engine) == (wl.Status.OPTIMAL, "admm")
    assert (s.value, s.gap) == (0.0, 0.0)


def test_every_unit_of_measurement_takes_the_same_iterations() -> None:
    problem = cluster(cs.max_min)
    matrix = problem.rows.matrix.copy()
    matrix.data = matrix.data / 1e3
    lengths = []
    for p in (problem, replace(problem, rows=replace(problem.rows, matrix=matrix))):
        if p is not problem:  # entries in thousandths, the scalar as it was
            p = replace(p, upper=p.upper * 1e3)
        r = ADMM(iterations=60).solve(p, Settings(tolerance=1e-12, threads=1))
        lengths.append(r.history[-1].primal_residual)
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-3)


class TestPublished:
    """The published scheme and the methods of its figure 10(c): known behaviour, pinned."""

    def test_it_stops_by_its_own_rule_and_is_repaired(self) -> None:
        problem = cluster(cs.max_min)
        s = solved(problem, 1e-9, mode="paper")
        assert (s.status, s.engine) == (wl.Status.INACCURATE, "admm")
        assert s.certificate.violation <= FEASIBLE
        assert 1e-9 < s.gap < 0.5

    def test_a_limit_is_told_from_its_own_rule(self) -> None:
        problem = cluster(cs.max_min)
        r = ADMM(mode="paper", iterations=30).solve(problem, Settings(tolerance=1e-9))
        assert r.status is wl.Status.LIMIT

    @pytest.mark.parametrize("state", [te.max_total_flow, te.min_max_utilisation])
    def test_its_penalty_fits_the_units_of_the_data(self, state: object) -> None:
        network = te.load_topology("B4")
        paths = te.candidate_paths(network, 4, cache=False)
        demand = te.lognormal_traffic(network, seed=0, total=0.4 * network.capacity.sum())
        problem = state(network, demand, paths)  # type: ignore[operator]
        two = Settings(tolerance=1e-12, threads=1, time_limit=20.0)
        r = ADMM(mode="paper", iterations=300).solve(problem, two)
        assert r.history[-1].iteration > 20  # with a penalty of 1 it ends within 20 of them
        assert r.history[-1].gap < 1.0

    def test_its_penalty_fits_copies_of_a_scalar_too(self) -> None:
        """Their units are not those of flows: some demand had nothing for 9,794 iterations."""
        network = te.load_topology("B4")
        paths = te.candidate_paths(network, 4, cache=False)
        problem = te.max_concurrent_flow(network, te.gravity_traffic(network), paths)
        best = wl.solve(problem).value
        assert solved(problem, 1e-3, mode="paper").value >= 0.9 * best

    def test_its_penalty_can_be_the_released_one(self) -> None:
        problem = cluster(cs.max_min)
        rhos = [
            solved(problem, 1e-9, mode="paper", rho=rho).history[-1].iteration
            for rho in (None, 1.0, 4.0)
        ]
        assert len(set(rhos)) == 3

    def test_its_published_timing_shares_its_work_among_64_cores(self) -> None:
        problem = cluster(cs.max_min)
        s = solved(problem, 1e-9, mode="paper")
        assert 0.0 < s.timings.ideal <= 2 * s.timings.iterate / 64
        assert np.isnan(solved(problem, 1e-2).timings.ideal)

    def test_levels_add_up_their_published_timings(self) -> None:
        problem = cluster(partial(cs.leximin, levels=2))
        s = wl.solve(problem, engine=wl.engines.ADMM(mode="paper"), tolerance=1e-2, threads=1)
        assert 0.0 < s.timings.ideal <= 2 * s.timings.iterate / 64
        parts = wl.solve(problem, engine=wl.engines.POP(parts=3), threads=1)
        assert 0.0 < parts.timings.ideal <= parts.timings.iterate

    def test_its_iterates_violate_the_capacity(self) -> None:
        problem = cluster(cs.proportional_fairness)
        r = ADMM(mode="paper").solve(problem, Settings(tolerance=1e-12, threads=1))
        assert r.history[-1].primal_residual > 1e-5

    def test_the_scalar_has_one_copy_a_job(self) -> None:
        problem = cluster(cs.max_min, 4, 10)
        form = make_form(problem, published=True)
        assert form.entries.count == problem.entries + 10
        assert form.scalar_in == "narrow"
        assert np.all(form.entries.w == 1.0)

    @pytest.mark.parametrize("mode", ["paper", "penalty", "augmented-lagrangian"])
    def test_it_is_slower_than_hard_blocks(self, mode: str) -> None:
        problem = cluster(cs.total_throughput)
        ours = ADMM().solve(problem, Settings(tolerance=1e-3, threads=1))
        count = ours.history[-1].iteration
        theirs = ADMM(mode=mode, iterations=count).solve(
            problem, Settings(tolerance=1e-3, threads=1)
        )
        assert theirs.history[-1].gap > ours.history[-1].gap
        assert certify(problem, theirs.x, theirs.t, theirs.prices).violation <= FEASIBLE


class TestBadInput:
    def test_integer_entries(self) -> None:
        problem = cluster(cs.total_throughput, 3, 5)
        whole = replace(problem, integer=np.ones(problem.entries, bool))
        with pytest.raises(wl.EngineError, match="engine auto, exact, integer"):
            solved(whole, 1e-3)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"mode": "soft"}, "setting mode: is 'soft'"),
            ({"mode": "paper", "collapse": True}, "setting collapse"),
            ({"rho": 0.0}, "setting rho"),
            ({"relaxation": 2.0}, "setting relaxation"),
            ({"iterations": 0}, "setting iterations"),
        ],
    )
    def test_settings_out_of_range(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(wl.InputError, match=message):
            ADMM(**options)


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (-1.0, 9.0), (-np.inf, 9.0)])
@pytest.mark.parametrize("guess", [-100.0, 0.0, 3.0, 50.0])
def test_roots_of_increasing_functions(guess: float, bounds: tuple[float, float]) -> None:
    def cubic(t: float) -> tuple[float, float]:
        return (t - 2.0) ** 3, 3.0 * (t - 2.0) ** 2

    assert increasing_root(cubic, guess, *bounds, 1e-15) == pytest.approx(2.0, abs=2e-5)
    assert increasing_root(lambda t: (t - 20.0, 1.0), guess, bounds[0], 9.0, 1e-12) == 9.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_root_beyond_a_bound_takes_two_evaluations(sign: float) -> None:
    tried = []

    def far(t: float) -> tuple[float, float]:
        tried.append(t)
        return t - sign * 20.0, 0.1

    assert increasing_root(far, 0.0, -9.0, 9.0, 1e-12) == sign * 9.0
    assert tried == [0.0, sign * 9.0]


def test_a_bound_that_is_no_root_is_tried_once() -> None:
    tried = []

    def bent(t: float) -> tuple[float, float]:
        tried.append(t)
        return float(np.tanh(5.0 * (t - 1.0))), float(5.0 / np.cosh(5.0 * (t - 1.0)) ** 2)

    assert increasing_root(bent, 0.2, 0.0, 2.0, 1e-12) == pytest.approx(1.0)
    assert tried.count(2.0) == 1
