"""Fair sequences: every share is that of linear programs pair by pair, every level is proved."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.domains.traffic_engineering.networks import Case, diamond, matrix, network, random_case

import walras as wl
from walras.domains import traffic_engineering as te
from walras.errors import InputError
from walras.types import Bools, Floats

SEEDS = st.integers(0, 2**32 - 1)
ALL = 10**6  # levels


def matrices(case: Case, seed: int, count: int = 4) -> Floats:
    """Matrices with many zeros, equal demands, an empty one and a repeated one."""
    rng = np.random.default_rng(seed)
    out = case.demand * rng.lognormal(0.5, 1.0, (count, *case.demand.shape))
    out *= rng.random(out.shape) < rng.uniform(0.3, 1.0, (count, 1, 1))
    out[1] = 3.0 * np.sign(out[1])
    out[2] = 0.0
    out[3] = out[0]
    return np.asarray(out)


class Programs:
    """Linear programs in the shares of paths, by HiGHS: (paths,) of the pair's demand."""

    def __init__(self, case: Case, demand: Floats) -> None:
        paths = case.paths
        own = paths.demands(demand)
        used = np.zeros((paths.network.links, paths.count))
        np.add.at(used, (paths.links, np.repeat(np.arange(paths.count), paths.hops)), 1.0)
        self.asked = own > 0.0
        self.load = used * own[paths.pair] / case.net.capacity[:, None]
        self.pairs = (paths.pair == np.arange(paths.pairs)[:, None]).astype(float)

    def most(self, least: Floats, rises: Bools) -> float:
        """Largest t such that all have their least share, and those that rise have t, up to 1."""
        limits = np.vstack([self.load, self.pairs, -self.pairs])
        t = np.concatenate([np.zeros(len(self.load) + len(least)), rises.astype(float)])
        bounds = np.concatenate(
            [np.ones(len(self.load) + len(least)), -np.where(rises, 0.0, least)]
        )
        found = linprog(
            np.append(np.zeros(limits.shape[1]), -1.0),
            A_ub=np.hstack([limits, t[:, None]]),
            b_ub=bounds,
            bounds=[(0, None)] * limits.shape[1] + [(0, 1)],
        )
        assert found.fun is not None
        return -float(found.fun)

    def fair(self) -> Floats:
        """(pairs,) max-min fair shares: a pair stays at a level if it cannot have more alone."""
        share, is_open = np.where(self.asked, 0.0, 1.0), self.asked.copy()
        kept = np.zeros(len(share))
        while np.any(is_open):
            t = self.most(kept, is_open)
            given_ = np.where(is_open, t, kept) - 1e-9
            alone = [
                self.most(given_, np.arange(len(share)) == k) if is_open[k] else np.inf
                for k in range(len(share))
            ]
            now = is_open & (np.array(alone) <= max(t + 1e-6, min(alone)))
            share[now], kept[now] = t, t
            is_open &= ~now
        return share


def check(case: Case, demands: Floats, found: te.FairSequence, gap: float = 1e-7) -> None:
    """Feasibility, shares and bounds, by plain NumPy."""
    paths, capacity = case.paths, case.net.capacity
    assert np.all(found.price >= 0)
    for k, demand in enumerate(demands):
        own, judged = paths.demands(demand), te.evaluate(demand, paths, found.flow[k])
        asked = own > 0
        assert judged.violation <= 1e-12
        assert judged.max_utilisation <= 1.0 + 1e-12
        assert found.share[k, asked] == pytest.approx(judged.served[asked] / own[asked], rel=1e-12)
        assert np.all(found.share[k, ~asked] == 1.0)
        count = int(np.sum(np.isfinite(found.level[k])))
        level, frozen = found.level[k, :count], found.frozen[k]
        assert np.all(np.diff(level) > 0)
        assert np.all(frozen[~asked] == -1)
        for q in range(count):
            open_ = asked & ((frozen < 0) | (frozen >= q))
            assert np.all(found.share[k, frozen == q] >= level[q] * (1 - 1e-12))
            assert np.all(found.share[k, open_] >= level[q] * (1 - 1e-12))
            if not np.any(found.price[k, q]):
                assert (q, found.bound[k, q]) == (count - 1, 1.0)
                continue
            dear = np.add.reduceat(found.price[k, q][paths.links], paths.pointer[:-1])
            cheapest = np.minimum.reduceat(dear, paths.first[:-1]) * own
            worth = found.price[k, q] @ capacity - cheapest[~open_] @ found.share[k, ~open_]
            assert found.price[k, q] @ capacity == pytest.approx(1.0, rel=1e-12)
            assert found.bound[k, q] == pytest.approx(
                min(1.0, worth / np.sum(cheapest[open_])), rel=1e-7
            )
        assert np.all(found.most[k, frozen < 0] == 1.0)
        assert np.all(found.most[k] >= found.share[k] * (1 - 1e-12))
    assert np.max(found.gap, initial=0.0) <= gap


