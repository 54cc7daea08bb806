"""Rounds on the largest demands, against HiGHS on all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from tests.engines.interior.flows import SEEDS, flow, optimum

import walras as wl
from walras.certificate import dual_bound, minimised_value
from walras.engines.admm import largest_first
from walras.engines.admm.largest_first import Rounds, largest, part_of, worth
from walras.iterate import Iterate
from walras.progress import Progress
from walras.separable import Separable
from walras.settings import Settings
from walras.status import Status

te = wl.domains.traffic_engineering
ALL = wl.engines.LargestFirst(left_out=0.0)
FEW = wl.engines.LargestFirst(left_out=5.0, least_entries=0)


@pytest.fixture(scope="module")
def skewed() -> Separable:
    network = te.load_topology("B4")
    paths = te.candidate_paths(network, 4, cache=False)
    demand = te.lognormal_traffic(network, seed=0, total=0.4 * network.capacity.sum())
    return te.max_total_flow(network, demand, paths)


def solved(problem: Separable, rule: wl.engines.LargestFirst, **more: object) -> wl.Solution:
    more = {"tolerance": 0.02, "threads": 1} | more
    return wl.solve(problem, engine=wl.engines.ADMM(largest_first=rule), **more)  # type: ignore[arg-type]


def rounds(s: wl.Solution) -> list[str]:
    notes = [step.note for step in s.history if step.note.startswith("the largest")]
    return list(dict.fromkeys(notes))


@settings(max_examples=40)
@given(seed=SEEDS)
def test_the_proof_holds_for_all_demands(seed: int) -> None:
    problem = flow(seed, te.max_total_flow)
    s, best = solved(problem, FEW), -optimum(problem)
    assert s.status is wl.Status.OPTIMAL
    assert s.certificate.violation <= 1e-9
    assert best * (1.0 - 0.021) <= s.value <= best * (1.0 + 1e-9)
    assert s.bound >= best * (1.0 - 1e-9)


def test_a_few_demands_prove_all_of_them(skewed: Separable) -> None:
    s = solved(skewed, FEW)
    assert s.gap <= 0.02
    assert {step.note for step in s.history} == {*rounds(s), "proof"}  # never all demands
    assert len(s.history) == s.history[-1].iteration
    assert s.value == pytest.approx(s.history[-1].value)
    assert s.bound == pytest.approx(s.history[-1].bound)
    assert rounds(solved(skewed, ALL)) == []


def test_more_rounds_and_all_demands_follow_where_few_do_not_prove_it(
    skewed: Separable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(largest_first, "_MOST", 0.99)
    rule = wl.engines.LargestFirst(left_out=4000.0, least_entries=0)
    s = solved(skewed, rule, tolerance=1e-4)
    sizes = [int(note.split()[2]) for note in rounds(s)]
    assert len(sizes) > 1
    assert sizes == sorted(sizes)
    assert s.status is wl.Status.OPTIMAL
    assert s.value == pytest.approx(-optimum(skewed), rel=1.1e-4)
    count = [step.iteration for step in s.history]
    assert count == sorted(count)
    assert np.all(np.diff([step.elapsed for step in s.history]) >= 0.0)


@given(seed=SEEDS)
def test_a_part_is_the_problem_without_the_others(seed: int) -> None:
    problem = flow(seed, te.max_total_flow)
    known = worth(problem)
    assert known is not None
    s, brings = known
    assert brings == pytest.approx(problem.rows.upper[s.row])  # all that a pair asks for
    blocks = largest(brings, 0.3)
    assert brings[~blocks].sum() <= 0.3 * brings.sum() * (1.0 + 1e-12)
    assert np.min(brings[blocks]) >= np.max(brings[~blocks], initial=0.0)
    part, left = part_of(s, blocks, 1.0), problem.upper.copy()
    left[np.setdiff1d(s.entry, part.entries)] = 0.0
    assert optimum(part.problem) == pytest.approx(optimum(replace(problem, upper=left)), abs=1e-9)
    scarce, whole = part_of(s, blocks, 0.5).problem.rows, part.problem.rows
    own = np.isin(part.rows, s.row)
    assert np.array_equal(scarce.upper, np.where(own, whole.upper, 0.5 * whole.upper))


def test_other_problems_have_no_rounds(skewed: Separable) -> None:
    nobody = Iterate(np.zeros(0), np.zeros(0), np.zeros(0), Status.FAILED)

    def run(problem: Separable, rule: wl.engines.LargestFirst) -> Iterate | None:
        return Rounds(problem, Settings(1e-2), rule, lambda part, given: nobody).run()

    assert run(flow(3, te.min_max_utilisation), FEW) is None  # a scalar
    negative = np.where(skewed.rows.side == 0, -skewed.rows.upper, skewed.rows.upper)
    assert worth(replace(skewed, rows=replace(skewed.rows, upper=negative))) is None
    assert worth(replace(skewed, cost=0.0 * skewed.cost)) is None
    assert run(skewed, FEW) is None  # the round fails
    assert run(skewed, ALL) is None
    assert run(skewed, wl.engines.LargestFirst(least_entries=skewed.entries + 1)) is None


@pytest.mark.parametrize("when", [1, 5])
def test_a_stop_in_a_round_leaves_what_is_proved_there(skewed: Separable, when: int) -> None:
    def stop(step: Progress) -> bool:
        return step.iteration == when

    s = solved(skewed, FEW, on_progress=stop)
    assert s.status is wl.Status.INTERRUPTED
    assert s.certificate.violation <= 1e-9
    assert 0.0 < s.value <= -optimum(skewed) * (1.0 + 1e-9) <= s.bound * (1.0 + 2e-9)
    assert solved(skewed, FEW, time_limit=0.0).status is wl.Status.LIMIT


@pytest.mark.parametrize("stage", ["worth", "part_of", "dual_bound"])
def test_ctrl_c_anywhere_in_a_round_gives_an_allocation(
    skewed: Separable, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(largest_first, stage, pressed)
    s = solved(skewed, FEW)
    assert s.status is wl.Status.INTERRUPTED
    assert s.certificate.violation <= 1e-9
    assert solved(flow(3, te.min_max_utilisation), FEW).status is wl.Status.OPTIMAL  # no rounds


def test_a_round_that_ends_by_its_iterations_leaves_the_rest_to_all_demands(
    skewed: Separable,
) -> None:
    few = wl.engines.LargestFirst(left_out=4e3, least_entries=0)
    engine = wl.engines.ADMM(iterations=5, largest_first=few)
    s = wl.solve(skewed, engine=engine, tolerance=1e-4)
    assert s.status is wl.Status.LIMIT
    assert len(s.history.steps) > 10


def test_what_the_rounds_proved_is_kept_where_the_whole_problem_proves_less(
    skewed: Separable,
) -> None:
    best = solved(skewed, ALL, tolerance=1e-6)
    poor = Iterate(np.zeros(skewed.entries), np.zeros(0), np.zeros(skewed.rows.count), Status.LIMIT)
    rule = wl.engines.LargestFirst(left_out=4e5, least_entries=0)
    few = Rounds(skewed, Settings(1e-6), rule, wl.engines.ADMM()._at_once)
    first = few.run()
    assert first is not None
    assert first.status is Status.INACCURATE
    kept = few.or_better(poor)
    assert kept.status is Status.LIMIT
    assert minimised_value(skewed, kept.x, kept.t) < 0.0
    assert dual_bound(skewed, kept.prices).value > dual_bound(skewed, poor.prices).value
    known = Iterate(best.x, np.zeros(0), best.prices.rows, Status.LIMIT)
    better = few.or_better(known)
    assert minimised_value(skewed, better.x, better.t) == pytest.approx(-best.value)
    assert better.prices is known.prices
