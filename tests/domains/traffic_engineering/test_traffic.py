"""Traffic models: their statistics, their seeds, and their changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.domains.traffic_engineering.networks import Case, diamond, network

import walras as wl
from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering.traffic import named_traffic


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
