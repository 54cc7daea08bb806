from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.cell import Cell
from benchmarks.flow import FlowInstance, read_instance
from benchmarks.flow_instances import FlowSpec, build_flow, statement
from benchmarks.flow_judge import flow_violation, judge_flow, largest_share
from benchmarks.forms import flow_program, stated
from benchmarks.instances import build
from benchmarks.measure import measure
from benchmarks.peers import METHODS
from benchmarks.problem import Budget

import walras as wl

B4 = FlowSpec("B4", 0.5)
HARD = FlowSpec("ASN2k-14", 0.5, traffic="hard")
FLOW, UTILISATION = "max-total-flow", "min-max-utilisation"


def triangle() -> FlowInstance:
    """a->b directly (capacity 2) or over c (capacity 3); c->b directly. Demands 4 and 1."""
    return FlowInstance(
        tail=np.array([0, 0, 2], np.int32),
        head=np.array([1, 2, 1], np.int32),
        capacity=np.array([2.0, 3.0, 2.5]),
        origin=np.array([0, 2], np.int32),
        target=np.array([1, 1], np.int32),
        demand=np.array([4.0, 1.0]),
        first=np.array([0, 2, 3]),
        pointer=np.array([0, 1, 3, 4]),
        links=np.array([0, 1, 2, 2], np.int32),
        nodes=3,
    )


def same(a: FlowInstance, b: FlowInstance) -> bool:
    names = ("tail", "head", "capacity", "origin", "target", "demand", "first", "pointer", "links")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


@pytest.mark.parametrize("spec", [B4, HARD, replace(B4, churn=0.1)], ids=lambda spec: spec.name)
def test_a_spec_names_its_arrays_completely(spec: FlowSpec, tmp_path: Path) -> None:
    made, again = build_flow(spec), build_flow(spec)
    assert same(made, again)
    made.save(tmp_path / "instance.npz")
    stored = read_instance(tmp_path / "instance.npz")
    assert isinstance(stored, FlowInstance)
    assert same(stored, made)
    assert (stored.nodes, stored.source) == (made.nodes, made.source)
    assert "/" not in made.source  # a record must not tell where its data lie


def test_the_level_is_traffic_over_capacity_and_churn_moves_demands_alone() -> None:
    before, after = build(B4), build(replace(B4, churn=0.1))
    assert before.load == pytest.approx(0.5)
    assert np.array_equal(before.links, after.links)
    moved = np.log(after.demand / before.demand)
    assert 0.05 < moved.std() < 0.15


def test_some_pairs_keep_their_paths() -> None:
    whole = build(B4)
    pairs = np.array([3, 40, 41])
    part = whole.part(pairs)
    assert np.array_equal(part.demand, whole.demand[pairs])
    for k, pair in enumerate(pairs):
        mine = range(part.first[k], part.first[k + 1])
        theirs = range(whole.first[pair], whole.first[pair + 1])
        for p, q in zip(mine, theirs, strict=True):
            own = part.links[part.pointer[p] : part.pointer[p + 1]]
            assert np.array_equal(own, whole.links[whole.pointer[q] : whole.pointer[q + 1]])
            assert part.tail[own[0]] == part.origin[k]
            assert part.head[own[-1]] == part.target[k]


def test_the_linear_program_is_the_domains_statement() -> None:
    instance = build(B4)
    rng = np.random.default_rng(0)
    flow = rng.exponential(size=instance.paths)
    for objective in (FLOW, UTILISATION):
        problem = statement(instance, objective)
        program = flow_program(instance, objective)
        t = np.full(problem.scalars, 0.7)
        ours = problem.rows.matrix @ flow + problem.rows.scalar_matrix @ t
        assert program.matrix @ np.concatenate([flow, t]) == pytest.approx(ours)
        assert program.upper == pytest.approx(problem.rows.upper)
    with pytest.raises(KeyError):
        flow_program(instance, "max-min")


def test_the_triangle_by_hand() -> None:
    """4.5 of 5 fit: 2 directly, 2.5 through c->b. The least utilisation is 5 / 4.5."""
    instance = triangle()
    for objective, value in ((FLOW, 4.5), (UTILISATION, 5 / 4.5)):
        outcome = METHODS["highs"].run(instance, objective, Budget())
        assert outcome.x is not None
        verdict = judge_flow(instance, objective, outcome.x, outcome.prices)
        assert verdict.value == pytest.approx(value, rel=1e-9)
        assert verdict.bound == pytest.approx(value, rel=1e-9)
        assert verdict.violation <= 1e-9


def test_violations_are_seen_and_repaired() -> None:
    instance = triangle()
    assert flow_violation(instance, FLOW, np.array([2.0, 1.0, 1.0])) == 0.0
    assert flow_violation(instance, FLOW, np.array([3.0, 1.0, 1.0])) == pytest.approx(0.5)
    assert flow_violation(instance, FLOW, np.array([2.0, 1.0, 1.4])) == pytest.approx(0.4)
    assert flow_violation(instance, FLOW, np.array([2.0, -1.0, 1.0])) == pytest.approx(0.25)
    assert flow_violation(instance, UTILISATION, np.array([2.0, 1.0, 1.0])) == pytest.approx(0.25)
    assert flow_violation(instance, FLOW, np.array([np.nan, 0.0, 0.0])) == np.inf
    for objective in (FLOW, UTILISATION):
        verdict = judge_flow(instance, objective, np.array([9.0, 9.0, 9.0]), None)
        assert np.isfinite(verdict.value)
        assert verdict.bound is None
    assert judge_flow(instance, FLOW, np.array([9.0, 9.0, 9.0]), None).value <= 4.5


