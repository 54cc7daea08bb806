"""Sets of paths, their cache, traffic models, baselines, warm starts, failures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.domains.traffic_engineering.networks import Case, diamond, network, random_case

import walras as wl
from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering import candidates
from walras.domains.traffic_engineering.traffic import named_traffic, top_tenth
from walras.engines.interior.form import MAX_SLOTS
from walras.progress import counts
from walras.select.choose import choose
from walras.select.cost_model import narrow_rows

SEEDS = st.integers(0, 100_000)


@pytest.fixture(scope="module")
def wan() -> Case:
    """A network of 60 nodes with demand that it cannot carry."""
    rng = np.random.default_rng(3)
    ends = sorted(
        {(v, (v + 1) % 60) for v in range(60)}
        | {(int(a), int(b)) for a, b in rng.integers(0, 60, (120, 2)) if a != b}
    )
    net = network(ends, list(rng.uniform(10.0, 100.0, len(ends))))
    paths = te.candidate_paths(net, cache=False)
    return Case(net, te.lognormal_traffic(net, seed=1, total=0.2 * net.capacity.sum()), paths)


def test_a_named_demand_is_a_file_or_a_model(tmp_path: Path) -> None:
    net = diamond().net
    drawn = named_traffic("lognormal", net, load=0.2, seed=3)
    np.testing.assert_array_equal(
        drawn, te.lognormal_traffic(net, seed=3, total=0.2 * net.capacity.sum())
    )
    np.save(tmp_path / "own.npy", drawn)
    np.testing.assert_array_equal(
        named_traffic(str(tmp_path / "own.npy"), net, load=9.0, seed=0), drawn
    )
    with pytest.raises(wl.InputError, match="there is no traffic model 'poisson'"):
        named_traffic("poisson", net, load=0.1, seed=0)


def test_paths_are_found_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "cache_folder", lambda: tmp_path / "paths")
    net = diamond().net
    seen: list[tuple[int, int]] = []
    first = te.candidate_paths(net, on_progress=counts(lambda *step: seen.append(step)))
    assert seen == [(k, 4) for k in range(5)]
    again = te.candidate_paths(net, on_progress=counts(lambda *step: seen.append(step)))
    assert len(seen) == 5
    for name in ("source", "target", "first", "pointer", "links", "nodes", "pair"):
        assert np.array_equal(getattr(first, name), getattr(again, name)), name
        assert getattr(first, name).dtype == getattr(again, name).dtype, name
    assert first.disconnected == again.disconnected == 7
    te.candidate_paths(net, k=2)
    te.candidate_paths(net, kind="shortest")
    files = list((tmp_path / "paths").iterdir())
    assert len(files) == 3
    for file in files:
        file.write_bytes(file.read_bytes()[:50])  # damaged: found anew, not believed
    assert te.candidate_paths(net).count == first.count


def test_paths_that_another_search_kept_are_found_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "cache_folder", lambda: tmp_path)
    net, seen = diamond().net, []
    with monkeypatch.context() as patch:
        patch.setattr(candidates, "_VERSION", "1")
        te.candidate_paths(net)
    te.candidate_paths(net, on_progress=counts(lambda *step: seen.append(step)))
    assert len(seen) == 5
    assert len(list(tmp_path.iterdir())) == 2


def test_a_cache_that_cannot_be_written_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(candidates, "cache_folder", lambda: tmp_path / "file")
    assert te.candidate_paths(diamond().net).count == diamond().paths.count


def test_a_disk_without_room_keeps_nothing_of_the_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(candidates, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(np, "savez", full)
    assert te.candidate_paths(diamond().net).count == diamond().paths.count
    assert not list(tmp_path.iterdir())


@settings(max_examples=15)
@given(seed=SEEDS, threads=st.sampled_from([1, 2, 3]))
def test_threads_change_nothing(seed: int, threads: int) -> None:
    case = random_case(seed)
    one = te.candidate_paths(case.net, threads=1, cache=False)
    many = te.candidate_paths(case.net, threads=threads, cache=False)
    assert np.array_equal(one.links, many.links)
    assert np.array_equal(one.pointer, many.pointer)


@settings(max_examples=25)
@given(seed=SEEDS)
def test_nodes_links_and_loads_agree(seed: int) -> None:
    paths = random_case(seed).paths
    again = te.Paths.of_nodes(
        paths.network, paths.nodes, paths.pointer + np.arange(paths.count + 1)
    )
    assert np.array_equal(again.links, paths.links)
    assert np.array_equal(again.first, paths.first)
    assert np.array_equal(again.keys, paths.keys)
    assert len(set(paths.keys.tolist())) == paths.count
    flow = np.random.default_rng(seed).random(paths.count)
    load = np.zeros(paths.network.links)
    for p in range(paths.count):
        nodes = paths.nodes_of(p)
        assert (nodes[0], nodes[-1]) == (paths.source[paths.pair[p]], paths.target[paths.pair[p]])
        np.add.at(load, paths.links[paths.pointer[p] : paths.pointer[p + 1]], flow[p])
    np.testing.assert_allclose(paths.loads(flow), load)
    assert paths.served(flow).sum() == pytest.approx(flow.sum())
    assert list(paths.pair_names)[1:3] == list(paths.pair_names[1:3])


def test_mean_betweenness_of_a_line() -> None:
    # 0 -> 1 -> 2: each link serves two of the three pairs.
    paths = te.candidate_paths(network([(0, 1), (1, 2)], 1.0), cache=False)
    assert paths.mean_betweenness() == pytest.approx(2 / 3)


def test_lognormal_traffic_has_the_papers_statistic() -> None:
    net = network([(v, (v + 1) % 400) for v in range(400)], 1.0)
    shares = []
    for seed in range(5):
        traffic = te.lognormal_traffic(net, seed=seed)
        assert traffic.sum() == pytest.approx(0.1 * net.capacity.sum())
        assert not np.any(np.diag(traffic))
        flat = np.sort(traffic[traffic > 0])[::-1]
        shares.append(flat[: len(flat) // 10].sum() / flat.sum())
    assert np.mean(shares) == pytest.approx(0.884, abs=0.01)


@pytest.mark.parametrize(
    "model",
    [te.lognormal_traffic, te.gravity_traffic, te.bimodal_traffic],
    ids=lambda f: f.__name__,
)
def test_traffic_is_seeded_and_scaled(model: object, wan: Case) -> None:
    spread = {"spread": 1.0} if model is te.gravity_traffic else {}
    first, again, other = (
        model(wan.net, seed=seed, total=70.0, **spread)  # type: ignore[operator]
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.sum() == pytest.approx(70.0)
    assert np.all(first >= 0)
    assert not np.any(np.diag(first))


def test_gravity_follows_capacity_and_bimodal_has_two_modes(wan: Case) -> None:
    net = wan.net
    gravity = te.gravity_traffic(net, total=1.0)
    out = np.bincount(net.source, weights=net.capacity)
    into = np.bincount(net.target, weights=net.capacity)
    assert gravity[3, 7] / gravity[3, 9] == pytest.approx(into[7] / into[9])
    assert gravity[3, 7] / gravity[5, 7] == pytest.approx(out[3] / out[5])
    two = te.bimodal_traffic(net, seed=0, large=0.2, ratio=50.0, total=1.0)
    large = two > 5 * np.median(two)
    assert large.sum() / (60 * 59) == pytest.approx(0.2, abs=0.03)


def test_capped_demands_need_no_more_than_the_cap_alone(wan: Case) -> None:
    capped = te.capped_traffic(wan.demand, wan.paths, 0.3)
    assert np.all(capped <= wan.demand)
    assert np.any(capped < wan.demand)
    alone = wan.paths.served(wan.paths.bottleneck())
    assert np.max(wan.paths.demands(capped) / alone) == pytest.approx(0.3)
    s, t = wan.paths.source[5], wan.paths.target[5]
    single = np.zeros_like(capped)
    single[s, t] = 1.6 * alone[5]
    value = wl.solve(te.min_max_utilisation(wan.net, single, wan.paths)).value
    assert value == pytest.approx(1.6, rel=1e-5)


@pytest.mark.parametrize("satisfied", [0.3, 0.92])
def test_traffic_is_scaled_until_a_share_of_it_is_served(satisfied: float, wan: Case) -> None:
    seen: list[tuple[float, float]] = []
    demand = te.scaled_traffic(
        wan.demand,
        wan.paths,
        satisfied,
        on_progress=lambda step: seen.append((step.step, step.value)),
    )
    value = wl.solve(te.max_total_flow(wan.net, demand, wan.paths), tolerance=1e-8).value
    assert value / demand.sum() == pytest.approx(satisfied, abs=0.006)
    np.testing.assert_allclose(demand, seen[-1][0] * wan.demand)
    factors, shares = np.array(sorted(seen)).T
    assert np.all(np.diff(shares) <= 1e-3)
    assert len(factors) > 1


@pytest.mark.parametrize("share", [0.8, 0.6, 0.4, 0.2])
def test_redistribution_moves_traffic_to_the_rest(share: float, wan: Case) -> None:
    moved = te.redistributed_traffic(wan.demand, wan.net, share)
    order = np.argsort(-wan.demand.ravel(), kind="stable")
    top = order[: round(0.1 * np.count_nonzero(wan.demand))]
    assert moved.sum() == pytest.approx(wan.demand.sum())
    assert moved.ravel()[top].sum() / moved.sum() == pytest.approx(share)


def test_fluctuations_have_the_variance_that_is_asked_for(wan: Case) -> None:
    series = te.diurnal_series(wan.demand, wan.net, 400, seed=2)
    assert len(series) == 400
    assert series[0].shape == (60, 60)
    change = np.var(np.diff(series.demand, axis=0), axis=0)
    added = te.fluctuating_series(series, 5.0, seed=1).demand - series.demand
    busy = wan.demand > 0
    # Few demands are cut at zero: the noise is small next to the mean.
    ratio = np.median(np.var(added, axis=0)[busy] / change[busy])
    assert ratio == pytest.approx(5.0, rel=0.2)
    assert np.all(te.fluctuating_series(series, 20.0).demand >= 0)
    assert np.array_equal(te.fluctuating_series(series, 0.0).demand, series.demand)


def test_baselines_are_feasible_and_no_better_than_the_optimum(wan: Case) -> None:
    best = wl.solve(te.max_total_flow(wan.net, wan.demand, wan.paths))
    judged = te.evaluate(wan.demand, wan.paths, best.x)
    assert judged.total == pytest.approx(best.value)
    found = {
        "shortest": te.shortest_path(wan.net, wan.demand, wan.paths),
        "pinning": te.demand_pinning(wan.net, wan.demand, wan.paths),
        "POP-4": te.pop_flow(wan.net, wan.demand, wan.paths, 4),
        "POP-16": te.pop_flow(wan.net, wan.demand, wan.paths, 16),
    }
    value = {}
    for name, baseline in found.items():
        e = te.evaluate(wan.demand, wan.paths, baseline.flow)
        assert e.violation <= 1e-9, name
        assert e.total == pytest.approx(baseline.flow.sum())
        assert baseline.seconds > 0
        value[name] = e.total
        assert e.total <= best.bound * (1 + 1e-9), name
    assert value["shortest"] < value["pinning"] < best.value
    assert value["POP-16"] < value["POP-4"] < best.value
    assert found["POP-4"].ideal_seconds <= found["POP-4"].seconds
    assert np.isnan(found["pinning"].ideal_seconds)


@settings(max_examples=10)
@given(seed=SEEDS)
def test_pinning_of_utilisation_is_the_program_that_it_states(seed: int) -> None:
    case = random_case(seed, 8)
    net, paths = case.net, case.paths
    found = te.demand_pinning(net, case.demand, paths, objective="utilisation")
    judged = te.evaluate(case.demand, paths, found.flow)
    assert judged.satisfied == pytest.approx(1.0)
    top = paths.demands(np.where(top_tenth(case.demand), case.demand, 0.0)) > 0
    links, joins = np.zeros((net.links, paths.count)), np.zeros((paths.pairs, paths.count))
    for p in range(paths.count):
        links[paths.links[paths.pointer[p] : paths.pointer[p + 1]], p] = 1.0
        joins[paths.pair[p], p] = 1.0
    first = np.isin(np.arange(paths.count), paths.first[:-1])
    open_paths = [
        (0.0, None if top[paths.pair[p]] or first[p] else 0.0) for p in range(paths.count)
    ]
    least = linprog(
        np.append(np.zeros(paths.count), 1.0),
        np.column_stack([links, -net.capacity]),
        np.zeros(net.links),
        np.column_stack([joins, np.zeros(paths.pairs)]),
        paths.demands(case.demand),
        [*open_paths, (0.0, None)],
    )
    assert judged.max_utilisation == pytest.approx(least.fun, rel=1e-5)
    best = wl.solve(te.min_max_utilisation(net, case.demand, paths)).value
    assert judged.max_utilisation >= best * (1 - 1e-6)
    with pytest.raises(wl.InputError, match="objective: is 'fair'"):
        te.demand_pinning(net, case.demand, paths, objective="fair")  # type: ignore[arg-type]


@pytest.mark.real_data("te_topologies")
def test_pop_that_splits_the_largest_tenth_serves_nearly_all_of_uscarrier() -> None:
    net = te.load_topology("UsCarrier", synthetic=False)
    demand = te.lognormal_traffic(net, seed=0, total=0.15 * net.capacity.sum())
    paths = te.candidate_paths(net)
    best = wl.solve(te.max_total_flow(net, demand, paths), tolerance=1e-4).bound
    for parts, least in ((4, 0.995), (16, 0.99)):
        assert te.pop_flow(net, demand, paths, parts).flow.sum() > least * best


def test_pop_in_one_part_is_the_linear_program(wan: Case) -> None:
    best = wl.solve(te.max_total_flow(wan.net, wan.demand, wan.paths))
    one = te.pop_flow(wan.net, wan.demand, wan.paths, 1)
    assert one.flow.sum() == pytest.approx(best.value, rel=1e-5)


def test_pop_makes_no_more_parts_than_there_are_pairs() -> None:
    net = network([(0, 1), (1, 0)], 1.0)
    paths = te.candidate_paths(net, cache=False)
    found = te.pop_flow(net, np.array([[0.0, 5.0], [5.0, 0.0]]), paths)
    assert found.flow.tolist() == pytest.approx([0.5, 0.5])  # each part has half of every link
    assert np.array_equal(found.flow, te.pop_flow(net, np.array([[0, 5], [5, 0]]), paths, 2).flow)


def test_pinning_without_room_leaves_the_pinned_traffic() -> None:
    net = network([(0, 1)], 1.0)
    paths = te.candidate_paths(net, cache=False)
    flow = te.demand_pinning(net, np.array([[0.0, 5.0], [0.0, 0.0]]), paths).flow
    assert flow.tolist() == pytest.approx([1.0])


@settings(max_examples=15)
@given(seed=SEEDS)
def test_edge_form_is_reached_by_all_simple_paths(seed: int) -> None:
    case = random_case(seed, most=5, scale=3.0)
    every = te.candidate_paths(case.net, k=64, kind="shortest", cache=False)
    by_path = wl.solve(te.max_total_flow(case.net, case.demand, every), tolerance=1e-8)
    by_link = wl.solve(
        te.max_total_flow_by_link(case.net, case.demand), engine="exact", tolerance=1e-8
    )
    assert by_link.status == wl.Status.OPTIMAL
    assert by_path.value == pytest.approx(by_link.value, rel=1e-6)


def test_failures_keep_names_and_warm_starts_find_the_same_paths(wan: Case) -> None:
    failed = te.random_failures(wan.net, 3, seed=1)
    assert np.array_equal(failed, te.random_failures(wan.net, 3, seed=1))
    broken = wan.net.without(failed)
    assert broken.node_names == wan.net.node_names
    assert broken.links == wan.net.links - 3
    assert set(broken.link_names) == set(wan.net.link_names) - {
        wan.net.link_name(int(e)) for e in failed
    }
    paths = te.candidate_paths(broken, cache=False)
    demand = te.joined_traffic(wan.demand, paths)
    before = wl.solve(te.max_total_flow(wan.net, wan.demand, wan.paths), engine="interior")
    problem = te.max_total_flow(broken, demand, paths)
    start = wl.start.start_from(problem, before)
    known = dict(zip(wan.paths.keys.tolist(), before.x.tolist(), strict=True))
    assert np.any(np.isnan(start.x))
    for key, flow in zip(paths.keys.tolist(), start.x.tolist(), strict=True):
        assert flow == known[key] if key in known else np.isnan(flow)
    cold = wl.solve(problem, engine="interior", tolerance=1e-8)
    warm = wl.solve(problem, engine="interior", tolerance=1e-8, start=before)
    assert warm.value == pytest.approx(cold.value, rel=1e-6)
    assert cold.value < before.value


@pytest.mark.parametrize("engine", ["interior", "exact"])
def test_any_allocation_may_be_a_start(engine: str, wan: Case) -> None:
    problem = te.max_total_flow(wan.net, wan.demand, wan.paths)
    cold = wl.solve(problem, engine=engine, tolerance=1e-8)
    guess = te.shortest_path(wan.net, wan.demand, wan.paths).flow
    guess[3] = np.nan
    warm = wl.solve(problem, engine=engine, tolerance=1e-8, start=guess)
    assert warm.value == pytest.approx(cold.value, rel=1e-7)
    with pytest.raises(wl.InputError, match=r"start: has shape \(3,\)"):
        wl.solve(problem, start=np.ones(3))
    with pytest.raises(wl.InputError, match="start: is a str"):
        wl.solve(problem, start="naive")


def test_edge_form_of_a_large_network_goes_to_the_exact_engine(wan: Case) -> None:
    problem = te.max_total_flow_by_link(wan.net, wan.demand)
    assert choose(problem).name == "exact"
    assert narrow_rows(problem) == wan.net.links + 60 * (59 - MAX_SLOTS)
    path_form = te.max_total_flow(wan.net, wan.demand, wan.paths)
    assert narrow_rows(path_form) == wan.net.links


def test_a_start_from_another_network_is_refused(wan: Case) -> None:
    case = diamond()
    other = te.Network(("a", "b"), np.array([0]), np.array([1]), np.ones(1))
    paths = te.candidate_paths(other, cache=False)
    small = wl.solve(te.max_total_flow(case.net, case.demand, case.paths))
    # Paths are told apart by the numbers of their nodes; node 0 to node 1 exists in both.
    wl.solve(te.max_total_flow(other, np.array([[0.0, 1.0], [0.0, 0.0]]), paths), start=small)
    ring = network([(7, 8), (8, 7)], 1.0)
    lone = te.candidate_paths(ring, cache=False)
    demand = np.zeros((9, 9))
    demand[7, 8] = 1.0
    with pytest.raises(wl.InputError, match="no entry of the problem occurs"):
        wl.solve(te.max_total_flow(ring, demand, lone), start=small)
