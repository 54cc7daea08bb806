"""A session's answers are those of its present problem stated afresh, round after round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.programs.pivots import count_pivots

import walras as wl
from walras.kernels.schur import sparse
from walras.separable import Separable
from walras.types import Longs

cs, te = wl.domains.cluster_scheduling, wl.domains.traffic_engineering
TYPES = ("a100", "v100", "t4")
Job = tuple[int, float]  # seed of its speeds, and its size
STATEMENTS: dict[str, Callable[..., Separable]] = {
    "max_min": cs.max_min,
    "proportional": cs.proportional_fairness,
    "throughput": cs.total_throughput,
    "potential delay": lambda *arrays, **names: cs.alpha_fair(*arrays, alpha=2.0, **names),
}


def speeds(jobs: dict[str, Job], types: int = len(TYPES)) -> np.ndarray:
    """(types, jobs) speeds; a job may lack all types but the first."""
    drawn = [np.random.default_rng(seed) for seed, _ in jobs.values()]
    fits = [rng.random(types) < np.append(1.0, np.full(types - 1, 0.7)) for rng in drawn]
    columns = [rng.lognormal(0, 1, types) * fit for rng, fit in zip(drawn, fits, strict=True)]
    return np.array(columns).T


def stated(
    objective: str, jobs: dict[str, Job], gpus: np.ndarray, types: tuple[str, ...] = TYPES
) -> Separable:
    size = np.array([size for _, size in jobs.values()])
    names: dict[str, Any] = {"demand_names": list(jobs), "resource_names": types}
    return STATEMENTS[objective](speeds(jobs, len(types)), size, gpus, **names)


def check_same(found: Separable, wanted: Separable) -> None:
    """Two problems are the same, number by number and name by name."""
    for field in fields(Separable):
        one, other = getattr(found, field.name), getattr(wanted, field.name)
        if isinstance(one, np.ndarray):
            np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=field.name)
        elif field.name not in ("rows", "namer", "keys"):
            listed = not isinstance(one, str) and isinstance(one, Sequence)
            assert (list(one) == list(other)) if listed else (one == other), field.name
    for field in fields(type(found.rows)):
        one, other = getattr(found.rows, field.name), getattr(wanted.rows, field.name)
        if isinstance(one, sp.csc_array):
            assert one.has_sorted_indices
            assert abs(one - other).nnz == 0
        elif field.name != "families":
            np.testing.assert_array_equal(one, other, err_msg=field.name)
    count = found.rows.count
    assert list(map(found.rows.name, range(count))) == list(map(wanted.rows.name, range(count)))
    entries = range(0, found.entries, max(found.entries // 10, 1))
    assert list(map(found.entry_name, entries)) == list(map(wanted.entry_name, entries))


def check_answer(found: wl.Solution, fresh: Separable) -> None:
    """A certified answer, as good as that of the same problem stated afresh."""
    cold = wl.solve(fresh, threads=1)
    assert found.status is cold.status is wl.Status.OPTIMAL
    scale = fresh.gap_scale or max(abs(cold.value), abs(found.value))
    assert abs(found.value - cold.value) <= 2.1e-6 * scale
    again = wl.certificate.certify(
        fresh, found.entries, found.scalars, found.prices.rows
    )  # what the session says of itself holds of the fresh statement
    assert again.proves(1e-6)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, dict[str, Job]]]:
    """Rounds of what happens to which jobs."""
    job = st.tuples(st.integers(0, 10**6), st.sampled_from([1.0, 2.0, 4.0]))
    there = [f"job{k}" for k in range(draw(st.integers(1, 4)))]
    found = [("add", {name: draw(job) for name in there})]
    for k in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["add", "remove", "change", "limit"]))
        if kind == "add":
            some = [f"new{k}.{n}" for n in range(draw(st.integers(1, 3)))]
            there += some
        elif kind == "limit":
            some = list(TYPES)
        else:
            most = len(there) - (kind == "remove")
            some = draw(st.lists(st.sampled_from(there), max_size=most, unique=True))
        there = [name for name in there if kind != "remove" or name not in some]
        found.append((kind, {name: draw(job) for name in some}))
    return found


@settings(max_examples=25, deadline=None)
@given(objective=st.sampled_from(sorted(STATEMENTS)), history=histories(), patient=st.booleans())
def test_any_history_ends_at_the_problem_stated_afresh(
    objective: str, history: list[tuple[str, dict[str, Job]]], patient: bool
) -> None:
    gpus, jobs = np.array([2.0, 3.0, 1.0]), dict(history[0][1])
    session = wl.Session(stated(objective, jobs, gpus))
    for kind, some in history[1:]:
        if kind == "remove":
            session.remove(list(some))
            jobs = {name: job for name, job in jobs.items() if name not in some}
        elif kind == "limit":
            gpus = np.array([1.0 + seed % 7 for seed, _ in some.values()])
            session.limit("capacity", dict(zip(TYPES, gpus, strict=True)))
        elif some:
            getattr(session, kind)(stated(objective, some, gpus))
            jobs |= some
        if not patient:
            fresh = stated(objective, jobs, gpus)
            check_answer(session.solve(threads=1), fresh)
    fresh = stated(objective, jobs, gpus)
    assert session.demand_names == tuple(jobs)
    check_same(session.problem, fresh)
    check_answer(session.solve(threads=1), fresh)


@pytest.mark.parametrize("share", [0.01, 0.2])
@pytest.mark.parametrize("objective", sorted(STATEMENTS))
def test_rounds_by_the_interior_point(objective: str, share: float) -> None:
    """Larger rounds, so that columns are generated and starts are used."""
    types, rng = tuple(f"type{i}" for i in range(30)), np.random.default_rng(1)
    jobs: dict[str, Job] = {f"job{k}": (k, 1.0 + k % 3) for k in range(250)}
    gpus = np.full(len(types), 5.0)
    session = wl.Session(stated(objective, jobs, gpus, types))
    session.solve(threads=1, engine="interior")
    for r in range(2):
        gone = rng.choice(list(jobs), max(int(share * len(jobs)), 1), replace=False)
        new: dict[str, Job] = {f"new{r}.{k}": (10**4 * (r + 1) + k, 2.0) for k in range(len(gone))}
        session.remove(gone.tolist())
        session.add(stated(objective, new, gpus, types))
        jobs = {name: job for name, job in jobs.items() if name not in gone} | new
        fresh = stated(objective, jobs, gpus, types)
        check_same(session.problem, fresh)
        check_answer(session.solve(threads=1, engine="interior"), fresh)


def test_max_min_by_highs_stated_by_hand() -> None:
    jobs: dict[str, Job] = {f"job{k}": (k, 1.0 + k % 2) for k in range(12)}
    gpus = np.array([2.0, 1.0, 2.0])
    session = wl.Session(stated("max_min", jobs, gpus))
    session.solve()
    session.remove(["job3", "job5"])
    new: dict[str, Job] = {"late": (77, 2.0)}
    session.add(stated("max_min", new, gpus))
    session.change(stated("max_min", {"job0": (99, 1.0)}, gpus))
    session.limit("capacity", {"t4": 1.5})
    jobs = {name: job for name, job in jobs.items() if name not in ("job3", "job5")} | new
    jobs["job0"] = (99, 1.0)
    m, n = len(TYPES), len(jobs)
    speed, size = speeds(jobs), np.array([s for _, s in jobs.values()])
    # columns x_ij job by job, then t: capacity, time, t <= y_j
    capacity = np.hstack([np.hstack([np.eye(m) * s for s in size]), np.zeros((m, 1))])
    time = np.hstack([np.kron(np.eye(n), np.ones(m)), np.zeros((n, 1))])
    rates = sp.block_diag([-speed[:, j][None] for j in range(n)]).toarray()
    rates = np.hstack([rates, np.ones((n, 1))])
    right = np.concatenate([[2.0, 1.0, 1.5], np.ones(n), np.zeros(n)])
    cost = np.append(np.zeros(m * n), -1.0)
    allowed = [(0, None) if s > 0 else (0, 0) for s in speed.T.ravel()]
    best = linprog(cost, np.vstack([capacity, time, rates]), right, bounds=[*allowed, (0, None)])
    assert best.fun is not None
    assert session.solve().value == pytest.approx(-best.fun, rel=2e-6)


def test_rounds_by_highs_begin_at_the_last_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    types = tuple(f"type-{i}" for i in range(12))
    jobs: dict[str, Job] = {f"job-{k}": (k, 1.0) for k in range(120)}
    gpus, pivots = np.full(12, 8.0), count_pivots(monkeypatch)
    session = wl.Session(stated("max_min", jobs, gpus, types))
    session.solve(engine="exact", threads=1)
    session.remove(["job-3", "job-50"])
    late: dict[str, Job] = {f"late-{k}": (1000 + k, 1.0) for k in range(2)}
    session.add(stated("max_min", late, gpus, types))
    session.solve(engine="exact", threads=1)
    session.limit("capacity", {"type-0": 4.0})
    found = session.solve(engine="exact", threads=1)
    cold, replaced, moved = pivots
    assert replaced < cold / 3
    assert moved < cold / 3
    gpus[0] = 4.0
    left = {name: job for name, job in jobs.items() if name not in ("job-3", "job-50")}
    check_answer(found, stated("max_min", left | late, gpus, types))


@pytest.mark.parametrize("fits", ["one type", "all types"])
@pytest.mark.parametrize("speed", [1e-8, 1e-12, 1e-20])
@pytest.mark.parametrize("shape", [(3, 6), (30, 250)])
def test_a_new_job_that_hardly_runs_sets_the_level(
    shape: tuple[int, int], speed: float, fits: str
) -> None:
    """The level falls by many decades, to what the slow job gets alone, and rises again."""
    types, rng = tuple(f"type{i}" for i in range(shape[0])), np.random.default_rng(7)
    quick = rng.lognormal(0, 1, shape)
    slow = speed * rng.lognormal(0, 1, (shape[0], 1)) * (fits == "all types")
    slow[rng.integers(shape[0])] = speed
    gpus, names = np.full(shape[0], 3.0), [f"job{k}" for k in range(shape[1])]
    session = wl.Session(
        cs.max_min(quick, np.ones(shape[1]), gpus, demand_names=names, resource_names=types)
    )
    before = session.solve(threads=1)
    session.add(cs.max_min(slow, [1.0], gpus, demand_names=["slow"], resource_names=types))
    found = session.solve(threads=1)
    # enough is left to all others, whose level of before is higher by decades
    assert found.status is wl.Status.OPTIMAL
    assert found.value == pytest.approx(slow.max(), rel=2e-6)
    session.remove("slow")
    assert session.solve(threads=1).value == pytest.approx(before.value, rel=2e-6)


def test_rounds_by_clarabel() -> None:
    """Sums of logarithms after a fifth of the jobs has changed, in cvxpy's words."""
    types, rng = tuple(f"type{i}" for i in range(6)), np.random.default_rng(8)
    jobs: dict[str, Job] = {f"job{k}": (k, 1.0 + k % 2) for k in range(40)}
    gpus = np.full(len(types), 4.0)
    session = wl.Session(stated("proportional", jobs, gpus, types))
    session.solve(threads=1, engine="interior")
    gone = rng.choice(list(jobs), 8, replace=False).tolist()
    new: dict[str, Job] = {f"new{k}": (500 + k, 1.0) for k in range(8)}
    session.remove(gone)
    session.add(stated("proportional", new, gpus, types))
    jobs = {name: job for name, job in jobs.items() if name not in gone} | new
    speed, size = speeds(jobs, len(types)), np.array([size for _, size in jobs.values()])
    x = cp.Variable(speed.shape, nonneg=True)
    runs = cp.sum(cp.multiply(speed, x), axis=0)
    limits = [cp.sum(x, axis=0) <= 1.0, x @ size <= gpus, cp.multiply(speed == 0.0, x) == 0.0]
    best = cp.Problem(cp.Maximize(cp.sum(cp.log(runs))), limits)
    best.solve(solver=cp.CLARABEL)
    value = session.solve(threads=1, engine="interior").value
    assert value == pytest.approx(best.value, abs=2e-6 * len(jobs))


