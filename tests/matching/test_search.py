"""What the search is made of: worth of placements, what a relaxation says, stages and stops."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.matching.rounds import cost, enumerate_best, one

from walras.matching import Decay, MatchSettings, Round, match, match_round
from walras.matching.exact import Arrays
from walras.matching.match import _branches
from walras.matching.search import Found, _most_tasks, _steps, _Work, objective_of, search
from walras.progress import Progress
from walras.solving import solve
from walras.status import Status

INF = np.inf


@pytest.fixture(autouse=True)
def _short_annealings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds as small as these need no million proposals."""
    monkeypatch.setattr("walras.matching.search._LEAST_PROPOSALS", 20_000)


def found(objective: float, bound: float, x: Any = (0,)) -> Found:
    return Found(np.array(x, np.int32), objective, bound, "by hand")


def test_the_gap_is_relative_to_the_objective() -> None:
    assert found(4.0, 3.0).gap == 0.25
    assert found(4.0, 5.0).gap == 0.0
    assert found(4.0, 3.0).stopped == Status.FEASIBLE


@pytest.mark.parametrize("speedup", [None, Decay()], ids=["apart", "together"])
@pytest.mark.parametrize("price", [None, 3.0])
def test_a_placement_is_worth_its_definition(price: float | None, speedup: Decay | None) -> None:
    times, success = one(3, 2, 4)
    round_ = Round.of(times, success, 0.78, speedup, shortfall_price=price)
    hits = 0
    for x in itertools.product(range(2), repeat=4):
        wanted = cost(times, success, x, 0.78, round_.zeta, INF if price is None else price)
        assert objective_of(round_, np.array(x, np.int32)) == pytest.approx(wanted)
        hits += wanted == INF
    assert (hits > 0) == (price is None)


def test_a_relaxation_says_which_clusters_are_near_and_at_what_cost() -> None:
    times, success = one(5, 9, 4)
    times[2, 0] = INF
    round_ = Round.of(times, success, 0.8)
    given = Arrays.of_round(round_)
    lam = np.linspace(0.05, 0.2, 9) * np.tile([1.0, -1.0], 5)[:9]  # prices have either sign
    relaxed: Any = SimpleNamespace(prices={"load": lam, "floor": np.array([-0.3])}, entries=None)
    work = _Work.of(round_, given, relaxed)
    wanted = given.t[0] * np.abs(lam) - 0.3 * given.a[0]
    np.testing.assert_allclose(work.excess, (wanted - wanted.min(axis=1, keepdims=True)) * 9)
    assert work.near.shape == (4, 8)
    for j in range(4):
        assert set(work.near[j]) == set(np.argsort(wanted[j])[:8])
    assert work.scale == pytest.approx(given.t[0][range(4), wanted.argmin(axis=1)].mean())
    assert work.floor_price == 0.3
    assert work.goal == work.aim == given.goal[0]
    assert work.price == given.price[0]


@pytest.mark.parametrize("floor", [0.0, 0.8])
@pytest.mark.parametrize("price", [None, 2.0])
def test_what_a_relaxation_lacks_is_no_aim(floor: float, price: float | None) -> None:
    """Its last entry is what is missing of the mean success, where there is a price and a floor."""
    times, success = one(5, 3, 4)
    round_ = Round.of(times, success, floor, shortfall_price=price)
    given = Arrays.of_round(round_)
    entries = np.append(np.zeros(12), 0.125)
    prices = {"load": np.ones(3), "floor": np.array([0.5])}
    relaxed: Any = SimpleNamespace(prices=prices, entries=entries)
    work = _Work.of(round_, given, relaxed)
    soft = floor > 0 and price is not None
    assert work.aim == pytest.approx(float(given.goal[0]) - (4 * 0.125 if soft else 0.0))
    assert work.floor_price == (0.5 if floor > 0 else 0.0)
    assert work.near.shape == (4, 3)


def work_of(round_: Round, floor_price: float = 0.3) -> _Work:
    m = round_.shape[0]
    prices = {"load": np.full(m, 1.0 / m), "floor": np.array([-floor_price])}
    relaxed: Any = SimpleNamespace(prices=prices, entries=np.zeros(1))
    return _Work.of(round_, Arrays.of_round(round_), relaxed)


@pytest.mark.parametrize("price", [None, 4.0])
def test_a_finished_placement_is_a_local_optimum_of_what_it_is_worth(price: float | None) -> None:
    times, success = one(6, 3, 7)
    round_ = Round.of(times, success, 0.85, shortfall_price=price)
    done = work_of(round_).finished(np.zeros(7, np.int32), 0.5)
    assert done.objective == objective_of(round_, done.assignment)
    assert math.isfinite(done.objective)
    assert done.bound == 0.5
    for j in range(7):
        for i in range(3):
            moved = done.assignment.copy()
            moved[j] = i
            assert objective_of(round_, moved) >= done.objective * (1 - 1e-12)


