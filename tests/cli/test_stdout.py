"""Nothing but the result reaches standard output: file descriptor 1 of processes, read whole."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.cluster_tables import words
from tests.cli.test_match import SUCCESS, TIMES
from tests.cli.test_rebalance import SERVERS, SHARDS

MPS = """NAME small
ROWS
 N cost
 L room
 G need
COLUMNS
    MARKER                 'MARKER'                 'INTORG'
    x  cost 3.0  room 2.0
    x  need 1.0
    MARKER                 'MARKER'                 'INTEND'
    y  cost 1.0  room 1.0
    y  need 1.0
RHS
    rhs  room 4.0  need 2.5
BOUNDS
 UP bnd x 3.0
ENDATA
"""
NET = {
    "directed": True,
    "nodes": [{"id": "a"}, {"id": "b"}],
    "links": [
        {"source": "a", "target": "b", "capacity": 2.0},
        {"source": "b", "target": "a", "capacity": 2.0},
    ],
}
CLUSTER = """
import numpy as np, walras as wl
cs = wl.domains.cluster_scheduling
speed = np.array([[4.0, 2, 3, 1], [1, 1, 2, 1]])
given = dict(throughput=speed, size=np.ones(4), capacity=np.ones(2))
"""
OUTSIDE = """
import cvxpy as cp, walras as wl
x = cp.Variable(3, {declared})
wl.Problem(cp.Minimize({objective}), [cp.sum(x) >= 2.5, x <= 9]).solve()
"""
CODE = {
    **{
        f"api {engine}": f"{CLUSTER}assert wl.solve(cs.max_min(**given), engine={engine!r}).x.any()"
        for engine in ("auto", "interior", "admm", "exact", "pop")
    },
    "api integer": f"{CLUSTER}wl.solve(cs.total_throughput(**given), integer=True)",
    "api leximin": f"{CLUSTER}wl.solve(cs.leximin(**given))",
    "api conic": f"{CLUSTER}wl.solve(cs.proportional_fairness(**given), engine='exact')",
    "api polish": f"{CLUSTER}wl.solve(cs.max_min(**given), polish=True, verbose=True)",
    "api cvxpy conic": OUTSIDE.format(declared="nonneg=True", objective="cp.norm(x - 7)"),
    "api cvxpy whole": OUTSIDE.format(declared="integer=True", objective="cp.max(x) + cp.norm1(x)"),
    "api infeasible": """
import cvxpy as cp, walras as wl
x = cp.Variable(2, integer=True)
try:
    wl.Problem(cp.Minimize(cp.norm1(x) + cp.max(x)), [cp.sum(x) >= 3, x <= 1]).solve()
except wl.InfeasibleError:
    pass
""",
}


@dataclass(frozen=True)
class Ran:
    """What a process printed on file descriptors 1 and 2, and its exit code."""

    out: bytes
    err: str
    code: int


def run_all(folder: Path, given: Mapping[str, Sequence[str] | str]) -> dict[str, Ran]:
    """Run each in a process of its own."""
    file = folder / "given.json"
    file.write_text(json.dumps(given))
    command = [sys.executable, "-m", "tests.cli.alone_on_stdout", str(file), str(folder)]
    subprocess.run(command, check=True, timeout=280)
    codes = json.loads((folder / "codes.json").read_text())
    return {
        name: Ran((folder / f"{name}.out").read_bytes(), (folder / f"{name}.err").read_text(), code)
        for name, code in codes.items()
    }


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    folder = tmp_path_factory.mktemp("stdout")
    contents = {
        "p.mps": MPS,
        "t.csv": TIMES,
        "a.csv": SUCCESS,
        "shards.csv": SHARDS,
        "servers.csv": SERVERS,
        "net.json": json.dumps(NET),
        "demand.csv": ",a,b\na,0,1\nb,1,0\n",
    }
    for name, text in contents.items():
        (folder / name).write_text(text)
    at = {name: str(folder / name) for name in contents}
    match = ["match", "--times", at["t.csv"], "--success", at["a.csv"], "--no-progress"]
    traffic = ["solve", "traffic", "--network", at["net.json"], "--demand", at["demand.csv"]]
    balance = ["rebalance", "--shards", at["shards.csv"], "--servers", at["servers.csv"]]
    commands = {
        **{
            f"cluster {engine}": words(folder, "--engine", engine, "-o", "csv")
            for engine in ("auto", "interior", "admm", "exact", "pop")
        },
        "cluster json": words(folder, "--engine", "exact", "-o", "json"),
        "cluster conic": words(folder, "--objective=proportional", "--engine=exact", "-ojson"),
        "file json": ["solve", at["p.mps"], "-o", "json"],
        "file csv": ["solve", at["p.mps"], "-o", "csv"],
        "traffic json": [*traffic, "--engine", "exact", "-o", "json"],
        "traffic csv": [*traffic, "-o", "csv"],
        "match json": [*match, "-o", "json"],
        "match milp csv": [*match, "--method", "milp", "-o", "csv"],
        "rebalance json": [*balance, "-o", "json"],
        "rebalance csv": [*balance, "-o", "csv"],
        "data json": ["data", "list", "-o", "json"],
        "data csv": ["data", "list", "-o", "csv"],
        "doctor json": ["doctor", "-o", "json"],
        "advise json": ["network", "advise", "-o", "json"],
        "simulate csv": ["network", "simulate", "--steps", "5", "-o", "csv"],
        "error json": [
            "solve",
            "cluster",
            "--throughput",
            "none.csv",
            "--jobs",
            "none.csv",
            "--resources",
            "none.csv",
            "-o",
            "json",
        ],
    }
    return run_all(folder, {**commands, **CODE})


def test_json_is_json_and_nothing_else(ran: dict[str, Ran]) -> None:
    chosen = {name: one for name, one in ran.items() if name.endswith("json") or "conic" in name}
    for name, one in chosen.items():
        if name.startswith("api") or name == "error json":
            continue
        assert one.code == 0, (name, one.err)
        assert json.loads(one.out), name
        assert one.out.endswith((b"}\n", b"]\n")), name


def test_csv_begins_with_its_header(ran: dict[str, Ran]) -> None:
    first = {
        "cluster auto": "job,v100,k80",
        "cluster interior": "job,v100,k80",
        "cluster admm": "job,v100,k80",
        "cluster exact": "job,v100,k80",
        "cluster pop": "job,v100,k80",
        "file csv": "column,value",
        "traffic csv": "source,target,flow,path",
        "match milp csv": "task,cluster,time",
        "rebalance csv": "shard,",
        "data csv": "name,holds",
        "simulate csv": "step,",
    }
    for name, header in first.items():
        lines = ran[name].out.decode().splitlines()
        assert ran[name].code in (0, 5), (name, ran[name].err)
        assert lines[0].startswith(header), name
        assert len({len(row) for row in csv.reader(lines)}) == 1, name


@pytest.mark.parametrize("name", CODE)
def test_a_solve_from_python_prints_nothing(ran: dict[str, Ran], name: str) -> None:
    assert ran[name].code == 0, ran[name].err
    assert ran[name].out == b""


def test_an_error_leaves_standard_output_empty(ran: dict[str, Ran]) -> None:
    one = ran["error json"]
    assert one.out == b""
    assert one.code == 6
    assert one.err.startswith("error[data]: ")


def test_no_command_shows_a_traceback(ran: dict[str, Ran]) -> None:
    assert not [name for name, one in ran.items() if "Traceback" in one.err]