def network() -> Any:
    ends = np.array([(u, v) for u in range(8) for v in range(8) if (u - v) % 8 in (1, 2, 6, 7)])
    capacity = np.random.default_rng(4).uniform(5, 15, len(ends))
    return te.Network(tuple(f"n{u}" for u in range(8)), ends[:, 0], ends[:, 1], capacity)


def test_failed_links_and_their_return() -> None:
    net = network()
    paths = te.candidate_paths(net, k=4, cache=False)
    demand = np.random.default_rng(5).uniform(1, 6, (8, 8))
    np.fill_diagonal(demand, 0.0)
    session = wl.Session(te.max_total_flow(net, demand, paths))
    whole = session.solve(engine="interior", threads=1)
    lost = [3, 17]
    names = [net.link_names[k] for k in lost]
    session.limit("capacity", dict.fromkeys(names, 0.0))
    found = session.solve(engine="interior", threads=1)
    # the paths that are left, on the links that are left
    used = np.logical_or.reduceat(np.isin(paths.links, lost), paths.pointer[:-1])
    assert np.all(found.entries[used] == 0.0)
    rows = whole.problem.rows
    best = linprog(
        whole.problem.cost[~used], rows.matrix[:, ~used].toarray(), rows.upper, method="highs"
    )
    assert found.status is wl.Status.OPTIMAL
    assert best.fun is not None
    assert found.value == pytest.approx(-best.fun, rel=2e-6)
    assert found.value < 0.999 * whole.value
    session.limit("capacity", dict(zip(names, net.capacity[lost], strict=True)))
    check_same(session.problem, whole.problem)
    assert session.solve(threads=1).value == pytest.approx(whole.value, rel=2e-6)