def test_where_only_the_safest_placement_will_do_it_is_found() -> None:
    times, success = one(6, 3, 7)
    floor = float(success.max(axis=0).mean())
    done = work_of(Round.of(times, success, floor)).finished(
        times.argmin(axis=0).astype(np.int32), 0.5
    )
    assert done.assignment.tolist() == success.argmax(axis=0).tolist()


@pytest.mark.parametrize("kind", ["annealed", "shaken"])
@pytest.mark.parametrize("price", [None, 4.0])
def test_stages_are_never_worse_and_depend_on_their_seed_alone(
    kind: str, price: float | None
) -> None:
    times, success = one(7, 3, 12)
    round_ = Round.of(times, success, 0.8, shortfall_price=price)
    work = work_of(round_)
    first = work.finished(np.zeros(12, np.int32), 0.5)
    bad = found(1e3, 0.5, np.zeros(12, np.int32))

    def staged(best: Found, seed: int) -> Found:
        if kind == "annealed":
            return work.annealed(best, 0.5, 1e-6, seed)
        return work.shaken(best, 1e-6, seed)

    for best in (first, bad):
        better = staged(best, 2)
        assert better.objective <= best.objective
        assert better.objective == objective_of(round_, better.assignment) or better is best
        assert better.bound == best.bound
        assert staged(best, 2).assignment.tolist() == better.assignment.tolist()
        assert staged(best, 2 + 2**31).assignment.tolist() == better.assignment.tolist()
    optimal = found(1e-3, 1e-3, first.assignment)  # nothing can be better
    assert staged(optimal, 2) is optimal
    assert optimal.assignment.tolist() == first.assignment.tolist()


def test_an_annealing_aims_between_the_bound_and_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a share of their distance, no nearer to the bound than nine tenths of the tolerance."""
    seen: list[Any] = []
    monkeypatch.setattr("walras.matching.search.anneal", lambda *given: seen.append(given))
    monkeypatch.setattr("walras.matching.search.balance", lambda *given: seen.append(given))
    times, success = one(7, 3, 12)
    work = work_of(Round.of(times, success, 0.8), 0.3)
    best = found(8.0, 4.0, np.zeros(12, np.int32))
    for share, tolerance, aim in ((0.5, 0.0, 6.0), (0.25, 0.0, 5.0), (0.0, 0.2, 4.0 / 0.82)):
        seen.clear()
        work.annealed(best, share, tolerance, 5 + 2**31)
        (t, a, _, goal, price, x, near, excess, tau, _, proposals, seed), own = seen
        assert tau == pytest.approx(aim)
        assert (seed, proposals) == (5, 20_000)
        assert price == pytest.approx(0.3 * 3)  # the floor's, in times of a cluster
        assert goal == work.aim
        assert own[:4] == (t, a, work.round.zeta, goal)
        assert (own[5] is x, own[6] is near, excess is work.excess) == (True, True, True)
        assert own[7] == tau


def test_annealings_heat_and_propose_by_the_rounds_size(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("walras.matching.search.anneal", lambda *given: seen.append(given))
    monkeypatch.setattr("walras.matching.search.balance", lambda *given: seen.append(given))
    times, success = one(7, 3, 30)
    work = work_of(Round.of(times, success, 0.8), 0.0)
    work.annealed(found(8.0, 4.0, np.zeros(30, np.int32)), 0.5, 0.0, 0)
    price, heat, proposals = seen[0][4], seen[0][9], seen[0][10]
    assert price == pytest.approx(1e-6 * work.scale)  # where the relaxation pays nothing
    assert heat == pytest.approx(0.01 * work.scale)
    assert proposals == 30_000
    assert seen[1][4] == pytest.approx(10 * price)


@pytest.mark.parametrize(("price", "last"), [(None, INF), (2.0, 0.5)])
def test_success_is_paid_for_ever_more_and_then_as_the_round_does(
    price: float | None, last: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unit of all tasks' success costs a quarter of one of their mean."""
    paid: list[float] = []
    monkeypatch.setattr("walras.matching.search.improve", lambda *given: paid.append(given[4]))
    times, success = one(5, 3, 4)
    floor = float(success.min(axis=0).mean())
    for pays, wanted in ((0.01, [0.03, 0.3, min(3.0, last)]), (0.0, None)):
        paid.clear()
        work = work_of(Round.of(times, success, floor, shortfall_price=price), pays)
        work.finished(success.argmax(axis=0).astype(np.int32), 0.1)
        assert paid[:3] == pytest.approx(wanted or [1e-12 * work.scale] * 3)
        assert paid[3:] == [work.price]
        assert work.price == 0.5 or price is None