def test_wild_prices_prove_no_more_than_the_optimum() -> None:
    instance, rng = triangle(), np.random.default_rng(1)
    for _ in range(20):
        prices = rng.exponential(size=5)
        flow = judge_flow(instance, FLOW, np.zeros(3), prices)
        assert flow.bound is not None
        assert flow.bound >= 4.5 * (1 - 1e-12)
        load = judge_flow(instance, UTILISATION, np.array([2.0, 2.0, 1.0]), prices)
        assert load.bound is not None
        assert load.bound <= 5 / 4.5 * (1 + 1e-12)


def test_a_hard_instance_hangs_on_no_single_demand() -> None:
    """Relaxing any one demand, even to nothing, moves the optimum by under 1 %.

    The certificate's prices prove it of every demand whose term in the bound is below 1 % of it;
    the optimum without the demand proves it of the others, and of the largest in any case.
    """
    instance = build(FlowSpec("ASN2k-60", 0.5, traffic="hard"))
    whole = wl.solve(statement(instance, UTILISATION), engine="interior")
    assert whole.value == pytest.approx(1.0, rel=1e-6)
    terms = instance.demand * instance.least(whole.prices["capacity"])
    share = terms / terms.sum()
    unproved = np.union1d(np.flatnonzero(share >= 0.01), np.argmax(share))
    assert len(unproved) <= 3
    for k in unproved:
        less = instance.part(np.delete(np.arange(len(terms)), k))
        without = wl.solve(statement(less, UTILISATION), engine="interior")
        assert 1.0 - 0.01 < without.bound <= 1.0 + 1e-6
    drawn = build(FlowSpec("ASN2k-60", 0.5))
    easy = wl.solve(statement(drawn, UTILISATION), engine="interior")
    assert largest_share(drawn, easy.prices["capacity"]) > 0.05


@pytest.mark.parametrize("method", ["highs-ipm", "highs", "walras", "walras-interior"])
@pytest.mark.parametrize("objective", [FLOW, UTILISATION])
def test_optimal_methods_agree_on_b4(method: str, objective: str) -> None:
    instance = build(B4)
    best = wl.solve(statement(instance, objective), engine="exact")
    outcome = METHODS[method].run(instance, objective, Budget())
    assert outcome.x is not None
    verdict = judge_flow(instance, objective, outcome.x, outcome.prices)
    assert verdict.value == pytest.approx(best.value, rel=1e-5)
    assert verdict.bound == pytest.approx(best.value, rel=1e-5)


@pytest.mark.parametrize("method", ["shortest-path", "pinning", "pop-4", "pop-16"])
def test_heuristics_are_feasible_and_below_the_optimum(method: str) -> None:
    instance = build(B4)
    best = wl.solve(statement(instance, FLOW), engine="exact")
    outcome = METHODS[method].run(instance, FLOW, Budget())
    assert outcome.x is not None
    verdict = judge_flow(instance, FLOW, outcome.x, outcome.prices)
    assert verdict.violation <= 1e-9
    assert 0.3 * best.value < verdict.value <= best.value * (1 + 1e-9)


def test_a_flow_is_measured_like_a_round() -> None:
    cells = [Cell("test", B4, FLOW, m, estimate=5.0, runs=2) for m in ("walras", "highs-ipm")]
    ours, theirs = (measure(cell) for cell in cells)
    assert ours["status"] == theirs["status"] == "ran", (ours["message"], theirs["message"])
    assert ours["value"] == pytest.approx(theirs["value"], rel=1e-5)
    assert ours["numbers"]["bound"] == pytest.approx(theirs["numbers"]["bound"], rel=1e-5)
    assert (ours["cell"]["resources"], ours["cell"]["demands"]) == (38, 132)
    assert ours["peak_bytes"] > 2**20
    assert len(ours["trace"]) == ours["iterations"]


@pytest.mark.parametrize("method", ["walras-admm", "walras-collapsed"])
def test_first_order_methods_prove_their_per_cent(method: str) -> None:
    outcome = METHODS[method].run(build(B4), FLOW, Budget())
    assert outcome.x is not None
    verdict = judge_flow(build(B4), FLOW, outcome.x, outcome.prices)
    assert verdict.bound is not None
    assert 0.99 * verdict.bound <= verdict.value <= verdict.bound
    seconds, values, bounds = np.array(outcome.trace).T
    assert (np.diff(seconds) > 0).all()
    assert (values[-1], bounds[-1]) == pytest.approx((verdict.value, verdict.bound), rel=1e-6)


def test_columns_become_flows() -> None:
    instance = build(B4)
    _, allocation = stated(instance, UTILISATION)
    assert allocation(np.arange(instance.paths + 1.0)).shape == (instance.paths,)
