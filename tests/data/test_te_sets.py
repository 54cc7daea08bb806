"""Sets for traffic engineering: what is derived from their origin's files, and wrong files."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest

from walras.data import te_b4_real, te_paths, te_topologies
from walras.data.formats.pickles import load_plain
from walras.errors import DataError


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path, ("/",))


def test_matrices_are_stacked_from_pickled_arrays() -> None:
    matrices = [np.full((12, 12), float(k), dtype=np.float64) for k in range(3)]
    raw = te_b4_real.derive([pickle.dumps(matrix) for matrix in matrices])

    found = np.load(io.BytesIO(raw))
    assert found.dtype == np.float64
    assert np.array_equal(found, np.stack(matrices))


def test_paths_are_flattened_from_a_pickled_dictionary(tmp_path: Path) -> None:
    given = {(0, 1): [[0, 1], [0, 2, 1]], (0, 2): [[0, 2]], (1, 0): []}
    content = te_paths.derive([pickle.dumps(given)])
    for file in te_paths.FILES:
        (tmp_path / file).write_bytes(content)
    paths = te_paths.read(tmp_path).paths["B4"]
    assert paths.nodes.tolist() == [0, 1, 0, 2, 1, 0, 2]
    assert paths.offset.tolist() == [0, 2, 5, 7]
    with np.load(tmp_path / te_paths.FILES[0]) as stored:
        assert stored["src"].tolist() == [0, 0, 0]
        assert stored["dst"].tolist() == [1, 1, 2]


@pytest.mark.real_data("te_paths")
def test_writing_the_released_paths_again_gives_the_registered_file() -> None:
    from walras import data

    folder = data.find("te_paths")
    assert folder is not None
    for name, file in zip(te_paths.NETWORKS, te_paths.FILES, strict=True):
        with np.load(folder / file) as stored:
            ends = list(zip(stored["src"].tolist(), stored["dst"].tolist(), strict=True))
            offset, nodes = stored["offset"], stored["nodes"].tolist()
        given: dict[tuple[int, int], list[list[int]]] = {}
        for k, pair in enumerate(ends):
            given.setdefault(pair, []).append(nodes[offset[k] : offset[k + 1]])
        assert te_paths.derive([pickle.dumps(given)]) == (folder / file).read_bytes(), name


@pytest.mark.parametrize(
    "raw", [b"", b"not a pickle", pickle.dumps(Evil()), pickle.dumps(np.ones(3))[:-9]]
)
def test_a_pickle_runs_nothing(raw: bytes) -> None:
    with pytest.raises(DataError, match="plain data"):
        load_plain(raw, "set")


def test_a_pickle_of_another_shape_is_refused() -> None:
    with pytest.raises(DataError, match="no dictionary of paths"):
        te_paths.derive([pickle.dumps([1, 2])])


@pytest.mark.parametrize(
    ("read", "file", "content"),
    [
        (te_topologies.read, "B4.json", b"{"),
        (te_topologies.read, "B4.json", b'{"nodes": [], "edges": 3}'),
        (te_b4_real.read, te_b4_real.FILE, b""),
        (te_b4_real.read, te_b4_real.FILE, b"\x93NUMPY"),
        (te_paths.read, te_paths.FILES[0], b"PK"),
    ],
)
def test_files_that_are_wrong_are_one_clear_error(
    read: object, file: str, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / file).write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as data set") as caught:
        read(tmp_path)  # type: ignore[operator]
    assert file in caught.value.where
    assert "walras data fetch" in caught.value.remedy


def test_offsets_and_entries_are_checked(tmp_path: Path) -> None:
    for file in te_paths.FILES:
        np.savez(tmp_path / file, nodes=np.arange(4), offset=np.array([0, 1, 4]))
    with pytest.raises(DataError, match="do not divide"):
        te_paths.read(tmp_path)
    np.save(tmp_path / te_b4_real.FILE, -np.ones(te_b4_real.SHAPE))
    with pytest.raises(DataError, match="negative"):
        te_b4_real.read(tmp_path)
