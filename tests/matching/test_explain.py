"""Moves of single tasks against placements evaluated anew, and the words that follow."""

from __future__ import annotations

import numpy as np
import pytest
from tests.matching.rounds import cost, one

from walras.matching import Decay, Plan, Round
from walras.matching.explain import Moves, moves_of
from walras.status import Status

T = np.array([[1.0, 9.0, 2.0, 2.0], [4.0, 3.0, 5.0, np.inf], [2.0, 6.0, np.inf, np.inf]])
A = np.array([[0.9, 0.5, 1.0, 0.8], [0.6, 0.8, 0.75, 0.0], [0.95, 0.7, 0.9, 0.1]])


def plan(x: list[int], round_: Round) -> Plan:
    return Plan(round_, np.array(x, np.int32), 0.1, "by hand", 1e-6, Status.LIMIT, 0.0)


def moves(p: Plan) -> Moves:
    return moves_of(p.round, p.assignment, p.outcome)


@pytest.mark.parametrize("m", [1, 2, 3, 5])
@pytest.mark.parametrize("price", [None, 0.7])
@pytest.mark.parametrize("speedup", [None, Decay(0.4, 0.6)], ids=["apart", "together"])
def test_every_move_is_the_placement_it_makes(
    m: int, price: float | None, speedup: Decay | None
) -> None:
    n = 6
    for seed in range(4):
        times, success = one(seed, m, n)
        if m > 2:
            times[0, 1] = np.inf
        round_ = Round.of(times, success, 0.78, speedup, shortfall_price=price or 1.0)
        if price is None and round_.best_success >= 0.78:
            round_ = Round.of(times, success, 0.78, speedup)
        rng = np.random.default_rng(seed)
        x = rng.integers(1 if m > 2 else 0, m, n)
        p = plan(x.tolist(), round_)
        found = moves(p)
        for j in range(n):
            options = []
            for i in range(m):
                moved = x.copy()
                moved[j] = i
                if not np.isfinite(times[i, j]):
                    assert found.makespan[i, j] == np.inf
                    continue
                span = cost(times, success, moved, 0.0, round_.zeta)
                mean = success[moved, np.arange(n)].mean()
                assert found.makespan[i, j] == pytest.approx(span, rel=1e-12)
                assert found.mean_success[i, j] == pytest.approx(mean, rel=1e-12)
                if i != x[j]:
                    missing = max(0.78 - 1e-9 - mean, 0.0)
                    more = max(missing - float(p.outcome.shortfall), 0.0)
                    own = round_.shortfall_price
                    late = more if own is None else 0.0
                    options.append((late, span + (own or 0.0) * more, times[i, j], i))
            assert found.runner_up[j] == (min(options)[-1] if options else -1)


def test_of_equal_makespans_the_quicker_cluster_is_the_runner_up() -> None:
    """The third cluster's 9 hides where the small task goes."""
    times = np.array([[9.0, 9.0], [9.0, 3.0], [9.0, 2.0]])
    found = moves(plan([0, 0], Round.of(times, np.ones((3, 2)), 0.5)))
    assert found.makespan[1:, 1].tolist() == [9.0, 9.0]
    assert found.runner_up.tolist() == [1, 2]


def test_reasons_are_those_that_hold() -> None:
    r = Round.of(T, A, 0.0, clusters=["a", "b", "c"])
    p = plan([0, 1, 0, 0], r)
    reasons = [found.reason for found in p.placements()]
    # Task 0 is quickest on a, but safer on c; task 1 is quickest and safest where it is.
    assert reasons[0] == "its quickest cluster"
    assert reasons[1] == "its quickest and safest cluster"
    assert reasons[2] == "its quickest and safest cluster"
    assert plan([0, 1, 0, 0], Round.of(T[:2], A[:2], 0.0)).explain(3).reason == (
        "the only cluster that runs it"
    )


def test_a_quicker_cluster_that_is_full_says_by_how_much() -> None:
    r = Round.of(T, A, 0.0, clusters=["a", "b", "c"])
    p = plan([2, 1, 0, 0], r)
    # a carries 4, b 3, c 2: with task 0 on a it would carry 5.
    assert p.makespan == 4.0
    assert p.explain(0).reason == "a is quicker but full: the makespan would rise by 1"


def test_a_quicker_cluster_that_is_less_safe_says_how_much() -> None:
    times = np.array([[1.0, 1.0], [2.0, 9.0]])
    chances = np.array([[0.5, 0.9], [0.9, 0.9]])
    r = Round.of(times, chances, 0.85, clusters=["a", "b"])
    p = plan([1, 0], r)
    assert p.explain(0).reason == "a is quicker but less safe: mean success would fall to 0.7000"
    # Without that floor nothing is in the way: both on a end at 2 as well.
    free = plan([1, 0], Round.of(times, chances, 0.7, clusters=["a", "b"]))
    assert free.explain(0).reason == "a is quicker, but moving this task alone ends nothing sooner"
    # Below the floor already, but a move that makes it no worse is none of safety.
    safer = np.array([[0.9, 0.9], [0.5, 0.9]])
    low = Round.of(times, safer, 0.95, shortfall_price=1.0, clusters=["a", "b"])
    assert "ends nothing sooner" in plan([1, 0], low).explain(0).reason


