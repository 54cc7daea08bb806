"""Warm starts: matched by name, they change the way, never the optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import walras as wl
from walras.separable import Separable
from walras.start import start_from

cs = wl.domains.cluster_scheduling
OBJECTIVES = {
    "max_min": cs.max_min,
    "proportional": cs.proportional_fairness,
    "throughput": cs.total_throughput,
}


def table(seed: int, m: int = 4, n: int = 30) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        rng.lognormal(0, 0.8, (m, n)),
        index=[f"type{i}" for i in range(m)],
        columns=[f"job{j}" for j in range(n)],
    )


def later(T: pd.DataFrame) -> pd.DataFrame:
    """Two jobs gone, three new, the rest in another order."""
    rng = np.random.default_rng(9)
    new = pd.DataFrame(
        rng.lognormal(0, 0.8, (len(T), 3)), index=T.index, columns=["new0", "new1", "new2"]
    )
    return pd.concat([new, T.drop(columns=["job3", "job17"]).iloc[:, ::-1]], axis=1)


def stated(name: str, T: pd.DataFrame, capacity: float) -> Separable:
    return OBJECTIVES[name](T, np.ones(T.shape[1]), np.full(len(T), capacity))


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("capacity", [3.0, 2.0, 9.0])
def test_the_same_optimum_after_jobs_and_capacities_changed(name: str, capacity: float) -> None:
    before = wl.solve(stated(name, table(0), 3.0), engine="interior", threads=1)
    problem = stated(name, later(table(0)), capacity)
    cold = wl.solve(problem, engine="interior", threads=1)
    warm = wl.solve(problem, engine="interior", threads=1, start=before)
    assert warm.status is cold.status is wl.Status.OPTIMAL
    assert warm.engine == "interior"
    scale = problem.gap_scale or abs(cold.value)
    assert warm.value == pytest.approx(cold.value, abs=3e-6 * scale)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_resource_may_come_or_go(name: str) -> None:
    T = table(1)
    before = wl.solve(stated(name, T, 3.0), engine="interior", threads=1)
    for changed in (T.drop(index="type2"), pd.concat([T, 2 * T.iloc[:1].rename({"type0": "x"})])):
        problem = stated(name, changed, 3.0)
        cold = wl.solve(problem, engine="exact", threads=1)
        warm = wl.solve(problem, engine="interior", threads=1, start=before)
        scale = problem.gap_scale or abs(cold.value)
        assert warm.value == pytest.approx(cold.value, abs=3e-6 * scale)


@pytest.mark.parametrize("engine", ["interior", "exact", "pop"])
def test_every_engine_takes_a_start_and_keeps_its_optimum(engine: str) -> None:
    before = wl.solve(stated("proportional", table(0), 3.0), threads=1)
    problem = stated("proportional", later(table(0)), 3.0)
    cold = wl.solve(problem, engine=engine, threads=1)
    warm = wl.solve(problem, engine=engine, threads=1, start=before)
    assert warm.engine == cold.engine == engine
    assert warm.status is cold.status
    assert problem.gap_scale is not None
    assert warm.value == pytest.approx(cold.value, abs=3e-6 * problem.gap_scale)


def test_entries_and_prices_are_matched_by_name() -> None:
    T = table(2)
    before = wl.solve(stated("max_min", T, 3.0), engine="interior", threads=1)
    changed = later(T)
    problem = stated("max_min", changed, 3.0)
    start = start_from(problem, before)
    x = problem.dense(np.nan_to_num(start.x))
    for j, job in enumerate(changed.columns):
        if str(job).startswith("new"):
            assert np.all(np.isnan(start.x[problem.demand == j]))
        else:
            assert x[:, j] == pytest.approx(before.frame()[job].to_numpy())
    names = {
        before.problem.rows.name(k): before.prices.rows[k] for k in range(before.problem.rows.count)
    }
    for k in range(problem.rows.count):
        price = names.get(problem.rows.name(k))
        assert np.isnan(start.prices[k]) if price is None else start.prices[k] == price


def test_scalars_are_carried_where_they_are_the_same() -> None:
    speed, size, gpus = [[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1]
    s = wl.solve(cs.max_min(speed, size, gpus))
    assert start_from(cs.max_min(speed, size, gpus), s).t == pytest.approx(s.scalars)
    assert start_from(cs.total_throughput(speed, size, gpus), s).t is None


@pytest.mark.parametrize("engine", ["exact", "interior"])
def test_scalars_without_names_may_be_more_than_before(engine: str) -> None:
    one = replace(cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1]), scalar_names=())
    wide = np.hstack([one.rows.scalar_matrix, np.zeros((one.rows.count, 1))])
    two = replace(
        one,
        scalar_cost=np.append(one.scalar_cost, 1.0),
        scalar_lower=np.append(one.scalar_lower, 0.0),
        scalar_upper=np.append(one.scalar_upper, 5.0),
        rows=replace(one.rows, scalar_matrix=wide),
    )
    s = wl.solve(one, engine=engine)
    assert wl.solve(two, engine=engine, start=s).value == pytest.approx(s.value)


def test_a_start_that_shares_no_name_is_refused() -> None:
    before = wl.solve(stated("max_min", table(0), 3.0), threads=1)
    T = table(0).rename(columns=lambda name: f"other_{name}")
    with pytest.raises(wl.InputError, match="no demand of the problem occurs"):
        wl.solve(stated("max_min", T, 3.0), start=before)
    T = table(0).rename(index=lambda name: f"other_{name}")
    with pytest.raises(wl.InputError, match="no resource of the problem occurs"):
        wl.solve(stated("max_min", T, 3.0), start=before)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_unchanged_problem_starts_near_its_end(name: str) -> None:
    steps = {"cold": 0, "warm": 0}
    for seed in (5, 6, 7):
        problem = stated(name, table(seed, m=5, n=80), 4.0)
        cold = wl.solve(problem, engine="interior", threads=1)
        warm = wl.solve(problem, engine="interior", threads=1, start=cold)
        assert warm.status is wl.Status.OPTIMAL
        steps["cold"] += len(cold.history)
        steps["warm"] += len(warm.history)
    assert steps["warm"] <= 0.7 * steps["cold"]


def test_frames_and_tables_start_as_the_solution_does() -> None:
    before = wl.solve(stated("max_min", table(0), 3.0), engine="interior", threads=1)
    problem = stated("max_min", later(table(0)), 3.0)
    by_name = start_from(problem, before)
    framed = start_from(problem, before.frame().sample(frac=1.0, random_state=0))
    assert np.array_equal(framed.x, by_name.x, equal_nan=True)
    assert np.all(np.isnan(framed.prices))
    same = before.problem
    for given in (before.x, before.entries, before.entries[:, None], before.entries.tolist()):
        assert np.array_equal(start_from(same, given).x, start_from(same, before).x)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("known", ["frame", "x", "prices of another objective"])
def test_a_start_without_prices_of_the_objective_is_taken_and_warns_of_nothing(
    name: str, known: str
) -> None:
    old = table(5, 20, 80)
    new = old.rename(columns={"job3": "new0", "job17": "new1"})
    new[["new0", "new1"]] *= 0.7
    other = name if known != "prices of another objective" else "throughput"
    before = wl.solve(stated(other, old, 3.0), engine="interior", threads=1)
    start: Any = {"frame": before.frame(), "x": before.x}.get(known, before)
    problem = stated(name, new, 3.0)
    cold = wl.solve(problem, engine="interior", threads=1)
    warm = wl.solve(problem, engine="interior", threads=1, start=start)
    assert warm.status is wl.Status.OPTIMAL
    scale = problem.gap_scale or abs(cold.value)
    assert warm.value == pytest.approx(cold.value, abs=3e-6 * scale)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("before", "is a str"),
        ({"a": 1.0}, "is a dict"),
        (["much"], "is not numeric"),
        (np.zeros(2), r"has shape \(2,\)"),
        (np.full((3, 12), np.inf), r"start\[0, 0\]: is inf.* 36 such entries"),
        (pd.DataFrame([[1.0]], index=["other"], columns=["other"]), "no resource of the problem"),
    ],
)
def test_a_start_of_another_kind_is_refused(start: Any, words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        wl.solve(stated("max_min", table(0), 3.0), start=start)


@pytest.mark.parametrize("engine", ["interior", "pop"])
@pytest.mark.parametrize("flow", [0.0, -1.0])
@pytest.mark.parametrize("objective", ["max_total_flow", "min_max_utilisation"])
def test_an_array_of_nothing_starts_a_solve(objective: str, engine: str, flow: float) -> None:
    te = wl.domains.traffic_engineering
    net = te.load_topology("B4", synthetic=True)
    paths = te.candidate_paths(net, k=2, cache=False)
    demand = te.lognormal_traffic(net, seed=0)
    problem = getattr(te, objective)(net, demand, paths)
    cold = wl.solve(problem, engine=engine)
    warm = wl.solve(problem, engine=engine, start=np.full(paths.count, flow))
    assert warm.status == cold.status
    assert warm.value == pytest.approx(cold.value, rel=1e-2 if engine == "pop" else 1e-5)


def test_the_frame_of_flows_on_paths_starts_a_solve_by_their_names() -> None:
    te = wl.domains.traffic_engineering
    net = te.load_topology("B4", synthetic=True)
    demand = te.lognormal_traffic(net, seed=0)
    few, more = (te.candidate_paths(net, k=k, cache=False) for k in (1, 2))
    frame = wl.solve(te.max_total_flow(net, demand, few)).frame()
    problem = te.max_total_flow(net, demand, more)
    start = start_from(problem, frame)
    names = [problem.entry_name(k) for k in range(problem.entries)]
    expected = frame["amount"].reindex(names).to_numpy()
    assert np.isnan(expected).any()
    assert np.array_equal(start.x, expected, equal_nan=True)
    assert wl.solve(problem, start=frame).status is wl.Status.OPTIMAL
    frame.index = [f"other {name}" for name in frame.index]
    with pytest.raises(wl.InputError, match="such as 'flow on"):
        start_from(problem, frame)


def test_a_start_of_other_names_is_told_a_name_of_the_problem() -> None:
    def named(*jobs: str) -> Separable:
        return cs.max_min(pd.DataFrame([[1.0, 2.0]], columns=list(jobs)), np.ones(2), [1.0])

    with pytest.raises(wl.InputError, match="such as 'a'"):
        wl.solve(named("a", "b"), start=wl.solve(named("zz", "y")))
