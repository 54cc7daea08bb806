"""The wiring: limits, stops, failures and settings, whatever the engine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.bank.bank import CASES
from tests.bank.optimality import optimality
from tests.bank.statement import Entry, Row, state
from tests.engines.stub import replace_solve

import walras as wl
from walras import solving
from walras.engines.exact.engine import Exact
from walras.engines.interior import Interior
from walras.engines.pop.engine import POP
from walras.iterate import Iterate
from walras.leximin.levels import LeximinResult
from walras.leximin.method import leximin
from walras.progress import Progress
from walras.separable import Separable
from walras.settings import Settings
from walras.status import Status

cs = wl.domains.cluster_scheduling
OBJECTIVES = {
    "max_min": cs.max_min,
    "proportional": cs.proportional_fairness,
    "throughput": cs.total_throughput,
}


def cluster(seed: int = 0, m: int = 12, n: int = 200) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return rng.lognormal(0, 1, (m, n)), rng.choice([1.0, 2.0, 4.0], n), rng.uniform(4.0, 12.0, m)


def check_honest(s: wl.Solution, optimum: float) -> None:
    """Feasible, and its gap is a bound that the optimum respects."""
    found = optimality(s.problem, s.entries, s.scalars, s.prices.rows)
    assert found.primal <= 1e-9
    assert np.isfinite(s.gap)
    scale = s.problem.gap_scale or abs(optimum)
    assert s.value <= optimum + 1e-6 * scale
    assert s.bound >= optimum - 1e-6 * scale
    assert s.gap >= 0.99 * (optimum - s.value) / max(abs(s.value), abs(s.bound), scale) - 1e-6


@pytest.mark.parametrize("engine", ["interior", "exact", "pop"])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_millisecond_still_gives_a_feasible_allocation(name: str, engine: str) -> None:
    problem = OBJECTIVES[name](*cluster())
    optimum = wl.solve(problem, threads=1).value
    s = wl.solve(problem, engine=engine, time_limit=0.001, threads=1)
    assert s.status in (Status.LIMIT, Status.OPTIMAL, Status.INACCURATE)
    check_honest(s, optimum)


@pytest.mark.parametrize(
    ("name", "whole"),
    [("interior", False), ("admm", False), ("pop", False), ("exact", False), ("exact", True)],
)
def test_what_a_callback_raises_comes_out(name: str, whole: bool) -> None:
    rng = np.random.default_rng(0)
    T, sizes = rng.lognormal(size=(100, 400)), rng.choice([1, 2, 4], 400)
    problem = cs.max_min(T, sizes, np.full(100, 4.0))

    def boom(step: Progress) -> bool:
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        wl.solve(problem, engine=name, on_progress=boom, time_limit=20, threads=1, integer=whole)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_a_callback_stops_with_the_best_so_far(name: str, steps: int) -> None:
    problem = OBJECTIVES[name](*cluster())
    optimum = wl.solve(problem, threads=1).value
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return progress.iteration >= steps

    s = wl.solve(problem, engine="interior", on_progress=stop, threads=1)
    assert s.status is Status.INTERRUPTED
    assert len(seen) == len(s.history) == steps + 1
    check_honest(s, optimum)


@pytest.mark.parametrize("engine", ["interior", "exact", "pop"])
@pytest.mark.parametrize("name", ["max_min", "proportional"])
def test_ctrl_c_returns_the_best_so_far(name: str, engine: str) -> None:
    problem = OBJECTIVES[name](*cluster())
    optimum = wl.solve(problem, threads=1).value

    def press(progress: Progress) -> None:
        if progress.iteration >= 1:
            raise KeyboardInterrupt

    s = wl.solve(problem, engine=engine, on_progress=press, threads=1)
    # HiGHS hears of it late: it may have finished.
    finished = engine == "exact" and s.certificate.proves(1e-6)
    assert s.status is (Status.OPTIMAL if finished else Status.INTERRUPTED)
    check_honest(s, optimum)


def test_gaps_shrink_with_time() -> None:
    problem = cs.max_min(*cluster(4))
    gaps = []
    for steps in (2, 6, 10):

        def stop(progress: Progress, steps: int = steps) -> bool:
            return progress.iteration >= steps

        gaps.append(wl.solve(problem, engine="interior", on_progress=stop, threads=1).gap)
    assert gaps[0] > gaps[1] > gaps[2]


def test_a_looser_tolerance_takes_fewer_steps() -> None:
    problem = cs.proportional_fairness(*cluster(1))
    steps = [
        len(wl.solve(problem, engine="interior", tolerance=t, threads=1).history)
        for t in (1e-2, 1e-5, 1e-8)
    ]
    assert steps[0] < steps[1] < steps[2]


def test_verbose_logs_one_line_a_step(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="walras"):
        s = wl.solve(cs.max_min(*cluster(2)), engine="interior", verbose=True, threads=1)
    assert sum("gap" in line for line in caplog.messages) == len(s.history)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"threads": 0}, "threads"),
        ({"engine": "simplex"}, "there is no engine 'simplex'"),
    ],
)
def test_bad_settings_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(wl.InputError, match=message) as caught:
        wl.solve(CASES[0].problem, **setting)
    assert caught.value.allowed


def wrong(status: Status, x: float, price: float) -> Any:
    """An engine that returns the same numbers everywhere, whatever the problem."""

    def run(problem: Separable, settings: Settings) -> Iterate:
        return Iterate(
            x=np.full(problem.entries, x),
            t=np.full(problem.scalars, x),
            prices=np.full(problem.rows.count, price),
            status=status,
        )

    return run


@pytest.mark.parametrize("x", [0.0, 0.3, 1e12, np.nan])
@pytest.mark.parametrize("price", [0.0, 1.0, -1e9, np.nan])
def test_an_engine_that_lies_is_not_believed(
    x: float, price: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it calls optimal is judged by the certificate, and what is useless is solved again."""
    problem = cs.max_min(*cluster(3, m=3, n=8))
    optimum = wl.solve(problem, threads=1).value
    replace_solve(monkeypatch, Interior, wrong(Status.OPTIMAL, x, price))
    s = wl.solve(problem, engine="interior", threads=1)
    assert s.engine == "exact"
    assert s.status is Status.OPTIMAL
    assert s.value == pytest.approx(optimum, rel=2e-6)