def test_as_quick_elsewhere_is_its_quickest_cluster() -> None:
    times = np.array([[2.0, 1.0], [2.0 * (1 + 1e-12), 1.0], [2.0, 1.0]])
    chances = np.array([[0.8, 0.9], [0.8, 0.9], [0.8 + 1e-12, 0.95]])
    p = plan([1, 0], Round.of(times, chances, 0.5))
    assert p.explain(0).reason == "its quickest and safest cluster"
    assert p.explain(1).reason == "its quickest cluster"


def test_what_binds_is_the_slowest_and_the_floor() -> None:
    times = np.array([[2.0, 9.0, 9.0], [9.0, 2.0, 9.0], [9.0, 9.0, 1.0]])
    chances = np.full((3, 3), 0.8)
    bound = [plan([0, 1, 2], Round.of(times, chances, g)).binding for g in (0.0, 0.79, 0.7995, 0.8)]
    slowest = ("cluster 0 takes 2", "cluster 1 takes 2")
    assert bound[0] == bound[1] == slowest
    assert bound[2] == (*slowest, "mean success 0.8 is at the floor 0.7995")
    assert bound[3] == (*slowest, "mean success 0.8 is at the floor 0.8")
    below = Round.of(times, chances, 0.9, shortfall_price=1.0)
    assert plan([0, 1, 2], below).binding[-1] == "mean success 0.8 is below the floor 0.9"


def test_a_plans_figures_are_the_rounds() -> None:
    times = np.array([[2.0, 9.0, 1.0], [9.0, 4.0, 9.0]])
    chances = np.array([[0.9, 0.5, 0.7], [0.5, 0.8, 0.5]])
    p = plan([0, 1, 0], Round.of(times, chances, 0.9, shortfall_price=10.0))
    assert p.loads.tolist() == [3.0, 4.0]
    assert p.makespan == 4.0
    assert p.mean_success == pytest.approx(0.8)
    assert p.utilisation == pytest.approx(7 / 8)
    assert p.value == pytest.approx(4 + 10 * 0.1)
    assert p.gap == pytest.approx((5 - 0.1) / 5)
    hard = plan([0, 1, 0], Round.of(times, chances, 0.5))
    assert hard.value == 4.0
    assert hard.gap == pytest.approx(3.9 / 4)
    above = Plan(p.round, p.assignment, 9.0, "by hand", 1e-6, Status.LIMIT, 0.25)
    assert above.gap == 0.0
    assert str(above) == (
        "user_limit: 3 tasks on 2 clusters, makespan 4, mean success 0.8, bound 9, gap 0.0e+00; "
        "by hand, 0.25 s"
    )


def test_tasks_are_named_by_label_or_number() -> None:
    r = Round.of(T, A, 0.5, tasks=["p", "q", "r", "s"], clusters=["a", "b", "c"])
    p = plan([0, 1, 0, 0], r)
    assert p.explain("q") == p.explain(1) == p.explain(-3) == p.explain(np.int64(1))  # type: ignore[arg-type]
    found = p.explain("q")
    assert (found.task, found.cluster, found.time, found.success) == ("q", "b", 3.0, 0.8)
    assert (found.runner_up, found.runner_up_time, found.runner_up_success) == ("c", 6.0, 0.7)
    assert found.makespan_if_moved == 6.0
    assert found.success_if_moved == pytest.approx((0.9 + 0.7 + 1.0 + 0.8) / 4)
    assert p.explain(-4).task == "p"
    assert p.explain("s").runner_up is None
    for wrong in (4, -5, "t"):
        with pytest.raises(Exception, match=r"allowed: 0 to 3, or a task's name"):
            p.explain(wrong)
    unnamed = plan([0, 1, 0, 0], Round.of(T, A, 0.5))
    assert unnamed.explain("task 1") == unnamed.explain(1)
    with pytest.raises(Exception, match=r"no task 4; allowed: 0 to 3"):
        unnamed.explain(4)


def test_the_first_cluster_may_be_the_runner_up() -> None:
    times, chances = np.array([[2.0, 3.0], [1.0, 4.0]]), np.array([[0.9, 0.8], [0.7, 0.6]])
    found = plan([1, 0], Round.of(times, chances, 0.0, clusters=["a", "b"])).explain(0)
    assert (found.runner_up, found.runner_up_time, found.runner_up_success) == ("a", 2.0, 0.9)
    assert found.makespan_if_moved == 5.0
    assert found.success_if_moved == pytest.approx(0.85)


def test_a_frame_has_the_ends_of_intervals_as_columns() -> None:
    ends = np.stack([np.where(np.isfinite(T), T, 1.0) - 0.5, np.where(np.isfinite(T), T, 1.0) + 1])
    p = plan([0, 1, 0, 0], Round.of(T, A, 0.5, times_interval=ends))
    frame = p.frame()
    assert frame["time_low"].tolist() == [0.5, 2.5, 1.5, 1.5]
    assert frame["time_high"].tolist() == [2.0, 4.0, 3.0, 3.0]
    assert frame["success_low"].isna().all()
    assert p.explain(0).time_interval == (0.5, 2.0)
    assert p.explain(0).success_interval is None
