"""Bad input is one clear error: what, where, what is allowed, what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.domains.traffic_engineering.networks import diamond, matrix, network

import walras as wl
from walras.domains import traffic_engineering as te

INF, NAN = float("inf"), float("nan")


def _demand(**changes: float) -> np.ndarray:
    out = diamond().demand.copy()
    for place, value in changes.items():
        out[int(place[1]), int(place[2])] = value
    return out


CASES: dict[str, tuple[Callable[[], object], str]] = {
    "seed of traffic": (lambda: te.lognormal_traffic(diamond().net, seed="a"), "seed: is 'a'"),  # type: ignore[arg-type]
    "no path of a network": (lambda: te.load_topology(4), "source: is 4"),  # type: ignore[arg-type]
    "no paths": (
        lambda: te.max_total_flow(diamond().net, diamond().demand, None),  # type: ignore[arg-type]
        "paths: is None",
    ),
    "half a time": (
        lambda: te.diurnal_series(diamond().demand, diamond().net, 1.5),  # type: ignore[arg-type]
        "times: is 1.5",
    ),
    "k": (lambda: te.candidate_paths(diamond().net, k=0), "k: is 0.*1 to 64"),
    "kind": (lambda: te.candidate_paths(diamond().net, kind="best"), "kind: is 'best'"),  # type: ignore[arg-type]
    "shape": (lambda: _flow(np.ones((3, 3))), r"shape \(3, 3\).*\(4, 4\)"),
    "negative demand": (lambda: _flow(_demand(_03=-1.0)), r"demand\[n0, n3\]: is -1"),
    "infinite demand": (lambda: _flow(_demand(_03=INF)), r"demand\[n0, n3\]: is inf"),
    "own traffic": (lambda: _flow(_demand(_11=2.0)), r"demand\[n1, n1\].*diagonal"),
    "text": (lambda: _flow([["a"] * 4] * 4), "not numeric"),
    "nothing asked": (lambda: _flow(np.zeros((4, 4))), "asks for nothing"),
    "disconnected": (lambda: _flow(_demand(_30=1.0)), r"demand\[n3, n0\].*no path.*joined_traffic"),
    "labels": (lambda: _flow(pd.DataFrame(np.zeros((4, 4)))), "rows of demand.*no node 'n0'"),
    "other network": (
        lambda: te.max_total_flow(network([(0, 1)], 1.0), np.zeros((2, 2)), diamond().paths),
        "paths: belong to a network of 4 nodes",
    ),
    "weight": (
        lambda: te.max_min_fair(
            diamond().net, diamond().demand, diamond().paths, weight=np.zeros((4, 4))
        ),
        r"weight\[n0->n3\]: is 0",
    ),
    "levels": (
        lambda: te.max_min_fair(diamond().net, diamond().demand, diamond().paths, levels=0),
        "levels: is 0",
    ),
    "flow": (lambda: te.evaluate(diamond().demand, diamond().paths, np.ones(2)), "flow: has shape"),
    "parts": (
        lambda: te.pop_flow(diamond().net, diamond().demand, diamond().paths, parts=99),
        "parts.*99",
    ),
    "path step": (lambda: te.Paths.of_nodes(diamond().net, [0, 3], [0, 2]), "path 0.*0 to node 3"),
    "path of one node": (lambda: te.Paths.of_nodes(diamond().net, [0], [0, 1]), "path 0.*1 nodes"),
    "sigma": (lambda: te.lognormal_traffic(diamond().net, sigma=-1), "sigma: is -1"),
    "wide sigma": (lambda: te.lognormal_traffic(diamond().net, sigma=1e3), "sigma: is 1000"),
    "wide spread": (lambda: te.gravity_traffic(diamond().net, spread=1e3), "spread: is 1000"),
    "wide ratio": (lambda: te.bimodal_traffic(diamond().net, ratio=1.7e308), "ratio: is 1.7e"),
    "total": (lambda: te.gravity_traffic(diamond().net, total=INF), "total: is inf"),
    "large": (lambda: te.bimodal_traffic(diamond().net, large=2), "large: is 2.*0 to 1"),
    "multiple": (lambda: te.capped_traffic(diamond().demand, diamond().paths, 0), "multiple: is 0"),
    "share": (
        lambda: te.redistributed_traffic(diamond().demand, diamond().net, NAN),
        "share: is NaN",
    ),
    "satisfied": (
        lambda: te.scaled_traffic(diamond().demand, diamond().paths, 1.0),
        "satisfied: is 1.0",
    ),
    "within": (
        lambda: te.scaled_traffic(diamond().demand, diamond().paths, within=0),
        "within: is 0",
    ),
    "one demand": (
        lambda: te.redistributed_traffic(diamond().demand, diamond().net, 0.5),
        "too few",
    ),
    "short series": (lambda: te.fluctuating_series(np.ones((2, 4, 4)), 2.0), "at least 3 times"),
    "times": (lambda: te.diurnal_series(diamond().demand, diamond().net, 0), "times: is 0"),
    "unknown network": (lambda: te.load_topology("Atlantis", synthetic=True), "'Atlantis'.*B4"),
    "attribute of a name": (lambda: te.load_topology("B4", capacity="bw"), "B4 has no attributes"),
    "attribute of SNDlib": (lambda: te.load_topology("a.xml", capacity="bw"), "a.xml has no attr"),
    "attribute and draw": (
        lambda: te.load_topology("a.json", capacity="bw", draw_capacities=1),
        "are to be drawn",
    ),
    "attribute": (lambda: te.load_topology("a.json", capacity=3), "capacity: is 3"),  # type: ignore[arg-type]
    "draw": (lambda: te.load_topology("a.json", draw_capacities=-1), "draw_capacities: is -1"),
    "parallel": (lambda: te.load_topology("B4", parallel="both"), "parallel: is 'both'"),  # type: ignore[arg-type]
    "series of text": (lambda: te.fluctuating_series("abc", 2.0), "series: is not numeric"),
    "flow of text": (
        lambda: te.evaluate(diamond().demand, diamond().paths, "abc"),  # type: ignore[arg-type]
        "flow: is not numeric",
    ),
    "no matrix file": (lambda: te.load_traffic(None, diamond().net), "path: is None"),  # type: ignore[arg-type]
    "edge form, cut off": (
        lambda: te.max_total_flow_by_link(
            te.Network(("a", "b", "c"), np.array([0]), np.array([1]), np.ones(1)),
            np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        ),
        r"demand\[a, c\]: no path joins these nodes \(nor 1 other",
    ),
    "edge form": (lambda: te.max_total_flow_by_link(diamond().net, np.zeros((4, 4))), "asks for"),
}


def _flow(demand: object) -> object:
    case = diamond()
    return te.max_total_flow(case.net, demand, case.paths)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CASES)
def test_one_clear_error(name: str) -> None:
    call, text = CASES[name]
    with pytest.raises(wl.InputError, match=f"(?s){text}") as caught:
        call()
    assert caught.value.remedy
    assert caught.value.allowed


def _of_both(name: str) -> Callable[[Any, np.ndarray, Any], object]:
    def call(net: Any, demand: np.ndarray, paths: Any) -> object:
        return getattr(te, name)(net, demand, paths)

    return call


def _without(what: str) -> dict[str, Callable[[Any, np.ndarray, Any], object]]:
    """Every public function that takes it, called on (network, demand, paths)."""
    of_networks: dict[str, Callable[[Any, np.ndarray, Any], object]] = {
        "random_failures": lambda net, d, p: te.random_failures(net, 1, 0),
        "candidate_paths": lambda net, d, p: te.candidate_paths(net),
        "lognormal_traffic": lambda net, d, p: te.lognormal_traffic(net),
        "gravity_traffic": lambda net, d, p: te.gravity_traffic(net),
        "bimodal_traffic": lambda net, d, p: te.bimodal_traffic(net),
        "diurnal_series": lambda net, d, p: te.diurnal_series(d, net, 2),
        "redistributed_traffic": lambda net, d, p: te.redistributed_traffic(d, net, 0.5),
        "max_total_flow_by_link": lambda net, d, p: te.max_total_flow_by_link(net, d),
        "load_traffic": lambda net, d, p: te.load_traffic("absent.npy", net),
        "of_nodes": lambda net, d, p: te.Paths.of_nodes(net, [0, 1], [0, 2]),
    }
    of_paths: dict[str, Callable[[Any, np.ndarray, Any], object]] = {
        "joined_traffic": lambda net, d, p: te.joined_traffic(d, p),
        "capped_traffic": lambda net, d, p: te.capped_traffic(d, p, 1.0),
        "scaled_traffic": lambda net, d, p: te.scaled_traffic(d, p),
        "evaluate": lambda net, d, p: te.evaluate(d, p, np.zeros(4)),
    }
    names = (
        "max_total_flow",
        "min_max_utilisation",
        "max_concurrent_flow",
        "max_min_fair",
        "shortest_path",
        "demand_pinning",
        "pop_flow",
    )
    of_both = {name: _of_both(name) for name in names}
    return of_both | (of_networks if what == "network" else of_paths)


@pytest.mark.parametrize(
    ("what", "name"), [(what, name) for what in ("network", "paths") for name in _without(what)]
)
@pytest.mark.parametrize("given", [None, "B4"])
def test_what_is_no_network_or_no_paths_is_one_clear_error(
    what: str, name: str, given: object
) -> None:
    case = diamond()
    net, paths = (given, case.paths) if what == "network" else (case.net, given)
    with pytest.raises(
        wl.InputError, match=f"{what}: is {given!r}; allowed: an object of"
    ) as caught:
        _without(what)[name](net, case.demand, paths)
    assert "load_topology" in caught.value.remedy


def test_capacities_of_some_links_alone_are_refused(tmp_path: Path) -> None:
    (tmp_path / "some.json").write_text(
        '{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "links": ['
        '{"source": "a", "target": "b", "capacity": 2}, {"source": "b", "target": "c"}]}'
    )
    with pytest.raises(wl.InputError, match=r"link 1 \(b->c\): has no capacity.*1 links have"):
        te.load_topology(tmp_path / "some.json")


def test_an_absent_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(wl.DataError, match="cannot be read as a network"):
        te.load_topology(tmp_path / "absent.json")
    with pytest.raises(wl.DataError, match=r"has the ending '\.yaml'"):
        te.load_topology(tmp_path / "absent.yaml")


@pytest.mark.parametrize(("name", "text"), [("m.csv", ""), ("m.npy", "x"), ("m.csv", "a,b\n1")])
def test_a_file_that_is_no_matrix_is_one_clear_error(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(wl.WalrasError, match=r"m\.(csv|npy)"):
        te.load_traffic(tmp_path / name, diamond().net)


def test_a_matrix_of_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(wl.DataError, match=r"ending '.mat'"):
        te.load_traffic(tmp_path / "m.mat", diamond().net)


def test_demands_that_no_path_joins_can_be_left_out() -> None:
    case = diamond()
    demand = matrix(4, {(0, 3): 1.0, (3, 0): 5.0})
    left = te.joined_traffic(demand, case.paths)
    assert left[0, 3] == 1.0
    assert left[3, 0] == 0.0
    judged = te.evaluate(demand, case.paths, np.zeros(case.paths.count))
    assert judged.asked == 6.0