@pytest.mark.parametrize(
    ("tolerance", "relaxed"), [(1e-6, 1e-6), (1e-2, 3e-4), (0.5, 1e-3), (0.0, 1e-6)]
)
def test_the_relaxation_is_solved_nearer_than_the_round(
    tolerance: float, relaxed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And each stage gets a seed of its own."""
    asked: list[float] = []
    seeds: list[int] = []

    def solved(problem: Any, **options: Any) -> Any:
        asked.append(options["tolerance"])
        return solve(problem, **options)

    def staged(self: _Work, best: Found, *given: Any) -> Found:
        seeds.append(given[-1])
        return best

    monkeypatch.setattr("walras.matching.search.solve", solved)
    monkeypatch.setattr(_Work, "annealed", staged)
    monkeypatch.setattr(_Work, "shaken", staged)
    times, success = one(9, 2, 5)
    on_stage, _ = told_until(-1, Status.LIMIT)
    options = OPTIONS | {"tolerance": tolerance, "seed": 70}
    search(Round.of(times, success, 0.0), None, on_stage, **options)
    assert asked == [pytest.approx(relaxed)]
    assert seeds == list(range(70, 80))


def test_shakes_aim_at_the_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("walras.matching.search.shake", lambda *given: seen.append(given))
    times, success = one(7, 3, 12)
    work = work_of(Round.of(times, success, 0.8))
    for tolerance, target in ((0.0, 4.0), (0.2, 5.0), (0.9, 8.0)):
        work.shaken(found(9.0, 4.0, np.zeros(12, np.int32)), tolerance, 7 + 2**31)
        assert seen[-1][-2:] == (pytest.approx(target), 7)


def test_no_cluster_takes_more_tasks_than_a_simple_placement_allows() -> None:
    times, success = one(8, 3, 7)
    apart = Round.of(times, success, 0.7)
    assert _most_tasks(apart, Arrays.of_round(apart)) is None
    together = Round.of(times, success, 0.7, Decay(0.9, 0.2))
    most = _most_tasks(together, Arrays.of_round(together))
    assert most is not None
    best = enumerate_best(times, success, 0.7, together.zeta)
    for x in itertools.product(range(3), repeat=7):
        if cost(times, success, x, 0.7, together.zeta) <= best * (1 + 1e-9):
            assert np.all(np.bincount(x, minlength=3) <= most)
    assert most.min() < 7  # it says something


def test_steps_grow_with_the_round_up_to_an_effort() -> None:
    assert _steps(Round.of(np.ones((2, 5)), np.ones((2, 5)))) == 140
    wide = Round.of(np.ones((4, 2000)), np.ones((4, 2000)))
    assert _steps(wide) == 50
    middle = Round.of(np.ones((50, 2000)), np.ones((50, 2000)))
    assert _steps(middle) == int(5e7 / (2000 * 2000 / 50 + 2000 * 50))


def told_until(stop: int, reason: Status) -> Any:
    seen: list[tuple[int, Found]] = []

    def on_stage(step: int, steps: int, doing: str, best: Found) -> Status | None:
        seen.append((step, best))
        return reason if step == stop else None

    return on_stage, seen


OPTIONS: dict[str, Any] = {"tolerance": 1e-6, "time_limit": None, "threads": 1, "seed": 0}


@pytest.mark.parametrize("stop", [0, 2, 5])
def test_the_search_tells_each_stage_and_stops_when_told(stop: int) -> None:
    times, success = one(9, 3, 12)
    round_ = Round.of(times, success, 0.8)
    on_stage, seen = told_until(stop, Status.INTERRUPTED)
    done = search(round_, None, on_stage, **OPTIONS)
    assert [step for step, _ in seen] == list(range(stop + 1))
    assert done.stopped == Status.INTERRUPTED
    assert done.assignment.tolist() == seen[-1][1].assignment.tolist()
    objectives = [best.objective for _, best in seen]
    assert objectives == sorted(objectives, reverse=True)
    assert {best.bound for _, best in seen} == {done.bound}
    assert done.bound <= enumerate_best(times[:, :8], success[:, :8], 0.0) + done.objective


@pytest.mark.parametrize(("n", "stages"), [(5, 4 + 24 * 5 // 20), (301, 4)])
def test_small_rounds_are_shaken_and_large_ones_annealed_alone(n: int, stages: int) -> None:
    times, success = one(9, 2, n)
    on_stage, seen = told_until(-1, Status.LIMIT)
    done = search(Round.of(times, success, 0.0), None, on_stage, **OPTIONS)
    assert [step for step, _ in seen] == list(range(stages + 1))
    assert done.stopped == Status.FEASIBLE
    assert done.method == "relaxation and local search"


def test_what_is_known_already_is_kept() -> None:
    times, success = one(10, 3, 6)
    round_ = Round.of(times, success, 0.8)
    best = match(times, success, 0.8, method="branch-and-bound", tolerance=0.0)
    on_stage, _ = told_until(0, Status.LIMIT)
    known = Found(best.assignment, best.value, best.bound, "exact")
    done = search(round_, known, on_stage, **OPTIONS)
    assert (done.objective, done.bound) == (best.value, best.bound)
    assert done.method == "branch and bound, then relaxation and local search"
    poor = Found(np.zeros(6, np.int32), 1e3, 0.0, "exact")
    assert search(round_, poor, on_stage, **OPTIONS).objective < 1e3
    assert search(round_, poor, on_stage, **OPTIONS).bound > 0.0


# How a round is matched


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "guess"}, "setting method: is 'guess'; allowed: auto, branch-and-bound"),
        ({"tolerance": -1e-9}, "tolerance"),
        ({"tolerance": 1.1}, "tolerance"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**31}, "seed"),
        ({"seed": 0.5}, "seed"),
        ({"time_limit": -1e-9}, "time_limit"),
        ({"time_limit": np.nan}, "time_limit"),
        ({"threads": 0}, "threads"),
        ({"threads": 4097}, "threads"),
        ({"threads": 1.5}, "threads"),
    ],
)
def test_settings_out_of_range_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(Exception, match=words):
        MatchSettings(**options)


def test_settings_at_the_ends_of_their_ranges_are_taken() -> None:
    MatchSettings(tolerance=0.0, seed=2**31 - 1, time_limit=0.0, threads=4096)
    MatchSettings(tolerance=1.0, seed=0, time_limit=INF, threads=1)
    plain = MatchSettings(tolerance=np.float64(0.5), seed=np.int64(3))  # type: ignore[arg-type]
    assert (type(plain.tolerance), type(plain.seed)) == (float, int)


@pytest.mark.parametrize(
    ("m", "n", "together", "tried"),
    [
        (2, 60, False, True),
        (2, 61, False, False),
        (1, 61, True, False),
        (1, 60, True, True),
        # (n + m - 1) choose (m - 1): 1891; 20 825 and 19 600; 17 550 and 20 475.
        (3, 60, True, True),
        (4, 48, True, False),
        (4, 47, True, True),
        (5, 23, True, True),
        (5, 24, True, False),
        (20_000, 1, True, True),
        (20_001, 1, True, False),
    ],
)
def test_branch_and_bound_is_tried_on_small_rounds(
    m: int, n: int, together: bool, tried: bool
) -> None:
    counts = math.comb(n + m - 1, m - 1)
    assert tried == (n <= 60 and (not together or counts <= 20_000))
    speedup = [0.9] if together else None
    assert _branches(Round.of(np.ones((m, n)), np.ones((m, n)), 0.5, speedup)) is tried


def test_a_plan_says_what_found_it_and_is_optimal_within_its_tolerance() -> None:
    times, success = one(11, 3, 6)
    round_ = Round.of(times, success, 0.8)
    best = enumerate_best(times, success, 0.8)
    exact = match_round(round_)
    assert (exact.method, exact.status, exact.tolerance) == ("branch and bound", "optimal", 1e-6)
    assert exact.value == pytest.approx(best)
    highs = match_round(round_, MatchSettings("milp"))
    assert (highs.method, highs.status) == ("HiGHS", "optimal")
    loose = match_round(round_, MatchSettings("search", tolerance=0.5))
    assert (loose.method, loose.status) == ("relaxation and local search", "optimal")
    assert loose.gap <= 0.5
    assert 0 < exact.seconds < 60


def test_callbacks_see_progress_and_stop_the_search() -> None:
    times, success = one(12, 3, 30)
    seen: list[Progress] = []

    def tell(step: Progress) -> bool:
        seen.append(step)
        return False

    plan = match(times, success, 0.8, method="search", tolerance=1e-9, on_progress=tell)
    assert len(seen) >= 5
    assert seen[-1].value == plan.value
    stopped = match(
        times, success, 0.8, method="search", tolerance=1e-9, on_progress=lambda step: True
    )
    assert stopped.status == "interrupted"
    # A gap within the tolerance ends it before anything else is tried.
    first: list[Progress] = []
    match(times, success, 0.8, method="search", tolerance=1.0, on_progress=first.append)
    assert len(first) == 1


def test_a_limit_of_nothing_ends_the_search_at_once() -> None:
    times, success = one(12, 3, 30)
    plan = match(times, success, 0.8, method="search", tolerance=1e-9, time_limit=0.0)
    assert plan.status == "user_limit"
    assert plan.mean_success >= 0.8 - 1e-9
