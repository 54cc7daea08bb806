"""Max-min shares where ECOS ends: best, proved, and those of the published program."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.policies.drawn import random_jobs, rates_with_pairs, sharing_jobs

from walras.policies import las
from walras.policies.central import Central, central_max_min
from walras.policies.interior_end import interior_max_min
from walras.programs.central_path import WeightedProgram, linear
from walras.programs.embedding import end_of_embedding
from walras.rounds import JobsSnapshot
from walras.types import Floats


def _end(jobs: JobsSnapshot) -> Central:
    speed = np.where(jobs.fits, jobs.speed, 0.0)
    beside = jobs.size, jobs.workers, jobs.group, jobs.paired
    return interior_max_min(speed, 1.0 / jobs.weight, *beside)


def _centre(jobs: JobsSnapshot) -> Central:
    speed = np.where(jobs.fits, jobs.speed, 0.0)
    beside = jobs.size, jobs.workers, jobs.group, jobs.paired
    return central_max_min(speed, 1.0 / jobs.weight, *beside)


def _round(seed: int, workers: int = 36) -> JobsSnapshot:
    """A round of a cluster with time to spare; all jobs run on all types."""
    rng = np.random.default_rng(seed)
    return JobsSnapshot.of(
        [f"j{k}" for k in range(20)],
        speed=rng.uniform(0.5, 4.0, (20, 3)),
        size=rng.choice([1, 2, 4], 20),
        workers=[workers] * 3,
    )


def _stated(jobs: JobsSnapshot) -> tuple[Floats, Floats]:
    """The shares and services of Gavel's program, as cvxpy states it, at the same end."""
    rates, within = rates_with_pairs(jobs)
    level = cp.Variable()
    service = cp.multiply(_worth(jobs), rates)
    problem = cp.Problem(cp.Maximize(level), [service >= level, *within])
    data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts={})
    rows, columns = data["A"].tocsr(), data["c"] == 0.0
    bounds = (np.diff(rows.indptr) == 1) & (data["b"] == 0.0)
    wanted, slope = rows[~bounds], rows[~bounds][:, ~columns].toarray().ravel()
    end = end_of_embedding(
        WeightedProgram(
            matrix=sp.csc_array(wanted[:, columns]),
            level=linear(slope),
            right=data["b"][~bounds],
            columns=np.ones(columns.sum()),
            rows=np.ones((~bounds).sum()),
        )
    )
    x = np.zeros(len(columns))
    x[columns] = np.maximum(end.x, 0.0)
    found = SimpleNamespace(x=x, z=np.zeros(rows.shape[0]), s=None, status="Solved")
    found.solve_time, found.iterations, found.obj_val = 0.0, end.steps, 0.0
    problem.unpack_results(found, chain, inverse)
    alone = next(part for part in within[0].variables() if part.shape == jobs.speed.shape)
    return np.asarray(alone.value), np.asarray(service.value)


def _worth(jobs: JobsSnapshot) -> Floats:
    return (
        jobs.size
        / (jobs.speed @ jobs.workers / jobs.workers.sum())
        * (jobs.weight.min() / jobs.weight)
    )


@given(st.integers(0, 2000))
def test_the_end_is_best_and_proved_and_keeps_to_the_rows(seed: int) -> None:
    jobs = (random_jobs, sharing_jobs)[seed % 2](seed, 1 + seed % 13)
    found = _end(jobs)
    assert (found.time >= 0.0).all()
    assert (found.time.sum(axis=1) <= 1 + 1e-12).all()
    assert (jobs.size @ found.time <= jobs.workers * (1 + 1e-12)).all()
    assert (found.time[~jobs.fits] == 0.0).all()
    assert found.value <= found.bound * (1 + 1e-9)
    assert found.value == pytest.approx(found.bound, rel=1e-6)
    assert found.value == pytest.approx(_centre(jobs).value, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_end_is_that_of_the_published_program(seed: int) -> None:
    """Most of the time is left over here, and the centre of the best shares is elsewhere."""
    jobs = _round(seed)
    assert las(by_speed=True)(jobs).time == pytest.approx(_stated(jobs)[0], abs=1e-5)
    assert abs(_centre(jobs).time - _stated(jobs)[0]).mean() > 0.02


@pytest.mark.parametrize("seed", range(6))
def test_with_pairs_it_is_that_of_the_published_program(seed: int) -> None:
    """Some pairs do not run on some types, and some jobs share with nobody."""
    jobs = replace(sharing_jobs(seed, 12), workers=np.array([9, 8, 7]))
    found, (time, service) = las(by_speed=True, sharing=True)(jobs), _stated(jobs)
    assert found.time == pytest.approx(time * jobs.fits, abs=1e-4)
    rates = (found.time * jobs.speed).sum(axis=1)
    both = (found.pair_time[:, None] * jobs.pairs.speed).sum(axis=2)
    np.add.at(rates, found.pair, both)
    assert _worth(jobs) * rates == pytest.approx(service, rel=1e-4)


@given(st.integers(0, 2000), st.floats(1e-9, 1e9))
def test_the_unit_of_weights_changes_no_shares(seed: int, unit: float) -> None:
    jobs = random_jobs(seed, 8)
    scaled = JobsSnapshot.of(
        list(jobs.name),
        speed=jobs.speed,
        size=jobs.size,
        workers=jobs.workers,
        weight=jobs.weight * unit,
    )
    one, other = las(by_speed=True)(jobs), las(by_speed=True)(scaled)
    assert other.time == pytest.approx(one.time, abs=1e-4)
    assert other.value * unit == pytest.approx(one.value, rel=1e-6)


def test_what_the_end_does_not_prove_is_the_centre() -> None:
    """Its gap is absolute where the level is small."""
    speed, one = np.ones((3, 1)), np.ones(3, np.int64)
    worth, workers = np.array([1e-9, 1.0, 1e9]), np.array([1])
    beside = one, workers, np.full(3, -1), np.zeros((0, 0, 1))
    found, centre = (f(speed, worth, *beside) for f in (interior_max_min, central_max_min))
    assert found.time.tolist() == centre.time.tolist()
    assert found.value == pytest.approx(1 / (1e9 + 1 + 1e-9), rel=1e-6)
    assert found.value == pytest.approx(found.bound, rel=1e-6)


def test_a_job_that_runs_nowhere_has_nothing_and_others_have_their_best() -> None:
    speed, one = np.array([[1.0], [0.0], [3.0]]), np.ones(3, np.int64)
    found = interior_max_min(speed, np.ones(3), one, np.array([1]), -one, np.zeros((0, 0, 1)))
    assert (found.value, found.bound) == (0.0, 0.0)
    assert found.time.ravel() == pytest.approx([0.75, 0.0, 0.25], abs=1e-6)


def test_speeds_that_are_far_apart_go_to_the_centre() -> None:
    speed, worth, one = np.array([[1.0, 1e20], [1.0, 1.0]]), np.array([1.0, 1e20]), np.ones(2, int)
    beside = one, one, -one, np.zeros((0, 0, 2))
    found, centre = (f(speed, worth, *beside) for f in (interior_max_min, central_max_min))
    assert found.time.tolist() == centre.time.tolist()