@settings(max_examples=60)
@given(seed=SEEDS)
def test_each_share_is_the_fair_one_and_each_level_is_proved(seed: int) -> None:
    case = random_case(seed, most=6)
    demands = matrices(case, seed)
    found = te.max_min_fair_sequence(case.net, demands, case.paths, levels=ALL)
    check(case, demands, found)
    for k, demand in enumerate(demands):
        programs = Programs(case, demand)
        assert found.share[k] == pytest.approx(programs.fair(), abs=3e-6)
        for pair in np.flatnonzero(found.frozen[k] >= 0):
            rises = np.arange(case.paths.pairs) == pair
            assert programs.most(found.share[k] * (1 - 1e-9), rises) <= found.most[k, pair] + 1e-6


@settings(max_examples=20)
@given(seed=SEEDS)
def test_the_levels_are_those_of_the_general_method(seed: int) -> None:
    case = random_case(seed)
    demand = 3.0 * case.demand
    found = te.max_min_fair_sequence(case.net, [demand], case.paths, levels=3)
    s = wl.solve(te.max_min_fair(case.net, demand, case.paths, levels=3), tolerance=1e-9)
    wanted = [level.value for level in s.levels]
    assert found.level[0][np.isfinite(found.level[0])] == pytest.approx(wanted, rel=1e-6)


@settings(max_examples=20)
@given(seed=SEEDS)
def test_the_order_and_the_calls_change_no_share(seed: int) -> None:
    case = random_case(seed)
    demands = matrices(case, seed)
    found = te.max_min_fair_sequence(case.net, demands, case.paths, levels=ALL)
    turned = te.max_min_fair_sequence(case.net, demands[::-1], case.paths, levels=ALL)
    assert turned.share[::-1] == pytest.approx(found.share, rel=1e-6)
    last = None
    for demand, share in zip(demands, found.share, strict=True):
        last = te.max_min_fair_sequence(case.net, demand[None], case.paths, levels=ALL, start=last)
        assert last.share[0] == pytest.approx(share, rel=1e-6)


@pytest.mark.parametrize("factor", [1e-9, 1e-3, 1e3, 1e9])
def test_the_size_of_the_demands_is_no_trouble(factor: float) -> None:
    for seed in range(5):
        case = random_case(seed)
        demands = factor * case.demand[None]
        found = te.max_min_fair_sequence(case.net, demands, case.paths, levels=ALL)
        check(case, demands, found)
        most = te.min_max_utilisation_sequence(case.net, demands, case.paths).value[0]
        assert found.level[0, 0] == pytest.approx(min(1.0, 1.0 / most), rel=1e-8)


def test_capacities_of_very_different_size_are_no_trouble() -> None:
    for seed in range(5):
        case = random_case(seed)
        capacity = 10.0 ** np.random.default_rng(seed).uniform(-4.0, 8.0, case.net.links)
        wide = te.Network(case.net.node_names, case.net.source, case.net.target, capacity)
        paths = te.candidate_paths(wide, k=3, cache=False)
        found = te.max_min_fair_sequence(wide, [case.demand], paths, levels=ALL)
        check(Case(wide, case.demand, paths), case.demand[None], found)


@pytest.mark.parametrize(("decades", "k"), [(2, 3), (4, 3), (5, 1)])
def test_what_was_solved_before_changes_no_share_of_uneven_networks(decades: int, k: int) -> None:
    """Capacities and demands of very different size in one matrix spoil a basis in the long run."""
    for seed in range(3):
        case, rng = random_case(seed, most=8), np.random.default_rng(seed)
        sizes = 10.0 ** rng.uniform(-decades, decades, case.net.links)
        net = te.Network(case.net.node_names, case.net.source, case.net.target, sizes)
        demands = 10.0 ** rng.uniform(-decades, decades, (20, net.nodes, net.nodes))
        demands *= (rng.random(demands.shape) < 0.7) * (1.0 - np.eye(net.nodes))
        paths = te.candidate_paths(net, k=k, cache=False)
        found = te.max_min_fair_sequence(net, demands, paths, levels=ALL)
        check(Case(net, demands[0], paths), demands, found, gap=1e-3)
        turned = te.max_min_fair_sequence(net, demands[::-1], paths, levels=ALL)
        assert turned.share[::-1] == pytest.approx(found.share, rel=1e-6)