def test_symbolic_factors_outlive_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "_LEAST_ROWS", 0)  # this network is small
    found: list[tuple[int, ...]] = []
    find = sparse.SparseSchur.of

    def counted(ptr: Longs, narrow: Any) -> sparse.SparseSchur | None:
        found.append(narrow.shape)
        return find(ptr, narrow)

    monkeypatch.setattr(sparse.SparseSchur, "of", counted)
    net = network()
    paths = te.candidate_paths(net, k=4, cache=False)
    demand = np.random.default_rng(5).uniform(1, 6, (8, 8))
    np.fill_diagonal(demand, 0.0)
    session = wl.Session(te.max_total_flow(net, demand, paths))
    session.solve(engine="interior", threads=1)
    assert len(found) == 1
    wider = dict(zip(net.link_names, 1.1 * net.capacity, strict=True))
    session.limit("capacity", wider)  # other capacities on the same links
    warm = session.solve(engine="interior", threads=1)
    cold = wl.solve(session.problem, engine="exact")
    assert warm.value == pytest.approx(cold.value, rel=2e-6)
    assert len(found) == 1
    session.limit("capacity", {net.link_names[3]: 0.0})
    session.solve(engine="interior", threads=1)
    assert len(found) == 2
    session.limit("capacity", wider)
    session.solve(engine="interior", threads=1)
    assert len(found) == 2


