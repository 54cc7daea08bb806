"""Figures of traffic draw what is in their tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.domains.traffic_engineering.networks import Case, diamond

import walras as wl
from walras import plot
from walras.domains import traffic_engineering as te
from walras.progress import History, Progress


@pytest.fixture
def case() -> Case:
    return diamond((3.0, 3.0, 2.0, 2.0))


def test_utilisation_has_one_row_a_link(case: Case) -> None:
    flow = np.zeros(case.paths.count)
    flow[case.paths.first[2]] = 1.5  # the first path from n0 to n3
    frame = plot.utilisation_frame(case.net, te.evaluate(case.demand, case.paths, flow))
    assert frame["source"].tolist() == ["n0", "n1", "n0", "n2"]
    assert frame["utilisation"].tolist() == [0.5, 0.5, 0.0, 0.0]
    assert frame["load"].sum() == 3.0


@pytest.mark.parametrize("known", [True, False])
def test_the_network_is_drawn_with_its_fullest_links_on_top(case: Case, known: bool) -> None:
    position = np.array([[0.0, 60.0], [1.0, 61.0], [1.0, 59.0], [2.0, 60.0]]) if known else None
    net = te.Network(
        case.net.node_names, case.net.source, case.net.target, case.net.capacity, position=position
    )
    flow = np.linspace(0.0, 1.0, case.paths.count)
    frame = plot.utilisation_frame(net, te.evaluate(case.demand, case.paths, flow))
    figure = plot.network_utilisation(net, frame)
    axes = figure.axes[0]
    drawn = axes.collections[0].get_array()
    assert drawn is not None
    assert np.asarray(drawn).tolist() == sorted(frame["utilisation"])
    assert {text.get_text() for text in axes.texts} == set(net.node_names)
    at = np.asarray(axes.collections[1].get_offsets())
    assert len(np.unique(at.round(9), axis=0)) == 4
    if known:  # at 60 degrees north a degree of longitude is half as long
        np.testing.assert_allclose(at[3] - at[0], [1.0, 0.0], atol=1e-9)
    priced = plot.network_utilisation(net, frame.assign(price=[0.0, 3.0, 1.0, 0.0]), "price")
    prices = priced.axes[0].collections[0]
    assert prices.get_clim() == (0.0, 3.0)
    assert np.asarray(prices.get_array()).tolist() == [0.0, 0.0, 1.0, 3.0]
    with pytest.raises(wl.InputError, match="price"):
        plot.network_utilisation(net, frame, "price")
    with pytest.raises(wl.InputError, match=r"has 2 links.*4, one row a link"):
        plot.network_utilisation(net, frame.head(2))


def test_distances_in_the_drawing_come_near_to_hops() -> None:
    ring = [(v, (v + 1) % 12) for v in range(12)]
    s, t = np.array(ring + [(b, a) for a, b in ring], dtype=np.int32).T
    net = te.Network(tuple(map(str, range(12))), s.copy(), t.copy(), np.ones(24))
    paths = te.candidate_paths(net, cache=False)
    frame = plot.utilisation_frame(
        net, te.evaluate(te.gravity_traffic(net), paths, np.zeros(paths.count))
    )
    at = np.asarray(plot.network_utilisation(net, frame).axes[0].collections[1].get_offsets())
    sides = np.linalg.norm(at[s] - at[t], axis=1)
    assert sides.max() / sides.min() < 1.01  # a ring is drawn as a circle


def test_served_shares_are_drawn_as_curves_and_points() -> None:
    steps = tuple(Progress(k, 0.1 + k, 10.0 * k, 40.0, 0.1, 0.0, 0.0) for k in range(3))
    frame = plot.served_frame({"one": History(steps), "none": History()}, asked=50.0)
    assert frame["satisfied"].tolist() == [0.0, 0.2, 0.4]
    assert frame["bound"].tolist() == [0.8] * 3
    assert plot.served_frame({}, asked=1.0).empty
    point = pd.DataFrame({"policy": ["POP-4"], "elapsed": [3.0], "satisfied": [0.35]})
    axes = plot.traffic_served(pd.concat([frame, point]), optimum=0.41).axes[0]
    assert [line.get_label() for line in axes.lines] == ["one", "POP-4", "optimum"]
    assert axes.lines[1].get_marker() == "s"
    assert axes.get_xscale() == "log"
    with pytest.raises(wl.InputError, match="no column 'elapsed'"):
        plot.traffic_served(frame.drop(columns="elapsed"))
