"""The interior engine beyond the bank: column generation at size, both sides, bad entries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from tests.bank.statement import Entry, Row, state

import walras as wl
from walras.certificate import certify
from walras.engines.interior import Interior, engine
from walras.engines.interior.columns import Pool, first_entries, known_entries
from walras.engines.interior.form import MAX_BORDER, Form, make_form
from walras.engines.interior.loop import Termination, run
from walras.engines.interior.point import Layout, Point
from walras.separable import Separable, Side
from walras.settings import Settings

cs = wl.domains.cluster_scheduling


def cluster(m: int, n: int, tightness: float = 0.3) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng([m, n])
    T = np.exp(rng.normal(0, 1, (m, 1)) + rng.normal(0, 1, (1, n)) + rng.normal(0, 0.4, (m, n)))
    size = rng.choice([1.0, 2.0, 4.0, 8.0], n)
    capacity = rng.choice([8.0, 16.0, 32.0, 64.0], m)
    return T, size, capacity * tightness * size.sum() / capacity.sum()


@pytest.mark.parametrize("tightness", [0.1, 0.3, 3.0])
@pytest.mark.parametrize("objective", [cs.max_min, cs.proportional_fairness, cs.total_throughput])
def test_column_generation_finds_what_all_entries_find(
    objective: object, tightness: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem: Separable = objective(*cluster(40, 300, tightness))  # type: ignore[operator]
    values = []
    for few in (False, True):
        monkeypatch.setattr(engine, "_many_columns", lambda problem, rule, few=few: few)
        s = wl.solve(problem, engine="interior", threads=2)
        assert (s.engine, s.status) == ("interior", wl.Status.OPTIMAL)
        values.append(s.value)
    scale = problem.gap_scale or abs(values[0])
    assert values[1] == pytest.approx(values[0], abs=2e-6 * scale)


@pytest.mark.parametrize(("off", "costs_nothing"), [(-1e-4, False), (5e-8, True)])
def test_columns_that_end_short_of_their_rows_prove_what_repair_leaves(
    off: float, costs_nothing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stalled run whose point hardly violates its rows may have a gap of nothing all the same.

    All entries come in only where the point, once its rows hold, is not within the tolerance.
    """
    problem = cs.total_throughput(*cluster(40, 300))
    rounds: list[int] = []

    def stalled(form: Form, layout: Layout, point: Point, _: float, *arguments: Any) -> Termination:
        termination = run(form, layout, point, 1e-9, *arguments)
        rounds.append(len(form.columns))
        if len(form.columns) == problem.entries:
            return termination
        point = replace(termination.point, primal=termination.point.primal * (1.0 + off))
        bad = replace(termination.residuals, primal_error=5e-8)
        return replace(termination, point=point, residuals=bad, converged=False)

    monkeypatch.setattr(engine, "_many_columns", lambda problem, rule: True)
    monkeypatch.setattr(engine, "run", stalled)
    found = Interior().solve(problem, Settings(1e-6, None, 2))
    assert rounds[0] < problem.entries
    assert (rounds[-1] < problem.entries) == costs_nothing
    assert found.status is wl.Status.OPTIMAL
    proof = certify(problem, found.x, found.t, found.prices)
    assert proof.proves(1e-6)


