"""Which method takes a round, what time each gets, and what is made of their answers."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.matching.rounds import one

from walras.matching import Decay, MatchSettings, Round, match, match_round
from walras.matching.search import Found
from walras.status import Status

MODULE = sys.modules[match.__module__]  # the package exports a function of the same name
X = np.zeros(3, np.int32)


class Stages:
    """Stands for the methods: remembers who was asked what, and gives the answers it was given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **answers: Found) -> None:
        self.asked: list[tuple[str, MatchSettings, Round]] = []
        self.known: Found | None = None
        for name, function in (("exact", "_branch_and_bound"), ("highs", "_milp")):
            monkeypatch.setattr(MODULE, function, self._answer(name, answers))
        monkeypatch.setattr(MODULE, "_by_search", self._search(answers))

    def _answer(self, name: str, answers: dict[str, Found]) -> Any:
        def answer(round_: Round, settings: MatchSettings) -> Found:
            self.asked.append((name, settings, round_))
            return answers[name]

        return answer

    def _search(self, answers: dict[str, Found]) -> Any:
        def answer(round_: Round, settings: MatchSettings, began: float, known: Any) -> Found:
            self.asked.append(("search", settings, round_))
            self.known = known
            return answers["search"]

        return answer

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.asked]


def found(objective: float, bound: float, stopped: Status = Status.LIMIT) -> Found:
    return Found(X, objective, bound, "a method", stopped)


def small(speedup: Decay | None = None) -> Round:
    times = np.array([[1.0, 2.0, 3.0], [8.0, 4.0, 5.0]])
    return Round.of(times, np.ones((2, 3)), 0.5, speedup)


OPEN, CLOSED = found(6.0, 3.0), found(6.0, 6.0)


@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("milp", ["highs"]),
        ("search", ["search"]),
        ("branch-and-bound", ["exact"]),
        ("auto", ["exact", "search"]),
    ],
)
def test_a_method_takes_the_round_alone_and_auto_goes_on_to_the_search(
    method: str, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = Stages(monkeypatch, exact=OPEN, highs=OPEN, search=OPEN)
    plan = match_round(small(), MatchSettings(method))
    assert stages.names == names
    assert (plan.bound, plan.status, plan.method) == (3.0, "user_limit", "a method")
    assert stages.known is (OPEN if method == "auto" else None)


def test_what_is_proved_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    for gap, done in ((0.0, True), (1e-6, True), (2e-6, False)):
        exact = found(1.0, 1.0 - gap)
        stages = Stages(monkeypatch, exact=exact, search=OPEN)
        plan = match_round(small(), MatchSettings())
        assert stages.names == (["exact"] if done else ["exact", "search"])
        assert (plan.status == "optimal") is done


def test_large_rounds_are_searched_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = Stages(monkeypatch, search=OPEN)
    match_round(Round.of(np.ones((2, 61)), np.ones((2, 61))), MatchSettings(time_limit=9.0))
    assert (stages.names, stages.known) == (["search"], None)


@pytest.mark.parametrize(
    ("speedup", "limit", "highs"),
    [
        (None, 1e3, True),
        (None, 0.9, True),
        (None, None, False),
        (Decay(), 1e3, False),
        (None, 0.0, False),
    ],
)
def test_with_time_left_highs_closes_rounds_of_tasks_one_after_the_other(
    speedup: Decay | None, limit: float | None, highs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    better = found(4.8, 4.0, Status.LIMIT)
    stages = Stages(monkeypatch, exact=OPEN, search=found(5.0, 4.5), highs=better)
    plan = match_round(small(speedup), MatchSettings(time_limit=limit))
    assert stages.names == (["exact", "search", "highs"] if highs else ["exact", "search"])
    assert stages.known is OPEN
    if highs:
        assert limit is not None
        assert [settings.time_limit for _, settings, _ in stages.asked[:2]] == [limit, limit / 2]
        left = stages.asked[2][1].time_limit
        assert left is not None
        assert 0.1 * limit < left < limit  # nearly all: nobody took any time here
        # No better placement has a pair that takes longer than the best one known.
        quick = stages.asked[2][2].times
        assert quick.tolist() == [[1.0, 2.0, 3.0], [np.inf, 4.0, 5.0]]
        assert (plan.bound, plan.method) == (4.5, "a method, HiGHS")
        assert plan.status == "user_limit"


@pytest.mark.parametrize(
    "highs", [found(7.0, 5.5, Status.OPTIMAL), found(5.0, 5.0, Status.OPTIMAL)]
)
def test_the_better_placement_and_the_better_bound_are_kept(
    highs: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = replace(highs, assignment=np.ones(3, np.int32))
    Stages(monkeypatch, exact=OPEN, search=found(6.0, 4.5), highs=own)
    plan = match_round(small(), MatchSettings(time_limit=1e3, tolerance=0.0))
    assert plan.assignment.tolist() == ([0] * 3 if highs.objective > 6 else [1] * 3)
    assert plan.bound == highs.bound
    assert plan.status == "optimal"


@pytest.mark.parametrize(
    ("search", "highs"),
    [
        (found(6.0, 4.0, Status.INTERRUPTED), False),
        (found(6.0, 5.4), False),
        (found(6.0, 5.3), True),
    ],
)
def test_who_is_interrupted_or_near_enough_does_not_ask_highs(
    search: Found, highs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = Stages(monkeypatch, exact=OPEN, search=search, highs=CLOSED)
    plan = match_round(small(), MatchSettings(time_limit=1e3, tolerance=0.1))
    assert ("highs" in stages.names) is highs
    if search.stopped is Status.INTERRUPTED:
        assert plan.status == "interrupted"


def test_what_is_not_set_is_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(MODULE, "match_round", lambda *given: seen.append(given))
    match(np.ones((2, 3)), np.ones((2, 3)))
    round_, settings = seen[0]
    assert settings == MatchSettings("auto", 1e-6, None, None, 0, None)
    assert (round_.min_success, round_.shortfall_price) == (0.8, None)


def test_a_bound_is_not_above_its_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    Stages(monkeypatch, exact=found(6.0, 6.5))
    plan = match_round(small(), MatchSettings())
    assert (plan.bound, plan.status) == (6.0, "optimal")


@pytest.mark.parametrize(
    ("limit", "nodes"), [(None, 2_000_000), (1.0, 1_000_000), (5.0, 2_000_000), (0.0, 1)]
)
def test_branch_and_bound_visits_a_million_nodes_a_second_at_most(
    limit: float | None, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    solve = MODULE.solve_rounds

    def counted(*given: Any) -> Any:
        seen.append(given)
        return solve(*given)

    monkeypatch.setattr(MODULE, "solve_rounds", counted)
    monkeypatch.setattr(MODULE, "PAIRS", 0)  # no round is small
    times, success = one(2, 3, 5)
    plan = match(times, success, 0.7, method="branch-and-bound", time_limit=limit)
    assert (seen[0][-2], seen[0][-1]) == (1e-6, nodes)
    assert plan.bound <= plan.value * (1 + 1e-12)
