"""``walras rebalance``: tables in, moves out, the published rounds, one error for each bad file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import walras as wl
from walras.cli.main import app

SHARDS = "shard,load,server\na,9,s1\nb,4,s1\nc,2,s2\nd,2,s2\ne,1,s3\nf,1,s3\n"
SERVERS = "server,memory,zone\ns1,4,rack1\ns2,4,rack1\ns3,4,rack2\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the command on the two tables."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("WALRAS_DATA", raising=False)

    def call(*options: str, shards: str | None = SHARDS, servers: str | None = SERVERS) -> Result:
        arguments = ["rebalance", "--no-progress"]
        for name, text in (("shards", shards), ("servers", servers)):
            if text is not None:
                path = tmp_path / f"{name}.csv"
                path.write_text(text, encoding="utf-8")
                arguments += [f"--{name}", str(path)]
        return CliRunner().invoke(app, [*arguments, *options])

    return call


def test_json_has_the_moves_the_bound_and_the_servers(run: Any) -> None:
    result = run("--band", "0.1", "-o", "json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["status"] == "optimal"
    assert summary["moves"] == summary["bound"] == len(summary["transfers"])
    assert summary["violation"] < 1e-9
    mean = 19.0 / 3.0
    for server in summary["servers"]:
        assert 0.9 * mean - 1e-6 <= server["after"] <= 1.1 * mean + 1e-6
    assert {move["from"] for move in summary["transfers"]} == {"s1"}


def test_csv_lists_the_moves(run: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(run("-o", "csv").stdout)))
    assert rows[0].keys() == {"shard", "from", "to", "load"}
    assert all(float(row["load"]) > 0 for row in rows)


def test_the_table_and_the_figure(run: Any, tmp_path: Path) -> None:
    result = run("--figure", str(tmp_path / "loads.png"))
    assert "servers whose load changes most" in result.stdout
    assert "largest of" in result.stdout
    assert (tmp_path / "loads.png").read_bytes()[:4] == b"\x89PNG"


def test_options_reach_the_round(run: Any) -> None:
    drained = json.loads(run("--drain", "s3", "--band", "0.2", "-o", "json").stdout)
    assert {s["server"]: s["after"] for s in drained["servers"]}["s3"] == 0.0
    table = "server,drain,weight\ns1,yes,1\ns2,,1\ns3,no,2\n"
    drained = json.loads(run("--band", "0.2", "-o", "json", servers=table).stdout)
    assert {s["server"]: s["after"] for s in drained["servers"]}["s1"] == 0.0
    roomy = SERVERS.replace(",4,", ",8,")
    spread = json.loads(run("--band", "0.5", "--spread", "2", "-o", "json", servers=roomy).stdout)
    assert spread["moves"] >= 6
    whole = json.loads(run("--band", "0.5", "--replicas", "1", "-o", "json", servers=None).stdout)
    assert whole["moves"] == whole["bound"]


def test_shares_and_new_shards_in_the_table(run: Any) -> None:
    text = "shard,load,server\na,4,s1:0.5 s2:0.5\nb,4,s3\nc,2,\n"
    summary = json.loads(run("--band", "0.5", "-o", "json", shards=text).stdout)
    assert summary["moves"] == 1
    assert summary["transfers"][0]["from"] is None


def test_the_published_rounds(run: Any, tmp_path: Path) -> None:
    result = run(
        "--rounds",
        "2",
        "--size",
        "16x128",
        "--baseline",
        "--figure",
        str(tmp_path / "r.svg"),
        shards=None,
        servers=None,
    )
    assert result.exit_code == 0, result.output
    assert "E-Store greedy" in result.stdout
    assert "synthetic stand-in" in result.stdout
    assert (tmp_path / "r.svg").exists()
    dropped = run(
        "--rounds", "2", "--size", "16x128", "--drop", "-o", "csv", shards=None, servers=None
    )
    rows = list(csv.DictReader(io.StringIO(dropped.stdout)))
    assert [row["index"] for row in rows] == ["0", "1"]
    assert all(float(row["violation"]) < 1e-9 for row in rows)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"shards": "shard,load,server\na,-1,s1\n"}, "finite and > 0"),
        ({"shards": "shard,load,server\na,1,s1\na,1,s2\n"}, "'a' comes twice"),
        ({"shards": "shard,load,server\na,1,s9\n"}, "server 's9' is not among"),
        ({"shards": "shard,load,server\na,1,s1 s1\n"}, "named twice"),
        ({"shards": "shard,load,server\na,1,s1:x\n"}, "the share is 'x'"),
        ({"shards": "shard,load\na,1\n"}, "no column 'server'"),
        ({"servers": "server,drain\ns1,maybe\ns2,\ns3,\n"}, "yes, no or empty"),
        ({"servers": "server\ns1\ns1\n"}, "'s1' comes twice"),
        ({"shards": None}, "one of the two"),
        ({"options": ["--rounds", "3"]}, "one of the two"),
        ({"options": ["--band", "-1"]}, "setting band"),
        ({"options": ["--figure", "f.txt"]}, "a name ending in .png"),
        ({"options": ["--size", "16x128"]}, "--size: says nothing with --shards"),
        ({"options": ["--baseline"]}, "--baseline: says nothing with --shards"),
        ({"shards": None, "options": ["--rounds", "2"]}, "--servers: says nothing with --rounds"),
        (
            {"shards": None, "servers": None, "options": ["--rounds", "2", "--drain", "s1"]},
            "--drain: says nothing with --rounds",
        ),
        ({"options": ["--replicas", "0"]}, "is 0; allowed: a whole number, 1 to 3"),
        ({"shards": None, "servers": None, "options": ["--rounds", "0"]}, "1 to 100"),
        (
            {"shards": None, "servers": None, "options": ["--rounds", "2", "--size", "3"]},
            "servers x shards",
        ),
    ],
)
def test_bad_input_is_one_clear_error(run: Any, change: dict[str, Any], match: str) -> None:
    options = change.pop("options", [])
    result = run(*options, **change)
    assert isinstance(result.exception, wl.InputError)
    assert match in str(result.exception)


def test_memory_that_is_too_small_is_infeasible(run: Any) -> None:
    result = run("--memory", "2", servers=None)
    assert isinstance(result.exception, wl.InfeasibleError)
    assert "memory of" in str(result.exception)
