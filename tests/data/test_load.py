"""Find and load: the search path, the real sets, their stand-ins, and files that are wrong."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from walras import data
from walras.data import gavel, gavel_traces
from walras.errors import DataError, InputError

NAMES = tuple(data.REGISTRY)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own, and an empty cache."""
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data"


def _place(folder: Path, name: str, file: str, content: bytes) -> Path:
    (folder / name).mkdir(parents=True, exist_ok=True)
    path = folder / name / file
    path.write_bytes(content)
    return path


def _gavel_file() -> bytes:
    jobs = {"('A3C', 1)": {"null": 2.0, "('A3C', 1)": [1.5, 1.5]}, "('LM', 2)": {"null": 3.0}}
    clusters = [c + suffix for c in gavel.CLUSTERS for suffix in ("", "_unconsolidated")]
    content = {c: jobs for c in clusters}
    content["k80"] = {"('A3C', 1)": {"null": 0.5}}
    return json.dumps(content).encode()


@pytest.mark.usefixtures("folder")
def test_nothing_is_found_in_empty_folders() -> None:
    assert [data.find(name) for name in NAMES] == [None] * len(NAMES)


def test_a_set_needs_all_its_files(folder: Path) -> None:
    _place(folder, "dede_cluster", "cluster_spec.json", b"{}")
    assert data.find("dede_cluster") is None
    _place(folder, "dede_cluster", "simulation_throughputs.npy", b"")
    assert data.find("dede_cluster") == folder / "dede_cluster"


def test_the_cache_is_searched_after_the_environment(folder: Path) -> None:
    cache = data.search_path()[1]
    _place(cache, "gavel", gavel.FILE, _gavel_file())
    assert data.find("gavel") == cache / "gavel"
    _place(folder, "gavel", gavel.FILE, _gavel_file())
    assert data.find("gavel") == folder / "gavel"


def test_gavel_is_read_into_arrays(folder: Path) -> None:
    _place(folder, "gavel", gavel.FILE, _gavel_file())
    found = data.load("gavel")
    assert found.source == "measured"
    assert found.origin == str(folder / "gavel")
    assert found.job_types == ("A3C", "LM")
    assert found.scale_factors.tolist() == [1, 2]
    # K80 lists no LM on two GPUs: it cannot run there.
    np.testing.assert_array_equal(found.throughput, [[2.0, 3.0], [2.0, 3.0], [0.5, 0.0]])
    np.testing.assert_array_equal(found.unconsolidated[2], [2.0, 3.0])
    assert found.columns(["LM", "A3C", "LM"], [2, 1, 1]).tolist() == [1, 0, -1]
    assert found.table().loc[1, "k80"] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        found.throughput[0, 0] = 1.0


WRONG_FILES = {
    "gavel is not JSON": ("gavel", gavel.FILE, b"{"),
    "gavel lacks a cluster": ("gavel", gavel.FILE, b'{"v100": {}}'),
    "gavel is a list": ("gavel", gavel.FILE, b"[]"),
    "gavel has a strange key": ("gavel", gavel.FILE, b'{"v100": {"A3C(": {"null": 1}}}'),
    "traces are not compressed": ("gavel_traces", gavel_traces.FILE, b"trace\n"),
    "traces are empty": ("gavel_traces", gavel_traces.FILE, gzip.compress(b"")),
    "traces lack columns": ("gavel_traces", gavel_traces.FILE, gzip.compress(b"trace\nx\n")),
    "traces are ragged": (
        "gavel_traces",
        gavel_traces.FILE,
        gzip.compress(b"trace,job_type\nx,y\nx,y,z\n"),
    ),
    "a trace has words for numbers": (
        "gavel_traces",
        gavel_traces.FILE,
        gzip.compress(b"trace,job_type,total_steps\nx,y,many\n"),
    ),
    "a file is cut short": ("gavel_traces", gavel_traces.FILE, gzip.compress(b"trace" * 99)[:-9]),
}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_a_wrong_file_is_one_clear_error(case: str, folder: Path) -> None:
    name, file, content = WRONG_FILES[case]
    path = _place(folder, name, file, content)
    with pytest.raises(DataError) as caught:
        data.load(name)
    assert caught.value.where == str(path)
    assert f"walras data fetch {name}" in caught.value.remedy