def test_pairs_of_nodes_come_and_go_with_their_paths() -> None:
    net = network()
    paths = te.candidate_paths(net, k=3, cache=False)
    demand = np.random.default_rng(6).uniform(1, 6, (8, 8))
    np.fill_diagonal(demand, 0.0)
    session = wl.Session(te.max_concurrent_flow(net, demand, paths))
    session.solve()
    session.change(te.max_concurrent_flow(net, 1.5 * demand, paths))
    check_same(session.problem, te.max_concurrent_flow(net, 1.5 * demand, paths))
    session.remove(paths.pair_names[5])
    demand[paths.source[5], paths.target[5]] = 0.0
    fresh = wl.solve(te.max_concurrent_flow(net, 1.5 * demand, paths), threads=1)
    found = session.solve(threads=1)
    assert found.value == pytest.approx(fresh.value, rel=2e-6)
    assert found.problem.entry_name(20).startswith("flow on ")
    assert found.problem.keys is not None
    assert len(found.problem.keys()) == found.problem.entries


JOBS: dict[str, Job] = {"a": (1, 1.0), "b": (2, 2.0), "c": (3, 1.0)}
GPUS = np.array([2.0, 3.0, 1.0])


def new_part(objective: str = "max_min", name: str = "new") -> Separable:
    return stated(objective, {name: (9, 1.0)}, GPUS)


def with_quota() -> Separable:
    limits = wl.domains.cluster_scheduling.Quota({"x": ["new", "other"]}, {"x": 2.0})
    jobs: dict[str, Job] = {"new": (9, 1.0), "other": (8, 1.0)}
    return cs.max_min(
        speeds(jobs), [1, 1], GPUS, quota=limits, demand_names=list(jobs), resource_names=TYPES
    )