def test_an_engine_that_breaks_down_keeps_its_point_where_no_time_is_left_for_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = cs.max_min(*cluster(3, m=3, n=8))
    rough = wl.solve(problem, engine="interior", tolerance=1e-2, threads=1)

    def broken(problem: Separable, settings: Settings) -> Iterate:
        return Iterate(
            x=0.9 * rough.entries,
            t=0.9 * rough.scalars,
            prices=rough.prices.rows,
            status=Status.FAILED,
        )

    replace_solve(monkeypatch, Interior, broken)
    replace_solve(monkeypatch, Exact, wrong(Status.LIMIT, 0.0, 0.0))
    s = wl.solve(problem, engine="interior", threads=1)
    assert (s.engine, s.status) == ("interior", Status.INACCURATE)
    assert s.value == pytest.approx(0.9 * rough.value, rel=1e-6)


def test_the_status_says_what_the_certificate_says(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = cs.max_min(*cluster(3, m=3, n=8))
    replace_solve(monkeypatch, Interior, wrong(Status.LIMIT, 0.0, 0.0))
    s = wl.solve(problem, engine="interior", threads=1)
    assert s.status is Status.LIMIT
    assert s.gap > 0.1
    assert s.certificate.feasible


def test_integers_go_to_branch_and_bound_with_its_bound() -> None:
    problem = state(
        [Entry(0, 0, -5.0, upper=1.0), Entry(0, 1, -4.0, upper=1.0), Entry(0, 2, -3.0, upper=1.0)],
        [Row("capacity[r0]", {0: 2.0, 1: 3.0, 2: 1.0}, upper=5.0)],
        maximize=True,
    )
    s = wl.solve(replace(problem, integer=np.ones(3, bool)), threads=1)
    assert (s.status, s.engine) == (Status.OPTIMAL, "exact")
    assert s.value == pytest.approx(9.0)
    assert s.entries.tolist() == [1.0, 1.0, 0.0]
    assert s.bound == pytest.approx(9.0)


def test_threads_may_change_from_solve_to_solve() -> None:
    """HiGHS keeps a scheduler a thread; parts of POP run in threads of their own."""
    problem = cs.max_min(*cluster(6, m=4, n=24))
    for threads in (2, 1, None, 2):
        POP(3, engine=Exact()).solve(problem, Settings(threads=threads))
        s = wl.solve(problem, engine="exact", threads=threads)
        assert s.status is Status.OPTIMAL


def test_timings_and_history_are_kept() -> None:
    s = wl.solve(cs.max_min(*cluster(5)), engine="interior", threads=1)
    assert 0 < s.timings.iterate <= s.timings.total < 60
    table = s.history.frame()
    assert list(table["iteration"]) == list(range(len(table)))
    assert table["elapsed"].is_monotonic_increasing
    assert table["gap"].iloc[-1] < 1e-4 * table["gap"].iloc[0]


def test_the_rest_of_a_time_limit_raises_the_jobs_that_the_ceiling_does_not_hold() -> None:
    """One slow job decides max-min; with time to spare the others rise to 17/3 each."""
    throughput = np.array([[1.0, 9.0, 9.0, 8.0], [0.5, 3.0, 4.0, 5.0]])
    problem = wl.domains.cluster_scheduling.max_min(
        throughput=throughput, size=np.ones(4), capacity=np.array([2.0, 2.0])
    )
    at_once = wl.solve(problem, engine="interior")
    limited = wl.solve(problem, engine="interior", time_limit=20.0)
    assert np.array_equal(limited.x, at_once.x)  # a time limit only limits
    with_time = wl.solve(problem, engine="interior", time_limit=20.0, spend="leximin")
    assert not at_once.levels
    assert with_time.status is wl.Status.OPTIMAL
    assert with_time.value == pytest.approx(1.0, rel=1e-6)
    reached = np.sort((throughput * with_time.x).sum(axis=0))
    assert reached == pytest.approx([1.0, 17 / 3, 17 / 3, 17 / 3], rel=1e-6)


@pytest.mark.parametrize(
    ("objective", "settings", "words"),
    [
        (cs.max_min, {"time_limit": 9.0, "spend": "more"}, "is 'more'"),
        (cs.max_min, {}, "no time limit"),
        (cs.max_min, {"time_limit": 9.0, "engine": "pop"}, "has no levels"),
        (cs.max_min, {"time_limit": 9.0, "polish": True}, "vertex"),
        (cs.leximin, {"time_limit": 9.0}, "lexicographic already"),
        (cs.proportional_fairness, {"time_limit": 9.0}, "no max-min problem"),
    ],
)
def test_spend_is_refused_where_there_is_nothing_to_spend_on(
    objective: Any, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(wl.InputError, match=words) as caught:
        wl.solve(objective(*cluster(3)), **{"spend": "leximin", **settings})
    assert caught.value.where == "setting spend"


def test_the_old_name_of_on_progress_works_and_warns() -> None:
    seen: list[Progress] = []
    old: dict[str, Any] = {"callback": seen.append}
    with pytest.warns(DeprecationWarning, match="is now on_progress="):
        wl.solve(cs.max_min(*cluster(3)), engine="interior", **old)
    assert seen


def test_levels_of_the_rest_of_a_time_limit_are_told_of_up_to_the_first_unproved_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is called optimal has a gap within the tolerance, later levels or not."""
    throughput = np.array([[1.0, 9.0, 9.0, 8.0, 3.0], [0.5, 3.0, 4.0, 5.0, 3.0]])
    problem = cs.max_min(throughput, np.ones(5), np.array([2.0, 2.0]))

    def rough(*args: Any, **kwargs: Any) -> LeximinResult:
        found = leximin(*args, **kwargs)
        assert len(found.levels) > 2
        first, second, *others = found.levels
        return replace(found, levels=(first, replace(second, gap=1e-3), *others))

    monkeypatch.setattr(solving, "leximin", rough)
    s = wl.solve(problem, engine="interior", time_limit=20.0, spend="leximin")
    assert s.status is wl.Status.OPTIMAL
    assert len(s.levels) == 1
    assert s.gap <= s.tolerance


def test_an_infeasible_problem_names_its_rows_and_the_least_relaxation() -> None:
    problem = cs.max_min([[1.0, 1.0]], [1.0, 1.0], [1.0])
    rows = problem.rows
    lower = rows.lower.copy()
    time = next(family for family in rows.families if family.name == "time")
    lower[time.start : time.stop] = 1.0  # two jobs want all the time of one GPU
    with pytest.raises(wl.InfeasibleError) as caught:
        wl.solve(replace(problem, rows=replace(rows, lower=lower)))
    named = set(caught.value.where.split(", "))
    assert named == {rows.name(time.start), rows.name(time.start + 1), "capacity[0]"}
    assert caught.value.remedy.count(" by 1") == 1


def test_an_unbounded_problem_names_its_entries_by_their_owners() -> None:
    owners = [(0, 1), (-1, 1), (-1, -1), (0, 0)]
    problem = state(
        [Entry(i, j, cost=-1.0) for i, j in owners], [Row("limit[0]", {3: 1.0}, upper=1.0)]
    )
    with pytest.raises(wl.UnboundedError) as caught:
        wl.solve(problem, engine="exact")
    i, j = problem.resource_names[0], problem.demand_names[1]
    assert caught.value.where == f"x[{i}, {j}], x[{j}], entry 2"


@pytest.mark.parametrize("engine", ["interior", "exact"])
def test_a_job_that_its_best_type_decides_is_charged_for_it(engine: str) -> None:
    """Whatever engine ran: the first job's time is what is scarce, and `explain` says so."""
    throughput = np.array([[1.0, 9.0, 9.0, 8.0], [0.5, 3.0, 4.0, 5.0]])
    problem = wl.domains.cluster_scheduling.max_min(
        throughput=throughput, size=np.ones(4), capacity=np.array([2.0, 2.0])
    )
    s = wl.solve(problem, engine=engine)
    assert s.prices["time"][0] == pytest.approx(1.0, abs=1e-6)
    assert s.prices["throughput"][0] == pytest.approx(1.0, abs=1e-6)


def test_an_interrupted_leximin_keeps_the_max_min_optimum() -> None:
    """Stopping while the rest of the time is spent costs neither the proof nor the status."""
    rng = np.random.default_rng(0)
    throughput = np.exp(rng.normal(0.0, 0.3, (4, 40)))
    throughput[:, 0] = 0.05
    problem = wl.domains.cluster_scheduling.max_min(
        throughput=throughput, size=np.ones(40), capacity=np.full(4, 12.0)
    )
    alone = len(wl.solve(problem, engine="interior").history)
    seen: list[Progress] = []

    def stop_later(step: Progress) -> bool:
        seen.append(step)
        return len(seen) > 2 * alone

    s = wl.solve(
        problem, engine="interior", time_limit=60.0, spend="leximin", on_progress=stop_later
    )
    assert s.status is wl.Status.OPTIMAL
    assert s.gap <= 1e-6
    assert s.value == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": 3},
        {"on_progress": 3},
        {"tolerance": "a"},
        {"threads": 1.5},
        {"threads": 0},
        {"time_limit": -1.0},
        {"tolerance": float("nan")},
        {"engine": "simplex"},
    ],
)
def test_a_setting_of_the_wrong_kind_is_named(wrong: dict[str, Any]) -> None:
    problem = wl.domains.cluster_scheduling.max_min(
        throughput=np.ones((1, 1)), size=np.ones(1), capacity=np.ones(1)
    )
    with pytest.raises(wl.InputError) as error:
        wl.solve(problem, **wrong)
    assert next(iter(wrong)) in str(error.value)