def test_levels_of_a_network_in_closed_form() -> None:
    """Four flows of demand 12 on a line with capacities 6, 16 and 9."""
    net = network([(0, 1), (1, 2), (2, 3)], [6.0, 16.0, 9.0])
    demand = matrix(4, {(0, 3): 12.0, (0, 1): 12.0, (1, 2): 12.0, (2, 3): 12.0})
    case = Case(net, demand, te.candidate_paths(net, k=1, cache=False))
    found = te.max_min_fair_sequence(net, [demand], case.paths)
    check(case, demand[None], found)
    # two share the first link, 3 each; the third leaves 6 to its own flow, the second all 12
    assert found.level[0] == pytest.approx([0.25, 0.5, 1.0])
    assert found.flow[0].sum() == pytest.approx(3 + 3 + 6 + 12)
    one = te.max_min_fair_sequence(net, [demand], case.paths, levels=1)
    assert one.level[0] == pytest.approx([0.25])
    asked = case.paths.demands(demand) > 0
    assert sorted(one.frozen[0, asked]) == [-1, -1, 0, 0]
    assert one.share[0, asked] == pytest.approx([0.25] * 4)
    first = found.frame()[["least", "levels", "served"]].to_numpy()[0]
    assert first == pytest.approx([0.25, 3, 24])
    assert repr(found).startswith("FairSequence(objective='fair'")
    assert "\n" not in repr(found)


def test_an_empty_matrix_and_no_matrix() -> None:
    case = diamond()
    found = te.max_min_fair_sequence(case.net, [0.0 * case.demand], case.paths)
    assert found.level.shape == (1, 0)
    assert np.all(found.share == 1.0)
    assert found.gap.tolist() == [0.0]
    assert found.frame()["least"].tolist() == [1.0]
    none = te.max_min_fair_sequence(case.net, np.zeros((0, 4, 4)), case.paths)
    assert len(none) == len(none.frame()) == 0


def test_a_matrix_that_was_just_solved_takes_few_pivots(wan: Case) -> None:
    demands = np.array([wan.demand] * 2) * 5.0
    found = te.max_min_fair_sequence(wan.net, demands, wan.paths)
    check(wan, demands, found)
    assert found.pivots[0] > 10
    assert found.share[1] == pytest.approx(found.share[0], rel=1e-7)


def test_a_spoiled_basis_is_left_for_the_first_one() -> None:
    case = random_case(3)
    found = te.max_min_fair_sequence(case.net, [3.0 * case.demand], case.paths)
    size = int(found.basis.size[0])
    assert size > 1
    found.basis.inverse[:size, :size] = np.random.default_rng(0).normal(size=(size, size))
    again = te.max_min_fair_sequence(case.net, [3.0 * case.demand], case.paths, start=found)
    check(case, 3.0 * case.demand[None], again)
    assert again.share == pytest.approx(found.share, rel=1e-7)


def test_bad_input_is_named() -> None:
    case, other = diamond(), diamond((1.0, 1.0, 2.0, 2.0))
    call = te.max_min_fair_sequence
    for levels in (0, -1, 1.5, True, "all", None):
        with pytest.raises(InputError, match="levels"):
            call(case.net, [case.demand], case.paths, levels=levels)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"demands\[0\]\[n0, n3\]: is -4"):
        call(case.net, [-case.demand], case.paths)
    found = call(case.net, [case.demand], case.paths)
    for net, paths in ((other.net, case.paths), (case.net, other.paths)):
        with pytest.raises(InputError, match="start"):
            call(net, [case.demand], paths, start=found)
    least = te.min_max_utilisation_sequence(case.net, [case.demand], case.paths)
    for start in (least, "last"):
        with pytest.raises(InputError, match="start"):
            call(case.net, [case.demand], case.paths, start=start)  # type: ignore[arg-type]


def test_prices_lost_to_rounding_still_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no open pair seems to have a price, the one that costs most is frozen."""
    monkeypatch.setattr(te.fair_sequences, "_WORTH", 2.0)
    case = random_case(4)
    demands = matrices(case, 4)
    found = te.max_min_fair_sequence(case.net, demands, case.paths, levels=ALL)
    check(case, demands, found)


@pytest.mark.real_data("te_figret")
@pytest.mark.parametrize("name", ["GEANT", "Facebook_pod_a", "Facebook_pod_b"])
def test_the_first_level_is_one_over_the_published_utilisation(name: str) -> None:
    figret = te.load_figret(Path(os.environ["WALRAS_DATA"]) / "te_figret" / name)
    for part in figret.names:
        demands, optimum = figret.matrices(part)[::10], figret.optimum(part)[::10]
        found = te.max_min_fair_sequence(figret.network, demands, figret.paths)
        wanted = np.minimum(1.0, 1.0 / optimum)
        assert np.max(np.abs(found.level[:, 0] / wanted - 1.0)) <= 1e-8
        assert found.gap.max() <= 1e-6
