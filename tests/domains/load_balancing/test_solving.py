"""Which of search and HiGHS answers, with what clock, and what is said of it."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from tests.domains.load_balancing.rounds import drawn_round

from walras.domains import load_balancing as lb
from walras.domains.load_balancing.bound import Bound, counting_bound
from walras.domains.load_balancing.program import Found
from walras.domains.load_balancing.rebalance import Options, _by_program, _effort, _StopReason
from walras.domains.load_balancing.search import Placed
from walras.errors import EngineError, InfeasibleError, InputError
from walras.progress import Progress
from walras.status import Status

module = import_module("walras.domains.load_balancing.rebalance")  # lb.rebalance is a function

NONE = Placed(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), np.inf)
BOUND = Bound(2.0, (), ())


@pytest.mark.parametrize(
    ("name", "passes", "refused"),
    [
        ("attempts", (0, 10**9), (-1, 10**9 + 1, 1.5)),
        ("seed", (0, 2**31 - 1), (-1, 2**31, 0.5)),
        ("time_limit", (0.0, 5, np.inf, None), (-0.1, np.nan, "1")),
    ],
)
def test_options_are_checked_to_their_ends(
    name: str, passes: tuple[Any, ...], refused: tuple[Any, ...]
) -> None:
    for value in passes:
        assert getattr(Options(**{name: value}), name) == value
    for value in refused:
        with pytest.raises(InputError) as caught:
            Options(**{name: value})
        assert caught.value.where == f"setting {name}"


def test_what_is_left_out_is_a_search_of_2000_attempts_that_keeps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Options() == Options(keep=True, attempts=2000, time_limit=None, seed=0, on_progress=None)
    given: list[Any] = []
    monkeypatch.setattr(module, "solve_round", lambda *both: given.extend(both))
    lb.rebalance([8.0, 1.0, 1.0, 2.0], [0, 0, 1, 1])
    problem, options = given
    assert options == Options()
    plain = lb.make_round([8.0, 1.0, 1.0, 2.0], [0, 0, 1, 1])
    for name, value in vars(plain).items():
        np.testing.assert_array_equal(getattr(problem, name), value)


def test_the_search_goes_on_until_its_time_is_up_or_a_callback_says_stop() -> None:
    seen: list[Progress] = []

    def stop(step: Progress) -> bool:
        seen.append(step)
        return step.iteration >= 500

    began = time.perf_counter() - 3.0
    options = Options(attempts=700, seed=5, on_progress=stop)
    effort = _effort(options, BOUND, began, _StopReason(options))
    assert (effort.attempts, effort.enough, effort.seed) == (700, 2.0, 5)
    assert effort.proceed is not None
    assert effort.proceed(250, 8.0)
    assert not effort.proceed(500, 2.0)
    assert [(step.iteration, step.value, step.bound, step.gap) for step in seen] == [
        (250, 8.0, 2.0, 0.75),
        (500, 2.0, 2.0, 0.0),
    ]
    assert 3.0 <= seen[0].elapsed < 4.0
    assert (seen[0].primal_residual, seen[0].dual_residual) == (0.0, 0.0)
    assert seen[0].note == "local search"
    for limit, goes_on in ((2.9, False), (60.0, True), (None, True)):
        bounded = Options(time_limit=limit)
        proceed = _effort(bounded, BOUND, began, _StopReason(bounded)).proceed
        assert proceed is not None
        assert proceed(250, 8.0) == goes_on
        assert proceed(250, 0.0) == goes_on  # of no cost there is no gap


class Highs:
    """In the place of HiGHS: notes what it is asked, and gives the answers it was given."""

    def __init__(self, *answers: Found) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[int, float, bool]] = []

    def __call__(
        self,
        problem: lb.Round,
        pairs: Any,
        bound: Bound,
        settings: Any,
        start: Placed | None = None,
    ) -> Found:
        self.asked.append((int(pairs.sum()), settings.time_limit, start is not None))
        return self.answers.pop(0)


def asked(
    monkeypatch: pytest.MonkeyPatch,
    problem: lb.Round,
    placed: Placed,
    *answers: Found,
    time_limit: float | None = None,
    elapsed: float = 0.0,
) -> tuple[Found, Highs]:
    highs = Highs(*answers)
    monkeypatch.setattr(module, "solve_pairs", highs)
    began = time.perf_counter() - elapsed
    options = Options(time_limit=time_limit)
    return _by_program(problem, counting_bound(problem), placed, options, began), highs


SOME = Placed(np.array([0], np.int32), np.array([0], np.int32), np.array([1.0]), 3.0)
GOOD = Found(SOME, 2.0, Status.OPTIMAL)
STUCK = Found(None, -np.inf, Status.LIMIT)
PROVED = Found(None, np.inf, Status.INFEASIBLE)


def test_a_small_round_goes_to_highs_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    small = lb.make_round(np.ones(64), np.arange(64) % 64, servers=64, band=0.5)
    found, highs = asked(monkeypatch, small, SOME, GOOD)
    assert found is GOOD
    assert highs.asked == [(4096, 5.0, True)]
    found, highs = asked(monkeypatch, small, NONE, STUCK)
    assert found is STUCK
    assert highs.asked == [(4096, 5.0, False)]
    # What a placement disproves is rounding; without one it is the answer.
    assert asked(monkeypatch, small, SOME, PROVED)[0] is PROVED
    with pytest.raises(InfeasibleError):
        asked(monkeypatch, small, NONE, PROVED)


def test_highs_has_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    small = lb.make_round(np.ones(8), np.arange(8) % 4, band=0.5)
    for limit, elapsed, left in ((60.0, 10.0, 50.0), (2.0, 10.0, 0.0), (None, 10.0, 5.0)):
        _, highs = asked(monkeypatch, small, SOME, GOOD, time_limit=limit, elapsed=elapsed)
        assert highs.asked[0][1] == pytest.approx(left, abs=0.5)


def test_a_large_round_asks_highs_only_where_there_is_nothing_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Over more and more likely pairs, and then over all; likely pairs prove nothing."""
    large = lb.make_round(np.ones(1200), np.zeros(1200, int), servers=60, band=0.5, replicas=1)
    found, highs = asked(monkeypatch, large, SOME)
    assert (found.placed, found.bound, found.status) == (None, -np.inf, Status.LIMIT)
    assert highs.asked == []
    found, highs = asked(monkeypatch, large, NONE, STUCK, PROVED, GOOD)
    assert (found.placed, found.bound, found.status) == (SOME, -np.inf, Status.OPTIMAL)
    sizes = [size for size, _, _ in highs.asked]
    assert len(sizes) == 3
    assert sizes == sorted(set(sizes))
    assert sizes[0] < 1200 * 60
    assert asked(monkeypatch, large, NONE, STUCK, STUCK, STUCK, GOOD)[0] is GOOD
    _, highs = asked(monkeypatch, large, NONE, STUCK, STUCK, STUCK, STUCK)
    assert highs.asked[-1] == (1200 * 60, 5.0, False)
    refused: list[lb.Round] = []
    monkeypatch.setattr(module, "refuse_unmet", refused.append)
    assert asked(monkeypatch, large, NONE, STUCK, STUCK, STUCK, PROVED)[0] is PROVED
    assert refused == [large]


