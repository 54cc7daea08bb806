"""``walras solve traffic``: networks and matrices in, flows out, one error for each bad file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import walras as wl
from walras.cli.solve import app
from walras.data.registry import lookup
from walras.data.store import locate
from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering import read_flows

NODES = ("a", "b", "c", "d")
LINKS = [("a", "b", 3.0), ("b", "d", 1.5), ("a", "c", 2.0), ("c", "d", 2.0), ("d", "a", 9.0)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the command on a diamond with a demand of 4 from a to d."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("WALRAS_DATA", raising=False)
    links = [{"source": a, "target": b, "capacity": c} for a, b, c in LINKS]
    content = {"directed": True, "nodes": [{"id": v} for v in NODES], "links": links}
    (tmp_path / "net.json").write_text(json.dumps(content))
    demand = pd.DataFrame(0.0, NODES, NODES)
    demand.loc["a", "d"], demand.loc["d", "a"] = 4.0, 1.0
    demand.to_csv(tmp_path / "demand.csv")

    def call(*options: str, network: str = "", demand: str = "") -> Result:
        arguments = [
            "traffic",
            "--network",
            network or str(tmp_path / "net.json"),
            "--demand",
            demand or str(tmp_path / "demand.csv"),
            "--no-progress",
            *options,
        ]
        return CliRunner().invoke(app, arguments)

    return call


@pytest.mark.parametrize(
    ("objective", "value"),
    [("total", 4.5), ("utilisation", 4 / 3.5), ("concurrent", 3.5 / 4), ("fair", 3.5 / 4)],
)
def test_every_objective(run: Any, objective: str, value: float) -> None:
    result = run("--objective", objective, "-o", "json")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert content["value"] == pytest.approx(value, rel=1e-5)
    assert content["status"] == "optimal"
    assert (content["nodes"], content["links"][0]["utilisation"] > 0.99) == (4, True)
    served = sum(flow["flow"] for flow in content["flows"] if flow["target"] == "d")
    assert served == pytest.approx(4.0 if objective == "utilisation" else 3.5, rel=1e-5)
    if objective == "utilisation":  # of 4 / (capacity b->d + 2)
        price = {link["link"]: link["price of one more"] for link in content["links"]}
        assert price["b->d"] == pytest.approx(4 / 3.5**2, rel=1e-5)
        assert price["d->a"] == pytest.approx(0.0, abs=1e-6)
    if objective == "fair":
        assert content["levels"].split(", ")[0] == "0.875"


def test_capacities_by_another_name_are_named_or_drawn_on_request(run: Any, tmp_path: Path) -> None:
    text = (tmp_path / "net.json").read_text()
    (tmp_path / "net.json").write_text(text.replace('"capacity"', '"bandwidth"'))
    error = run().exception
    assert isinstance(error, wl.InputError)
    assert "its links have: bandwidth" in str(error)
    named = json.loads(run("--capacity-attribute", "bandwidth", "-o", "json").stdout)
    assert named["value"] == pytest.approx(4.5, rel=1e-5)
    drawn = json.loads(run("--draw-capacities", "7", "-o", "json").stdout)
    assert "5 capacities drawn with seed 7" in drawn["origin"]
    assert drawn["value"] == pytest.approx(5.0)


def test_csv_lists_the_paths_that_carry_traffic(run: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(run("-o", "csv").stdout)))
    flows = {row["path"]: float(row["flow"]) for row in rows}
    assert flows == pytest.approx({"a b d": 1.5, "a c d": 2.0, "d a": 1.0}, rel=1e-5)


def test_the_table_shows_the_fullest_links_and_what_lacks(run: Any) -> None:
    text = run().stdout
    assert "fullest 5 of 5 links" in text
    assert "b->d" in text
    assert "1 of 12 pairs are not served in full" in text
    assert "a->d" in text
    assert "not served in full" not in run("--objective", "utilisation").stdout


def test_models_failures_and_options(run: Any) -> None:
    common = ("--load", "0.3", "--seed", "3", "-o", "json")
    content = json.loads(run(*common, "--k", "2", "--kind", "shortest", demand="gravity").stdout)
    net = te.load_topology("B4", synthetic=True)
    assert content["traffic asked for"] == pytest.approx(0.3 * 17.5)
    broken = run(*common, "--failures", "3", "--engine", "exact", network="B4", demand="lognormal")
    assert broken.exit_code == 0, broken.output
    summary = json.loads(broken.stdout)
    assert len(summary["links"]) == net.links - 3
    assert summary["origin"].startswith("synthetic stand-in")
    assert "3 links failed" in summary["origin"]


@pytest.mark.parametrize(
    ("options", "changes", "text"),
    [
        ((), {"network": "Atlantis"}, "there is no network 'Atlantis'"),
        ((), {"network": "absent.json"}, "cannot be read as a network"),
        ((), {"demand": "poisson"}, "there is no traffic model 'poisson'"),
        ((), {"demand": "absent.csv"}, "cannot be read as a traffic matrix"),
        (("--k", "0"), {}, "k: is 0"),
        (("--failures", "5"), {}, "failures: is 5"),
        (("--load", "-1"), {"demand": "gravity"}, "load: is -1"),
        (("--parts", "4"), {}, "parts"),
    ],
)
def test_bad_input(run: Any, options: tuple[str, ...], changes: dict[str, str], text: str) -> None:
    error = run(*options, **changes).exception
    assert isinstance(error, wl.WalrasError)
    assert text in str(error)


def test_a_demand_that_no_path_joins_is_an_error_from_a_file(run: Any, tmp_path: Path) -> None:
    links = [{"source": "a", "target": "b", "capacity": 1.0}]
    content = {"directed": True, "nodes": [{"id": "a"}, {"id": "b"}], "links": links}
    (tmp_path / "one.json").write_text(json.dumps(content))
    np.save(tmp_path / "both.npy", np.array([[0.0, 1.0], [1.0, 0.0]]))
    network, demand = str(tmp_path / "one.json"), str(tmp_path / "both.npy")
    error = str(run(network=network, demand=demand).exception)
    assert "no path joins" in error
    assert "--joined" in error
    left = run("--joined", "-o", "json", network=network, demand=demand)
    assert left.exit_code == 0, left.output
    content = json.loads(left.stdout)
    assert content["value"] == pytest.approx(1.0)
    assert (content["traffic asked for"], content["traffic left out"]) == (2.0, 1.0)
    assert "demands left out since no path joins them: 1, 1 of 2 traffic" in left.stderr
    assert run(network=network, demand="bimodal").exit_code == 0


def test_parallel_links_of_a_file_are_merged_on_demand(run: Any, tmp_path: Path) -> None:
    links = [("a", "b", 1.0), ("b", "b", 4.0), ("a", "b", 2.0)]
    records = [{"source": a, "target": b, "capacity": c} for a, b, c in links]
    content = {"directed": True, "nodes": [{"id": "a"}, {"id": "b"}], "links": records}
    (tmp_path / "twice.json").write_text(json.dumps(content))
    network = str(tmp_path / "twice.json")
    for options in ((), ("--parallel", "error")):
        error = run(*options, network=network, demand="gravity").exception
        assert isinstance(error, wl.InputError)
        assert "--parallel merge" in error.remedy
    merged = run("--parallel", "merge", "-o", "json", network=network, demand="gravity")
    assert merged.exit_code == 0, merged.output
    assert [link["capacity"] for link in json.loads(merged.stdout)["links"]] == [3.0]
    assert run("--parallel", "both", network=network, demand="gravity").exit_code == 2


@pytest.mark.real_data("topology_zoo")
@pytest.mark.parametrize("name", ["Uninett2010", "Ion"])
def test_graphs_of_the_zoo_are_loaded_from_their_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = locate(lookup("topology_zoo"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    options = ("--demand", "gravity", "--parallel", "merge", "--k", "1", "--no-progress")
    network = f"{folder}/{name}.graphml"
    result = CliRunner().invoke(app, ["traffic", "--network", network, *options])
    assert "--draw-capacities" in str(result.exception)  # they state none
    drawn = ("--draw-capacities", "0")
    result = CliRunner().invoke(app, ["traffic", "--network", network, *options, *drawn])
    assert result.exit_code == 0, result.output


def test_printed_flows_start_the_next_solve_also_where_links_fail(run: Any, tmp_path: Path) -> None:
    flows = tmp_path / "flows.csv"
    flows.write_text(run("-o", "csv").stdout)
    again = run("--start", str(flows), "-o", "csv")
    assert (again.exit_code, again.stdout) == (0, flows.read_text())
    after = run("--failures", "1", "--start", str(flows), "-o", "json")
    assert after.exit_code == 0, after.output
    assert json.loads(after.stdout)["share served"] < 0.9


def test_flows_are_matched_by_the_nodes_of_their_paths(tmp_path: Path) -> None:
    source, target = (np.array([NODES.index(str(link[k])) for link in LINKS]) for k in (0, 1))
    net = te.Network(NODES, source, target, np.array([link[2] for link in LINKS]))
    paths = te.candidate_paths(net, cache=False)
    file = tmp_path / "flows.csv"
    file.write_text("source,target,flow,path\na,d,1.5,a b d\na,d,9,a gone d\nd,a,2,d a\n")
    x = read_flows(file, paths)
    named = {"a b d": 1.5, "a c d": 0.0, "d a": 2.0}
    for p in range(paths.count):
        way = " ".join(NODES[v] for v in paths.nodes_of(p))
        assert x[p] == named[way] if way in named else np.isnan(x[p])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("source,target,flow,path\nx,d,1,x d\n", "there is no node 'x'"),
        ("source,target,flow,path\na,d,-1,a b d\n", "line 2, column 'flow'"),
        ("source,target,flow,path\na,d,1,a d\n", "no path in the file is a candidate path"),
        ("source,target,flow\na,d,1\n", "path"),
        ("source,target,flow,path\n", "no lines below the header"),
    ],
)
def test_bad_flows_to_start_from(run: Any, tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "flows.csv").write_text(content)
    caught = run("--start", str(tmp_path / "flows.csv")).exception
    assert isinstance(caught, wl.InputError)
    assert words in str(caught)


def test_the_first_order_engine_takes_its_settings(run: Any) -> None:
    for options in (
        ("--engine-option", "collapse=true"),
        ("--engine-option", "mode=augmented-lagrangian"),
        ("--polish",),
    ):
        result = run("--engine", "admm", "--tolerance", "1e-3", "-o", "json", *options)
        assert result.exit_code == 0, result.output
        content = json.loads(result.stdout)
        assert (content["engine"], content["status"]) == ("admm", "optimal")
    for option, value in (("--mode", "paper"), ("--device", "gpu")):
        caught = run("--engine", "interior", option, value).exception
        assert isinstance(caught, wl.InputError)
        assert option.strip("-") in str(caught)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_figure_of_the_utilisation(run: Any, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"network.{ending}"
    assert run("--figure", str(file)).exit_code == 0
    assert file.stat().st_size > 5000


@pytest.mark.parametrize("name", ["network.gif", "network", "none/network.png"])
def test_a_figure_that_cannot_be_drawn_is_refused_before_the_work(
    run: Any, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(te, "load_topology", None)
    caught = run("--figure", str(tmp_path / name)).exception
    assert isinstance(caught, wl.DataError if "/" in name else wl.InputError)
    assert caught.where == (str(tmp_path / name) if "/" in name else "--figure")