def test_unknown_names_are_refused() -> None:
    for call in (data.find, data.load, data.verify, data.fetch):
        with pytest.raises(InputError, match=r"no data set 'gravel'.*gavel_traces"):
            call("gravel")


@pytest.mark.usefixtures("folder")
def test_only_the_real_set_can_be_asked_for() -> None:
    with pytest.raises(DataError, match="walras data fetch gavel"):
        data.load("gavel", synthetic=False)
    with pytest.raises(DataError, match="was not found"):
        data.verify("gavel")


@pytest.mark.real_data(*NAMES)
def test_the_real_sets_are_as_registered() -> None:
    for name in NAMES:
        assert set(data.verify(name).values()) == {data.FileState.OK}
        assert data.load(name).source == "measured"


@pytest.mark.real_data(*NAMES)
def test_the_stand_ins_have_the_shape_of_the_real_sets() -> None:
    measured, drawn = data.load("gavel"), data.load("gavel", synthetic=True)
    assert set(_pairs(measured)) == set(_pairs(drawn))
    assert measured.throughput.shape == drawn.throughput.shape
    jobs, stand_in = data.load("gavel_traces").jobs, data.load("gavel_traces", synthetic=True).jobs
    assert jobs.dtypes.equals(stand_in.dtypes)
    assert jobs["trace"].value_counts().to_dict() == stand_in["trace"].value_counts().to_dict()
    real, fake = data.load("dede_cluster"), data.load("dede_cluster", synthetic=True)
    assert real.throughput.shape == fake.throughput.shape
    assert real.workers.tolist() == fake.workers.tolist()
    for name in ("te_topologies", "topology_zoo"):
        found = [data.load(name, synthetic=synthetic).graphs for synthetic in (False, True)]
        assert list(found[0]) == list(found[1])
        sizes = [{n: (len(g.names), np.any(g.capacity > 0)) for n, g in f.items()} for f in found]
        assert sizes[0] == sizes[1]
    traffic = [data.load("te_b4_real", synthetic=synthetic).demand for synthetic in (False, True)]
    assert traffic[0].shape == traffic[1].shape


@pytest.mark.real_data(*NAMES)
@pytest.mark.parametrize("name", NAMES)
def test_the_fitted_parameters_are_those_in_the_code(name: str) -> None:
    from walras.data.synthetic import cluster_reliability as cluster_reliability_stand_in
    from walras.data.synthetic import dede_cluster as dede_cluster_stand_in
    from walras.data.synthetic import gavel as gavel_stand_in
    from walras.data.synthetic import gavel_traces as gavel_traces_stand_in
    from walras.data.synthetic import lb_random as lb_random_stand_in
    from walras.data.synthetic import mnist as mnist_stand_in
    from walras.data.synthetic import nb201_help as nb201_help_stand_in
    from walras.data.synthetic import te_b4_real as te_b4_real_stand_in
    from walras.data.synthetic import te_topologies as te_topologies_stand_in
    from walras.data.synthetic import zeus as zeus_stand_in

    stored = {
        "gavel": gavel_stand_in.FITTED,
        "gavel_traces": gavel_traces_stand_in.FITTED,
        "dede_cluster": dede_cluster_stand_in.FITTED,
        "te_topologies": te_topologies_stand_in.FITTED,
        "topology_zoo": te_topologies_stand_in.FITTED_ZOO,
        "te_b4_real": te_b4_real_stand_in.FITTED,
        "te_paths": te_topologies_stand_in.FITTED,
        "nb201_help": nb201_help_stand_in.FITTED,
        "zeus": zeus_stand_in.FITTED,
        "cluster_reliability": cluster_reliability_stand_in.FITTED,
        "lb_random": lb_random_stand_in.FITTED,
        "mnist": mnist_stand_in.FITTED,
    }
    row = data.REGISTRY[name]
    made = (row.fit, row.fitted_on)
    first = next(k for k in NAMES if (data.REGISTRY[k].fit, data.REGISTRY[k].fitted_on) == made)
    assert _fitted(first) == stored[name]


@cache
def _fitted(name: str) -> Any:
    """Some sets are fitted by one function to the same measurements."""
    return data.fit_stand_in(name)


def _pairs(throughputs: data.GavelThroughputs) -> list[tuple[str, int]]:
    return list(zip(throughputs.job_types, throughputs.scale_factors.tolist(), strict=True))
