"""Central solutions of both fairnesses: best, within the rows, proved, and the centre."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.policies.drawn import random_jobs, sharing_jobs

from walras.domains.cluster_scheduling import finish_time_fairness
from walras.policies.central import Central, central_max_min, central_ratio
from walras.rounds import JobsSnapshot
from walras.types import Floats


def _central(jobs: JobsSnapshot) -> Central:
    speed = np.where(jobs.fits, jobs.speed, 0.0)
    workers = (jobs.size, jobs.workers, jobs.group, jobs.paired)
    return central_max_min(speed, 1.0 / jobs.weight, *workers)


def _alike(seed: int, n: int) -> JobsSnapshot:
    """Jobs of few classes: some are there several times."""
    jobs = sharing_jobs(seed, 4)
    drawn = np.random.default_rng(seed).integers(0, 4, n)
    chosen = {name: getattr(jobs, name)[drawn] for name in ("speed", "weight", "size", "group")}
    names = [f"j{k}" for k in range(n)]
    return JobsSnapshot.of(names, workers=jobs.workers, paired=jobs.paired, **chosen)


def _best(service: Floats, jobs: JobsSnapshot) -> float:
    """The largest least service of jobs alone, by HiGHS."""
    n, t = service.shape
    own, types = np.repeat(np.eye(n), t, axis=1), np.tile(np.eye(t), n)
    flat = np.concatenate([-own * service.ravel(), own, types * np.repeat(jobs.size, t)])
    level = np.repeat([1.0, 0.0], [n, n + t])
    right = np.concatenate([np.zeros(n), np.ones(n), jobs.workers])
    goal = np.append(np.zeros(n * t), -1.0)
    found = linprog(goal, A_ub=np.column_stack([flat, level]), b_ub=right)
    return -float(found["fun"])


@given(st.integers(0, 2000))
def test_the_value_is_the_best_and_proved(seed: int) -> None:
    jobs = random_jobs(seed, n=1 + seed % 20)
    found = _central(jobs)
    assert (found.time >= 0.0).all()
    assert (found.time.sum(axis=1) <= 1 + 1e-12).all()
    assert (jobs.size @ found.time <= jobs.workers * (1 + 1e-12)).all()
    assert (found.time[~jobs.fits] == 0.0).all()
    assert found.value <= found.bound * (1 + 1e-9)
    assert found.value == pytest.approx(found.bound, rel=1e-7)
    service = np.where(jobs.fits, jobs.speed, 0.0) / jobs.weight[:, None]
    assert found.value == pytest.approx(_best(service, jobs), rel=1e-6)


@given(st.integers(0, 2000))
def test_pairs_are_those_of_the_round_and_keep_to_the_rows(seed: int) -> None:
    jobs = _alike(seed, 1 + seed % 12)
    found = _central(jobs)
    assert found.pair.tolist() == jobs.pairs.jobs.tolist()
    assert ((found.pair_time > 0.0) == jobs.pairs.fits).all()
    hours, size = found.time.sum(axis=1), jobs.size[found.pair[:, 0]]
    np.add.at(hours, found.pair, found.pair_time.sum(axis=1)[:, None])
    assert (hours <= 1 + 1e-12).all()
    taken = jobs.size @ found.time + size @ found.pair_time
    assert (taken <= jobs.workers * (1 + 1e-12)).all()
    assert found.value == pytest.approx(found.bound, rel=1e-7)


@given(st.integers(0, 2000))
def test_classes_end_where_single_jobs_do(seed: int) -> None:
    """With a group of its own, no job is like another: each has its rows, and the end is one."""
    jobs = _alike(seed, 2 + seed % 8)
    known = np.flatnonzero(jobs.group >= 0)
    place = np.where(jobs.group >= 0, np.arange(len(jobs)), -1)
    paired = np.zeros((len(jobs), len(jobs), 3))
    paired[np.ix_(known, known)] = jobs.paired[np.ix_(jobs.group[known], jobs.group[known])]
    speed, worth = np.where(jobs.fits, jobs.speed, 0.0), 1.0 / jobs.weight
    apart = central_max_min(speed, worth, jobs.size, jobs.workers, place, paired)
    found = _central(jobs)
    assert found.value == pytest.approx(apart.value, rel=1e-7)
    assert found.time == pytest.approx(apart.time, abs=1e-5)
    assert found.pair_time == pytest.approx(apart.pair_time, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_centre_is_the_limit_of_the_barrier_stated_job_by_job(seed: int) -> None:
    jobs, mu = _alike(seed, 5), 1e-7
    n, able = len(jobs), jobs.group >= 0
    pair = np.argwhere(np.triu(np.outer(able, able) & (jobs.size[:, None] == jobs.size), 1))
    place = jobs.pairs.places(pair)
    known = (place >= 0)[:, None, None]
    speed = jobs.pairs.speed[place] * known if known.any() else np.zeros((len(pair), 2, 3))
    fits = (speed > 0.0).all(axis=1)
    x, y, level = cp.Variable((n, 3)), cp.Variable((len(pair), 3)), cp.Variable()
    rate = cp.sum(cp.multiply(np.where(jobs.fits, jobs.speed, 0.0), x), axis=1)
    hours, taken = cp.sum(x, axis=1), jobs.size @ x
    for side in (0, 1):
        joins = (pair[:, side] == np.arange(n)[:, None]).astype(float)
        rate += joins @ cp.sum(cp.multiply(speed[:, side], y), axis=1)
        hours += joins @ cp.sum(y, axis=1)
    taken += jobs.size[pair[:, 0]] @ y
    slacks = (rate / jobs.weight - level, 1 - hours, jobs.workers - taken)
    barrier = sum(cp.sum(cp.log(part)) for part in (x[jobs.fits], y[fits], *slacks))
    none = [x[~jobs.fits] == 0.0, y[~fits] == 0.0]
    exact = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    cp.Problem(cp.Maximize(level + mu * barrier), none).solve(solver="CLARABEL", **exact)
    found = _central(jobs)
    assert found.pair.tolist() == jobs.pairs.jobs.tolist()
    assert found.time == pytest.approx(x.value, abs=1e-3)
    assert found.pair_time == pytest.approx(y.value[place >= 0], abs=1e-3)


def test_alike_jobs_have_alike_shares() -> None:
    """Three jobs can have all the time: it is spread over the types alike."""
    one = np.ones(3, np.int64)
    none = np.zeros((0, 0, 2))
    found = central_max_min(np.ones((3, 2)), np.ones(3), one, np.array([4, 4]), -one, none)
    assert found.time == pytest.approx(np.full((3, 2), 0.5), abs=1e-6)


def test_a_job_that_runs_nowhere_has_nothing_and_others_have_their_best() -> None:
    one, none = np.ones(3, np.int64), np.zeros((0, 0, 1))
    speed = np.array([[1.0], [0.0], [3.0]])
    found = central_max_min(speed, np.ones(3), one, np.array([1]), -one, none)
    assert (found.value, found.bound) == (0.0, 0.0)
    assert found.time.ravel() == pytest.approx([0.75, 0.0, 0.25], abs=1e-6)


def test_no_job_that_runs_needs_no_solver() -> None:
    one, none = np.ones(2, np.int64), np.zeros((0, 0, 1))
    found = central_max_min(np.zeros((2, 1)), np.ones(2), one, np.array([1]), -one, none)
    assert not found.time.any()
    assert found.value == found.bound == 0.0


def _due(jobs: JobsSnapshot) -> Floats:
    """Seconds in all for a ratio of one; some jobs are late already."""
    drawn = np.random.default_rng(len(jobs)).uniform(0.3, 2.0, len(jobs))
    return (jobs.at - jobs.arrival) * drawn + jobs.left / jobs.speed.max(axis=1)


def _by_ratio(jobs: JobsSnapshot) -> Central:
    speed, elapsed = np.where(jobs.fits, jobs.speed, 0.0), jobs.at - jobs.arrival
    workers = (jobs.size, jobs.workers, jobs.group, jobs.paired)
    return central_ratio(speed, jobs.left, elapsed, _due(jobs), *workers)


@given(st.integers(0, 2000))
def test_the_ratio_is_proved_and_its_shares_keep_to_the_rows(seed: int) -> None:
    jobs = sharing_jobs(seed, 1 + seed % 12)
    found = _by_ratio(jobs)
    assert found.pair.tolist() == jobs.pairs.jobs.tolist()
    hours, size = found.time.sum(axis=1), jobs.size[found.pair[:, 0]]
    np.add.at(hours, found.pair, found.pair_time.sum(axis=1)[:, None])
    assert (hours <= 1 + 1e-12).all()
    taken = jobs.size @ found.time + size @ found.pair_time
    assert (taken <= jobs.workers * (1 + 1e-12)).all()
    rate = (np.where(jobs.fits, jobs.speed, 0.0) * found.time).sum(axis=1)
    beside = (jobs.pairs.speed * found.pair_time[:, None, :]).sum(axis=2)
    np.add.at(rate, found.pair, beside)
    ratio = (jobs.at - jobs.arrival + jobs.left / rate) / _due(jobs)
    assert found.value == pytest.approx(ratio.max(), rel=1e-9)
    assert found.bound <= found.value <= found.bound * (1 + 1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_the_ratio_is_that_of_the_general_solver(seed: int) -> None:
    jobs = random_jobs(seed, n=4 + 3 * seed)
    speed, elapsed = np.where(jobs.fits, jobs.speed, 0.0), jobs.at - jobs.arrival
    stated = finish_time_fairness(
        speed.T, jobs.size, jobs.workers, jobs.left, elapsed=elapsed, isolated=_due(jobs)
    )
    assert _by_ratio(jobs).value == pytest.approx(stated.value, rel=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_centre_of_the_least_ratio_is_the_limit_of_the_barrier(seed: int) -> None:
    jobs, mu = random_jobs(seed, 6), 1e-6
    x, ratio, best = cp.Variable((6, 3)), cp.Variable(), jobs.speed.max(axis=1)
    rate = cp.sum(cp.multiply(np.where(jobs.fits, jobs.speed, 0.0), x), axis=1)
    seconds = (ratio * _due(jobs) - (jobs.at - jobs.arrival)) / (jobs.left / best)
    slacks = (rate / best - cp.inv_pos(seconds), 1 - cp.sum(x, axis=1))
    free = jobs.workers - jobs.size @ x
    barrier = sum(cp.sum(cp.log(part)) for part in (x[jobs.fits], *slacks, free))
    none = [] if jobs.fits.all() else [x[~jobs.fits] == 0.0]
    cp.Problem(cp.Minimize(ratio / mu - barrier), none).solve(solver="CLARABEL")
    assert _by_ratio(jobs).time == pytest.approx(x.value, abs=2e-3)


@pytest.mark.parametrize(("kept", "value"), [(None, 1001.0), ([1001.0, *[np.nan] * 3], 0.3)])
def test_what_the_least_ratio_leaves_over_is_spread(kept: list[float] | None, value: float) -> None:
    """An old job has all it can use; three new ones share the rest of two workers evenly.

    Where the old one keeps to its ratio, theirs is the least: a third of a worker each.
    """
    one = np.ones(4, np.int64)
    found = central_ratio(
        speed=np.ones((4, 2)),
        left=np.full(4, 10.0),
        elapsed=np.array([1e4, 0.0, 0.0, 0.0]),
        due=np.array([10.0, 100.0, 100.0, 100.0]),
        size=one,
        workers=np.array([1, 1]),
        group=-one,
        paired=np.zeros((0, 0, 2)),
        kept=None if kept is None else np.array(kept) * (1 + 1e-9),
    )
    assert found.value == pytest.approx(value, rel=1e-5)
    assert found.bound == pytest.approx(found.value, rel=1e-7)
    rates = found.time.sum(axis=1)
    assert rates[0] == pytest.approx(1.0, abs=1e-4)
    assert np.ptp(rates[1:]) < 1e-6
