"""POP: the split, the merge, and that parts run side by side."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.engines.pop.instances import CALM, cluster, wide
from tests.engines.stub import Stub

from walras.certificate import certify
from walras.domains import cluster_scheduling as cs
from walras.domains import traffic_engineering as te
from walras.engines.exact.engine import Exact
from walras.engines.pop.engine import POP
from walras.engines.pop.parts import split
from walras.errors import EngineError, InputError
from walras.iterate import Iterate
from walras.progress import History, Progress, Timings
from walras.separable import Separable
from walras.settings import Settings, Start
from walras.solving import solve
from walras.status import Status


@pytest.mark.parametrize("state", [cs.max_min, cs.proportional_fairness, cs.total_throughput])
@pytest.mark.parametrize("seed", [0, 1])
def test_feasible_and_no_better_than_the_whole(state: object, seed: int) -> None:
    T, size, capacity = cluster(seed)
    problem = state(T, size, capacity)  # type: ignore[operator]
    best = cs.evaluate(T, size, capacity, problem.dense(Exact().solve(problem, CALM).x))
    point = POP(3, engine=Exact(), seed=seed).solve(problem, CALM)
    judged = cs.evaluate(T, size, capacity, problem.dense(point.x))
    assert judged.violation < 1e-7
    assert point.status is Status.FEASIBLE
    figure = {
        cs.max_min: lambda e: e.least,
        cs.proportional_fairness: lambda e: e.log_fairness,
        cs.total_throughput: lambda e: e.mean,
    }[state]  # type: ignore[index]
    assert figure(judged) < figure(best) + 1e-6
    assert figure(judged) > figure(best) - 0.9 * abs(figure(best)) - 0.5
    if problem.scalars:
        assert point.t[0] == pytest.approx(judged.least, rel=1e-6)


def test_one_part_is_the_whole_problem() -> None:
    problem = cs.proportional_fairness(*cluster(2))
    whole, one = Exact().solve(problem, CALM), POP(1, engine=Exact()).solve(problem, CALM)
    assert one.status is Status.OPTIMAL
    assert one.x == pytest.approx(whole.x, abs=1e-6)
    assert one.prices == pytest.approx(whole.prices, abs=1e-5)


@pytest.mark.parametrize("jobs", [1, 3])
def test_fewer_demands_than_parts_by_default(jobs: int) -> None:
    T, size, capacity = cluster(3, jobs=jobs)
    s = solve(cs.max_min(T, size, capacity), engine="pop", threads=1)
    assert s.status.has_allocation
    assert cs.evaluate(T, size, capacity, s.x).violation < 1e-9
    assert POP().solve(cs.max_min(T, size, capacity), CALM).message == f"POP-{jobs}"


def test_threads_are_the_cores_allowed_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert Settings().workers == 3
    assert Settings(threads=2).workers == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert Settings().workers == os.cpu_count()


def test_exact_when_jobs_are_interchangeable() -> None:
    # The granular case POP is made for: identical jobs, so every part is the whole in small.
    T = np.repeat([[2.0], [1.0]], 12, axis=1)
    problem = cs.max_min(T, np.ones(12), [3.0, 3.0])
    whole, parts = Exact().solve(problem, CALM), POP(4, engine=Exact()).solve(problem, CALM)
    assert parts.t == pytest.approx(whole.t)
    assert parts.prices[:2] == pytest.approx(whole.prices[:2])
    # The demands' prices stay a price system of the whole: the scalar's cost is spread over them.
    r = problem.rows.scalar_matrix[:, 0] @ parts.prices
    assert r == pytest.approx(-problem.scalar_cost[0])


def test_the_seed_decides_the_split() -> None:
    problem = cs.max_min(*cluster(3))
    a, b, c = (POP(4, engine=Exact(), seed=s).solve(problem, CALM) for s in (5, 5, 6))
    assert np.array_equal(a.x, b.x)
    assert not np.array_equal(a.x, c.x)


def nothing(problem: Separable, settings: Settings, seconds: float = 0.0) -> Iterate:
    return Iterate(
        x=np.zeros(problem.entries),
        t=np.zeros(problem.scalars),
        prices=np.zeros(problem.rows.count),
        status=Status.OPTIMAL,
        timings=Timings(iterate=seconds),
    )


def test_parts_run_at_the_same_time_and_the_ideal_is_the_longest() -> None:
    together = threading.Barrier(3, timeout=30)
    seconds = iter((0.1, 0.7, 0.2))

    def engine(problem: Separable, settings: Settings) -> Iterate:
        together.wait()  # passes only when all three are here at once
        assert settings.threads == 1
        return nothing(problem, settings, next(seconds))

    point = POP(3, engine=Stub(engine)).solve(cs.max_min(*cluster(0)), Settings(threads=3))
    assert point.timings.ideal == 0.7
    assert point.timings.iterate > 0


def test_the_time_limit_is_shared_by_parts_that_wait() -> None:
    limits = []

    def engine(problem: Separable, settings: Settings) -> Iterate:
        limits.append(settings.time_limit)
        threading.Event().wait(0.05)
        return nothing(problem, settings)

    POP(3, engine=Stub(engine)).solve(cs.max_min(*cluster(0)), Settings(threads=1, time_limit=9.0))
    assert all(limit is not None and limit <= 9.0 for limit in limits)
    assert limits[2] == pytest.approx(9.0 - 0.1, abs=0.09)


def test_a_callback_sees_every_part_and_stops_all() -> None:
    seen: list[Progress] = []
    step = Progress(0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    answers = []

    def engine(problem: Separable, settings: Settings) -> Iterate:
        assert settings.on_progress is not None
        answers.append(settings.on_progress(step))
        return replace(
            nothing(problem, settings), status=Status.INTERRUPTED, history=History((step,))
        )

    def callback(progress: Progress) -> bool:
        seen.append(progress)
        return len(seen) == 2

    limits = Settings(threads=1, on_progress=callback)
    point = POP(3, engine=Stub(engine)).solve(cs.max_min(*cluster(0)), limits)
    assert answers == [False, True, True]
    assert [progress.note for progress in seen] == ["part 0", "part 1"]
    assert all(math.isnan(progress.gap) for progress in seen)  # of a part, not of the whole
    assert point.status is Status.INTERRUPTED
    assert len(point.history) == 3


def test_each_part_gets_its_own_start() -> None:
    problem = cs.max_min(*cluster(4))
    start = Start(
        np.arange(problem.entries, dtype=float), np.arange(problem.rows.count, dtype=float) + 0.5
    )
    seen: list[tuple[Separable, Start]] = []

    def engine(part: Separable, settings: Settings) -> Iterate:
        assert settings.start is not None
        seen.append((part, settings.start))
        return nothing(part, settings)

    POP(3, engine=Stub(engine), seed=2).solve(problem, Settings(threads=1, start=start))
    for piece, (part, given) in zip(split(problem, 3, 2), seen, strict=True):
        assert np.array_equal(given.x, piece.entries)
        assert np.array_equal(given.prices, piece.rows + 0.5)
        assert part.demand_names == piece.problem.demand_names


@pytest.mark.parametrize("parts", [0, -1, 25])
def test_parts_out_of_range(parts: int) -> None:
    with pytest.raises(InputError, match="setting parts"):
        POP(parts, engine=Exact()).solve(cs.max_min(*cluster(0)), CALM)


@pytest.mark.parametrize("state", [cs.max_min, cs.proportional_fairness, cs.leximin])
def test_parts_and_seed_through_solve(state: Callable[..., Any]) -> None:
    problem = state(*cluster(3))

    def solved(parts: int, seed: int) -> np.ndarray:
        return solve(problem, engine=POP(parts=parts, seed=seed), threads=2).x

    assert np.array_equal(solve(problem, engine="pop", threads=2).x, solved(4, 0))
    assert not np.array_equal(solved(4, 0), solved(4, 1))
    assert not np.array_equal(solved(4, 0), solved(6, 0))
    alone = solve(problem, engine=POP(parts=1), threads=1)
    whole = solve(problem, engine="interior", threads=1)
    assert alone.value == pytest.approx(whole.value, rel=1e-6)
    assert solve(problem, engine=POP(parts=16), threads=1).value <= whole.value + 1e-6


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"parts": 25}, r"setting parts.*1 to 24, the number of demands"),
        ({"parts": 0}, "setting parts"),
        ({"parts": 2.5}, "a whole number"),
        ({"parts": True}, "setting parts"),
        ({"parts": "4"}, "setting parts"),
        ({"seed": -1}, "setting seed"),
        ({"seed": 0.5}, "setting seed"),
    ],
)
def test_bad_parts_and_seeds(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve(cs.max_min(*cluster(0)), engine=POP(**given))


def test_a_part_that_cannot_be_solved_alone() -> None:
    problem = cs.max_min(*cluster(0))
    rows = problem.rows
    # Each demand must use 0.9 of a GPU of type 0: together they can, the larger parts cannot.
    tight = replace(
        problem,
        rows=replace(rows, upper=np.where(rows.side == 0, 0.0, rows.upper)),
        lower=np.full(problem.entries, 0.9),
    )
    with pytest.raises(EngineError, match="part 0 of 2 is infeasible"):
        POP(2, engine=Exact()).solve(tight, CALM)


def failing(problem: Separable, settings: Settings) -> Iterate:
    """An engine that breaks down on the part that holds demand 0."""
    if "0" not in problem.demand_names:
        return Exact().solve(problem, settings)
    return replace(nothing(problem, settings, 0.25), status=Status.FAILED, message="broke down")


def test_a_part_whose_engine_fails_goes_to_the_general_solver() -> None:
    problem = cs.max_min(*cluster(0))
    engines = (Stub(failing), Exact())
    found, want = (POP(3, engine=engine).solve(problem, CALM) for engine in engines)
    assert found.status is want.status is Status.FEASIBLE
    assert found.x == pytest.approx(want.x, abs=1e-6)
    assert found.timings.ideal > 0.25  # what the first engine took counts


def test_a_remedy_does_not_name_the_engine_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    solve_exactly = Exact.solve

    def exact(engine: Exact, problem: Separable, settings: Settings) -> Iterate:
        if "0" in problem.demand_names:
            return failing(problem, settings)
        return solve_exactly(engine, problem, settings)

    monkeypatch.setattr(Exact, "solve", exact)
    with pytest.raises(EngineError, match="broke down") as caught:
        POP(3, engine=Stub(failing)).solve(cs.max_min(*cluster(0)), CALM)
    assert "interior" not in caught.value.remedy


@pytest.mark.parametrize("state", [cs.max_min, cs.leximin])
def test_the_end_of_all_parts_is_no_limit_of_the_users(state: Callable[..., Any]) -> None:
    problem = state(*cluster(3))
    ended = solve(problem, engine="pop", threads=1)
    assert ended.status is Status.FEASIBLE
    assert ended.certificate.feasible
    assert ended.gap > 1e-6
    stopped = solve(problem, engine="pop", threads=1, time_limit=0.0)
    assert stopped.status is Status.LIMIT
    alike = state(np.repeat([[2.0], [1.0]], 12, axis=1), np.ones(12), [3.0, 3.0])
    assert solve(alike, engine="pop", threads=1).status is Status.OPTIMAL  # the proof knows better


def test_whole_entries_are_refused() -> None:
    T = np.random.default_rng(1).uniform(1, 3, (3, 5))
    with pytest.raises(EngineError, match="integer entries"):
        solve(cs.max_min(T, np.ones(5), [2.0, 2, 2]), engine="pop", integer=True)


@pytest.mark.parametrize("objective", ["max_concurrent_flow", "min_max_utilisation"])
@pytest.mark.parametrize("parts", [None, 8])
def test_demands_that_ask_for_nothing_make_no_part(objective: str, parts: int | None) -> None:
    """A part of such alone has no optimum where a scalar is held by what demands ask for."""
    net = te.load_topology("B4", synthetic=True)
    demand = np.zeros((12, 12))
    demand[np.arange(8), np.arange(4, 12)] = 1.0
    problem = getattr(te, objective)(net, demand, te.candidate_paths(net, k=2, cache=False))
    s = solve(problem, engine=POP(parts=parts))
    assert s.certificate.feasible
    assert np.isfinite(s.gap)
    with pytest.raises(InputError, match="1 to 8"):
        solve(problem, engine=POP(parts=9))


def test_pop_of_flows_splits_large_demands_and_of_jobs_none() -> None:
    net, demand, paths = wide()
    problem = te.max_total_flow(net, demand, paths)
    best = solve(problem).value
    served = {
        (parts, splitting): POP(parts, splitting=splitting).solve(problem, CALM).x.sum()
        for parts in (4, 16)
        for splitting in (None, 0.1, 0.0)
    }
    for parts, least in ((4, 0.97), (16, 0.85)):
        assert served[parts, None] == pytest.approx(served[parts, 0.1])
        assert least * best <= served[parts, None] <= best * (1 + 1e-9)
        assert served[parts, 0.0] < served[parts, None] - 0.05 * best
    flow = te.pop_flow(net, demand, paths, 4)
    assert flow.flow.sum() == pytest.approx(served[4, None])
    jobs = cs.max_min(*cluster(5))
    assert POP().solve(jobs, CALM).x == pytest.approx(POP(splitting=0.0).solve(jobs, CALM).x)


@pytest.mark.parametrize(
    "state", [te.max_total_flow, te.min_max_utilisation, te.max_concurrent_flow]
)
def test_split_flows_of_every_objective_are_feasible_and_bounded(state: Any) -> None:
    net, demand, paths = wide()
    problem = state(net, demand, paths)
    best = solve(problem, tolerance=1e-8)
    found = solve(problem, engine=POP(parts=4))
    assert found.certificate.feasible
    worse = (found.value - best.value) * (-1.0 if problem.maximize else 1.0)
    assert -1e-6 * best.value <= worse <= 0.2 * best.value
    beyond = (found.bound - best.value) * (1.0 if problem.maximize else -1.0)
    assert beyond >= -1e-6 * best.value
    assert np.isfinite(found.bound)


@pytest.mark.parametrize(
    "state", [cs.max_min, cs.proportional_fairness, cs.total_throughput, cs.leximin]
)
def test_split_jobs_add_up(state: Any) -> None:
    """Interchangeable jobs, all of them split: every part is the whole in small."""
    T = np.repeat([[2.0], [1.0]], 12, axis=1)
    problem = state(T, np.ones(12), [3.0, 3.0])
    if state is cs.leximin:
        problem = problem.problem
    whole = solve(problem, tolerance=1e-8)
    found = POP(3, engine=Exact(), splitting=1.0).solve(problem, CALM)
    proof = certify(problem, found.x, found.t, found.prices)
    assert proof.feasible
    assert problem.reported(proof.value) == pytest.approx(whole.value, rel=1e-6)
    assert proof.gap <= 1e-5


@pytest.mark.parametrize("splitting", [-0.1, 1.5, "all", True])
def test_a_splitting_out_of_range_is_refused(splitting: Any) -> None:
    with pytest.raises(InputError, match="splitting"):
        POP(3, splitting=splitting).solve(cs.max_min(*cluster(3)), CALM)