@pytest.mark.parametrize("problem", [None, np.ones((2, 2)), "max-min"])
def test_what_is_no_problem_is_refused(problem: Any) -> None:
    with pytest.raises(wl.InputError, match="problem"):
        wl.solve(problem)


@pytest.mark.parametrize("alpha", [4.0, 5.0, 10.0])
def test_where_the_general_solver_falls_short_the_interior_point_answers(alpha: float) -> None:
    T = np.random.default_rng(0).lognormal(0, 1, (3, 100)) * 100
    s = wl.solve(cs.alpha_fair(T, np.ones(100), [20.0, 20, 20], alpha=alpha), threads=1)
    assert s.status is wl.Status.OPTIMAL, (s.engine, s.gap)


def test_costs_below_a_solvers_tolerances_are_no_reason_to_do_nothing() -> None:
    T = np.random.default_rng(0).uniform(1, 5, (3, 40)) * 1e-8
    s = wl.solve(cs.total_throughput(T, np.ones(40), [4, 4, 4]), threads=1)
    assert s.status is wl.Status.OPTIMAL
    assert s.value > 1e-7


@pytest.mark.parametrize("utility", [cp.log, cp.sqrt, cp.entr])
def test_a_millisecond_returns_a_feasible_allocation_of_a_cvxpy_problem(
    utility: Callable[[cp.Variable], cp.Expression],
) -> None:
    z = cp.Variable((6, 40), nonneg=True)
    wanted = np.random.default_rng(0).uniform(0.1, 0.4, 40)
    held = [cp.sum(z, axis=1) <= 3, cp.sum(z, axis=0) == wanted]
    problem = wl.Problem(cp.Maximize(cp.sum(utility(z))), held)
    problem.solve(time_limit=1e-3)
    assert problem.status in ("user_limit", "optimal")
    assert np.max(np.abs(z.value.sum(axis=0) - wanted)) < 1e-8
    assert np.max(z.value.sum(axis=1)) < 3 + 1e-8


@pytest.mark.parametrize("engine", ["interior", "admm", "exact", "pop", "integer"])
def test_settings_may_be_numpy_s_numbers(engine: str) -> None:
    given: dict[str, Any] = {
        "tolerance": np.float32(1e-4),
        "time_limit": np.int16(5),
        "threads": np.int32(2),
    }
    settings = Settings(**given, max_iterations=np.uint16(500))  # type: ignore[arg-type]
    plain = (settings.tolerance, settings.time_limit, settings.threads, settings.max_iterations)
    assert [type(value) for value in plain] == [float, float, int, int]
    s = wl.solve(cs.max_min(*cluster()), engine=engine, integer=engine == "integer", **given)
    assert s.status.has_allocation