def test_rounds_that_bring_no_entries_and_no_better_gap_aim_lower(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    problem = cs.max_min(rng.lognormal(0, 1, (40, 200)), np.ones(200), np.full(40, 3.0))
    gaps: list[float] = []

    def stands(*_: object) -> tuple[float, int]:
        gaps.append(1e-5)  # above the method's own gap, which is within its share of the tolerance
        return gaps[-1], 0

    monkeypatch.setattr(engine._Solve, "_price", stands)
    Interior().solve(problem, Settings(threads=1))
    assert 2 < len(gaps) <= 6


def test_large_instances_are_solved_by_columns() -> None:
    problem = cs.max_min(*cluster(100, 600))
    s = wl.solve(problem, engine="interior", threads=2)
    assert s.status is wl.Status.OPTIMAL
    assert any("entries" in step.note for step in s.history)
    counts = [int(step.note.split()[0]) for step in s.history if "entries" in step.note]
    assert counts[0] < 0.5 * problem.entries


def test_the_wide_side_stands_in_blocks() -> None:
    few_types = make_form(cs.max_min(*cluster(3, 50)))
    assert few_types.blocks == 50
    few_jobs = make_form(cs.max_min(*cluster(50, 3)))
    assert few_jobs.blocks == 50
    assert few_types.narrow.shape[0] < 10
    assert few_jobs.narrow.shape[0] < 15


def test_free_entries_beyond_the_border_are_refused() -> None:
    count = MAX_BORDER + 1
    problem = state(
        [Entry(0, j, 0.0, -np.inf, quadratic=1.0) for j in range(count)],
        [Row("sum[r0]", {j: 1.0 for j in range(count)}, 1.0, 1.0, side=Side.RESOURCE)],
    )
    with pytest.raises(wl.EngineError, match=f"{count} free entries"):
        Interior().solve(problem, Settings())


def test_progress_ends_near_the_certificate() -> None:
    s = wl.solve(cs.proportional_fairness(*cluster(5, 60)), engine="interior", tolerance=1e-8)
    last = s.history[-1]
    assert last.value == pytest.approx(s.value, abs=1e-5 * 60)
    assert last.primal_residual <= 1e-7
    assert last.dual_residual <= 1e-7


def test_bad_iterates_are_not_feasible_by_luck() -> None:
    """What the engine hands back is repaired: never more than a resource has."""
    T, size, capacity = cluster(4, 30)
    s = wl.solve(cs.max_min(T, size, capacity), engine="interior", threads=1)
    assert np.all(s.x @ size <= capacity * (1 + 1e-12))
    assert np.all(s.x.sum(axis=0) <= 1 + 1e-12)
    assert np.all(s.x >= 0)


def test_a_warm_start_takes_in_entries_of_no_demand() -> None:
    """Pricing looks at demands' entries alone: an entry of none that is left out never comes in."""
    entries = [Entry(0, 0), Entry(0, 1), Entry(0, -1)]
    problem = state(entries, [Row("sum[r0]", dict.fromkeys(range(3), 1.0), -np.inf, 1.0)])
    active = known_entries(
        problem, Pool.of(problem.demand), np.array([0.5, 0.5, 0.0]), np.zeros(1), 1
    )
    assert active[2]


def market(jobs: int, seed: int) -> Separable:
    rng = np.random.default_rng(seed)
    return cs.max_min(rng.lognormal(0, 1, (40, jobs)), np.ones(jobs), np.full(40, 0.5))


def test_a_warm_start_takes_the_best_entries_of_a_new_demand() -> None:
    """Those that bring most for what known prices charge, but none that is fixed at zero."""
    problem = market(12, 3)
    new = np.flatnonzero(problem.demand == 5)
    capacity = problem.rows.families[0]
    prices = np.zeros(problem.rows.count)
    prices[capacity.start : capacity.stop] = np.random.default_rng(3).uniform(0.1, 2.0, 40)
    brings = -problem.rows.matrix[capacity.stop + 12 :, new].toarray().sum(axis=0)
    charge = prices[:40][problem.resource[new]]
    best = {
        int(q)
        for share in (0.01, 0.1, 1.0, 10.0)
        for q in np.argsort(-brings / (charge + share * charge.mean()))[:6]
    }
    x = np.where(problem.demand == 5, np.nan, 0.1)
    pool = Pool.of(problem.demand)
    active = known_entries(problem, pool, x, prices, 1)
    assert set(np.flatnonzero(active[new]).tolist()) == best
    assert len(best) < 40
    upper = problem.upper.copy()
    upper[new[list(best)]] = 0.0
    rest = known_entries(replace(problem, upper=upper), pool, x, prices, 1)[new]
    assert not np.any(rest[list(best)])
    assert np.sum(rest) >= min(6, 40 - len(best))


def test_a_warm_start_takes_what_a_cold_one_would_where_prices_or_demands_are_known() -> None:
    """A guess without prices, or a new resource: new entries have to beat their demand's others."""
    problem = market(12, 4)
    pool = Pool.of(problem.demand)
    cold = first_entries(problem, pool, 1)
    nothing = np.full(problem.entries, np.nan)
    assert np.array_equal(known_entries(problem, pool, nothing, np.zeros(52 + 12), 1), cold)
    before = wl.solve(problem, engine="interior", threads=1)
    new = problem.resource >= 30
    x = np.where(new, np.nan, before.entries)
    active = known_entries(problem, pool, x, before.prices.rows, 1)
    assert np.array_equal(active[new], cold[new])
    assert np.sum(active & new) < np.sum(new)


@pytest.mark.parametrize("types", [10, 60])  # all entries at once, and a few a job
@pytest.mark.parametrize(("new", "warm"), [(1, True), (60, True), (120, False)])
def test_a_start_of_which_many_demands_are_unknown_is_left_out(
    types: int, new: int, warm: bool
) -> None:
    T = pd.DataFrame(np.random.default_rng(types).lognormal(0, 1, (types, 300 + new)))
    data = np.ones(300), np.full(types, 100 / types)
    before = wl.solve(cs.proportional_fairness(T.iloc[:, :300], *data), engine="interior")
    problem = cs.proportional_fairness(T.iloc[:, new:], *data)  # the last ones are new
    known, nothing = (
        wl.solve(problem, engine="interior", threads=1, start=start) for start in (before, None)
    )
    assert ("warm" in known.history[0].note) == warm
    if not warm:
        assert [step.gap for step in known.history] == [step.gap for step in nothing.history]
    assert known.value == pytest.approx(nothing.value, abs=1e-6 * 300)


@pytest.mark.parametrize("gain", [0.0, 0.002, 0.02])
def test_an_optimum_of_zero_is_recognised(gain: float) -> None:
    """The gap ratios with the value: no ratio of the two ever says that nothing is worth doing."""
    size = np.random.default_rng(0).integers(1, 5, 9).astype(float)
    x = cp.Variable((4, 9), nonneg=True)
    peak = cp.max((x @ size) / 5.0)
    problem = wl.Problem(cp.Minimize(peak - gain * cp.sum(x)), [cp.sum(x, axis=0) <= 1])
    problem.solve(engine="interior")
    assert problem.solution is not None
    assert problem.solution.engine == "interior"
    assert problem.status == "optimal"
    assert problem.value == pytest.approx(0.0, abs=1e-12)
    assert len(problem.solution.history) < 20
