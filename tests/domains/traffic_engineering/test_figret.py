"""FIGRET's folders: the network, the tunnels and the matrices, and what is wrong with bad ones."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

from walras.domains import traffic_engineering as te
from walras.errors import DataError, InputError, WalrasError
from walras.solving import solve

LINKS = [(0, 1, 10.0), (0, 2, 10.0), (2, 1, 5.0)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    links = [{"source": s, "target": t, "capacity": c} for s, t, c in LINKS]
    graph = {"directed": True, "nodes": [{"id": k} for k in range(3)], "links": links}
    (tmp_path / "topology.json").write_text(json.dumps(graph))
    (tmp_path / "tunnels.txt").write_text("0 1:0-1,0-2-1\n0 2:0-2\n\n2 1:2-1\n")
    lines = b"0 9 0 0 0 0 0 0 0\n0 4 2 0 0 0 0 1 0\n"
    (tmp_path / "test_1.hist.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "test_1.opt").write_text("0.6\n0.2857142857142857\n")
    return tmp_path


def test_the_published_problem_has_the_published_optimum(folder: Path) -> None:
    found = te.load_figret(folder)
    assert found.names == ("test_1",)
    assert [found.paths.nodes_of(p).tolist() for p in range(4)] == [
        [0, 1],
        [0, 2, 1],
        [0, 2],
        [2, 1],
    ]
    assert found.matrices("test_1")[1].tolist() == [[0, 4, 2], [0, 0, 0], [0, 1, 0]]
    # 9 over links of 10 and 5: 6 and 3. Then 4 of 0->1 beside 1 on 2->1: x/10 = (4 - x + 1)/5.
    wanted = [0.6, 1.0 / 3.0]
    for demand, least in zip(found.matrices("test_1"), wanted, strict=True):
        s = solve(te.min_max_utilisation(found.network, demand, found.paths), tolerance=1e-9)
        assert s.value == pytest.approx(least, rel=1e-8)
    assert found.optimum("test_1")[0] == 0.6


@pytest.mark.parametrize(
    ("file", "content", "where"),
    [
        ("tunnels.txt", "0 1:0-1\n0 2:0-1\n", "line 2"),
        ("tunnels.txt", "0 1:0-9-1\n", "line 1"),
        ("tunnels.txt", "0 1 0-1\n", "line 1"),
        ("tunnels.txt", "0 1:1-0-x\n", "line 1"),
        ("tunnels.txt", None, "tunnels.txt"),
        ("topology.json", None, "topology.json"),
    ],
)
def test_a_bad_folder_is_named(folder: Path, file: str, content: str | None, where: str) -> None:
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content)
    with pytest.raises(WalrasError) as caught:
        te.load_figret(folder)
    assert where in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(b"0 1 2\n"),
        gzip.compress(b"0 9 0 0 0 0 0 0 -1\n"),
        gzip.compress(b"0 9 0 0 0 0 0 0 nan\n"),
        gzip.compress(b"0 9 0 0 0 0 0 0 x\n"),
        b"no gzip",
        gzip.compress(b""),
        gzip.compress(b"# 0 9 0 0 0 0 0 0 0\n"),
    ],
)
def test_bad_matrices_are_named(folder: Path, content: bytes) -> None:
    (folder / "test_1.hist.gz").write_bytes(content)
    with pytest.raises(DataError) as caught:
        te.load_figret(folder).matrices("test_1")
    assert caught.value.where == str(folder / "test_1.hist.gz")


def test_a_tunnel_over_no_link_and_an_unknown_name_are_said(folder: Path) -> None:
    with pytest.raises(InputError, match="test_1"):
        te.load_figret(folder).matrices("test_2")
    (folder / "tunnels.txt").write_text("1 0:1-0\n")
    with pytest.raises(InputError):
        te.load_figret(folder)


def test_optima_are_one_a_matrix(folder: Path) -> None:
    assert np.shape(te.load_figret(folder).optimum("test_1")) == (2,)
    (folder / "test_1.opt").write_text("\n")
    with pytest.raises(DataError, match=r"test_1\.opt: .*it is empty"):
        te.load_figret(folder).optimum("test_1")


def test_the_folder_above_names_its_networks(folder: Path) -> None:
    (folder / "above" / "one").mkdir(parents=True)
    (folder / "topology.json").rename(folder / "above" / "one" / "topology.json")
    with pytest.raises(DataError, match="give the folder of one network: one"):
        te.load_figret(folder / "above")
    with pytest.raises(DataError, match=r"has no topology\.json.*as they were published"):
        te.load_figret(folder)


def test_a_folder_is_a_path() -> None:
    with pytest.raises(InputError, match=r"folder: is 3; allowed: a path"):
        te.load_figret(3)  # type: ignore[arg-type]


@pytest.mark.real_data("te_figret")
@pytest.mark.parametrize("name", ["GEANT", "Facebook_pod_a", "Facebook_pod_b"])
def test_the_published_optima_are_ours(name: str) -> None:
    found = te.load_figret(Path(os.environ["WALRAS_DATA"]) / "te_figret" / name)
    last = found.names[-1]
    matrices, optimum = found.matrices(last), found.optimum(last)
    assert len(matrices) == len(optimum)
    for k in (0, len(matrices) // 2):
        s = solve(te.min_max_utilisation(found.network, matrices[k], found.paths), tolerance=1e-10)
        assert s.value == pytest.approx(optimum[k], rel=1e-9)