BAD: dict[str, tuple[Callable[[wl.Session], object], str]] = {
    "unknown": (lambda s: s.remove(["a", "nobody"]), "there is no demand 'nobody'"),
    "twice": (lambda s: s.remove(["a", "a"]), "'a' appears twice"),
    "no names": (lambda s: s.remove(3), "names: is 3"),  # type: ignore[arg-type]
    "there": (lambda s: s.add(new_part(name="b")), "'b' is there already"),
    "not there": (lambda s: s.change(new_part()), "there is no demand 'new'"),
    "objective": (lambda s: s.add(new_part("throughput")), "part, objective"),
    "resources": (
        lambda s: s.add(stated("max_min", {"n": (1, 1.0)}, GPUS[:2], TYPES[:2])),
        "part, resource_names",
    ),
    "capacity": (
        lambda s: s.add(stated("max_min", {"n": (1, 1.0)}, 2 * GPUS)),
        r"part, capacity\[a100\]: has the bound 4 and not 2",
    ),
    "quota": (lambda s: s.add(with_quota()), "part, rows"),
    "kind": (lambda s: s.add("job"), "part: is 'job'|part: is a str"),  # type: ignore[arg-type]
    "family": (lambda s: s.limit("capcity", {"t4": 1.0}), "did you mean 'capacity'"),
    "label": (lambda s: s.limit("capacity", {"t5": 1.0}), "there is no row 't5'"),
    "limits": (lambda s: s.limit("capacity", [1.0, 2.0, 3.0]), "upper: is a list"),  # type: ignore[arg-type]
    "own rows": (
        lambda s: s.limit("time", {"a": 1.0}),
        "no family of shared rows 'time'; allowed: capacity",
    ),
    "nan": (lambda s: s.limit("capacity", {"v100": 1.0, "t4": np.nan}), r"capacity\[t4\]: is NaN"),
    "negative": (lambda s: s.limit("capacity", {"t4": -1.0}), r"capacity\[t4\]: is -1"),
    "too large": (lambda s: s.limit("capacity", {"t4": 1e300}), r"capacity\[t4\]: is 1e\+300"),
    "nan speed": (lambda s: s.add(cs.max_min([[np.nan]] * 3, [1], GPUS)), "throughput"),
    "setting": (lambda s: s.solve(start=None), "unknown key 'start'"),  # type: ignore[call-arg]
    "tolerance": (lambda s: s.solve(tolerance=-1.0), "setting tolerance"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_leaves_the_session_as_it_was(case: str) -> None:
    session = wl.Session(stated("max_min", JOBS, GPUS))
    change, words = BAD[case]
    with pytest.raises(wl.InputError, match=words):
        change(session)
    check_same(session.problem, stated("max_min", JOBS, GPUS))


def test_problems_that_are_no_sessions() -> None:
    with pytest.raises(wl.InputError, match="is a Leximin"):
        wl.Session(cs.leximin([[1.0]], [1], [1.0]))  # type: ignore[arg-type]
    shares = np.full((3, 3), 0.2)
    dear = cs.max_min(speeds(JOBS), [1, 1, 1], GPUS, previous=shares, churn=0.1)
    with pytest.raises(wl.InputError, match="belongs to no demand"):
        wl.Session(dear)
    pairs = cs.Pairs(["0"], ["1"], np.ones((1, 2, 3)))
    with pytest.raises(wl.InputError, match="belongs to no demand"):
        wl.Session(cs.max_min(np.ones((3, 2)), [1, 1], GPUS, pairs=pairs))


def test_an_empty_session_says_so_and_goes_on() -> None:
    session = wl.Session(stated("max_min", JOBS, GPUS))
    session.remove(list("abc"))
    with pytest.raises(wl.InputError, match="no demand is left"):
        session.solve()
    session.add(new_part())
    check_answer(session.solve(), new_part())


def test_bounds_of_a_utilisation_stand_at_its_scalar() -> None:
    net = network()
    paths = te.candidate_paths(net, k=2, cache=False)
    demand = np.ones((8, 8)) - np.eye(8)
    session = wl.Session(te.min_max_utilisation(net, demand, paths))
    with pytest.raises(wl.InputError, match="stands at a shared scalar"):
        session.limit("capacity", {net.link_names[0]: 0.0})


@pytest.mark.parametrize("engine", ["auto", "interior", "admm", "exact"])
@pytest.mark.parametrize("objective", ["max_min", "throughput"])
def test_a_last_job_whose_every_type_closes_gets_nothing(objective: str, engine: str) -> None:
    session = wl.Session(stated(objective, {"a": (1, 1.0)}, GPUS[:1], TYPES[:1]))
    session.solve()
    session.limit("capacity", {TYPES[0]: 0.0})
    found = session.solve(engine=engine)
    assert (found.status, found.value, found.bound) == (wl.Status.OPTIMAL, 0.0, 0.0)