def solved(
    monkeypatch: pytest.MonkeyPatch, searched: Placed, answer: Found, value: float, **options: Any
) -> lb.Rebalanced:
    """A round of costs 1, 2 and 3 with these answers of search, HiGHS and counting."""
    monkeypatch.setattr(module, "search", lambda problem, effort: searched)
    monkeypatch.setattr(module, "relocate_shards", lambda problem, proceed: searched)
    monkeypatch.setattr(module, "_by_program", lambda *given: answer)
    monkeypatch.setattr(module, "counting_bound", lambda problem: Bound(value, (), ()))
    problem = lb.make_round([1.0, 2.0, 3.0], [0, 0, 1], band=3.0, cost=[1, 2, 3], **options)
    return lb.solve_round(problem)


def placed(cost: float, attempts: int = 0) -> Placed:
    """All three stand on server 0 (3 is moved), or shards 0 and 1 on server 1 (also 3)."""
    home = {0.0: [0, 0, 1], 1.0: [1, 0, 1], 2.0: [0, 1, 1], 3.0: [0, 0, 0]}[cost]
    return Placed(
        np.array(home, np.int32),
        np.arange(3, dtype=np.int32),
        np.array([1.0, 2.0, 3.0]),
        cost,
        attempts,
    )


def test_the_better_of_search_and_highs_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    found = solved(monkeypatch, placed(3.0, 9), Found(placed(1.0), 1.0, Status.OPTIMAL), 0.0)
    assert (found.value, found.bound, found.status) == (1.0, 1.0, Status.OPTIMAL)
    assert (found.method, found.attempts) == ("local search, HiGHS", 9)
    found = solved(monkeypatch, placed(1.0, 9), Found(placed(3.0), 0.7, Status.LIMIT), 0.0)
    assert (found.value, found.bound, found.status) == (1.0, 1.0, Status.OPTIMAL)  # 0.7 rounded up
    assert (found.method, found.attempts) == ("local search", 9)
    found = solved(monkeypatch, placed(1.0), Found(placed(1.0), -np.inf, Status.LIMIT), 0.0)
    assert (found.method, found.bound, found.status) == ("local search", 0.0, Status.FEASIBLE)


def test_the_largest_bound_counts_and_is_no_larger_than_the_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = solved(monkeypatch, placed(3.0), Found(None, 1.2, Status.LIMIT), 1.0)
    assert (found.value, found.bound, found.status) == (3.0, 2.0, Status.FEASIBLE)
    found = solved(monkeypatch, placed(3.0), Found(None, 0.2, Status.LIMIT), 2.0)
    assert found.bound == 2.0
    found = solved(monkeypatch, placed(3.0), Found(placed(2.0), 4.5, Status.LIMIT), 1.0)
    assert (found.value, found.bound) == (2.0, 2.0)


def test_highs_is_not_asked_where_the_search_meets_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    impossible = Found(placed(0.0), 7.0, Status.OPTIMAL)
    found = solved(monkeypatch, placed(2.0), impossible, 2.0)
    assert (found.value, found.bound, found.status) == (2.0, 2.0, Status.OPTIMAL)
    assert found.method == "local search"


def test_counts_are_met_by_moves_and_by_highs_where_there_are_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    better = Found(placed(2.0), 2.0, Status.OPTIMAL)
    found = solved(monkeypatch, placed(3.0, 9), better, 0.0, replicas=1)
    assert (found.value, found.method, found.attempts) == (2.0, "local search, HiGHS", 9)
    found = solved(monkeypatch, NONE, better, 0.0, replicas=1)
    assert (found.value, found.method, found.attempts) == (2.0, "HiGHS", 0)
    with pytest.raises(EngineError, match="no placement was found, nor a proof") as caught:
        solved(monkeypatch, NONE, STUCK, 0.0, replicas=1)
    assert caught.value.where == "rebalance"


def test_options_are_passed_on_to_the_search() -> None:
    problem = drawn_round(3, 10, 50, band=0.05)
    assert lb.solve_round(problem, Options(attempts=0)).attempts == 0
    few = lb.solve_round(problem, Options(attempts=300))
    assert few.attempts <= 300
    assert few.seconds > 0.0
