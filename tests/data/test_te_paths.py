"""Released paths: flattened from pickled dictionaries, and written again as they were."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from walras.data import te_paths
from walras.errors import DataError


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


def test_a_pickle_of_another_shape_is_refused() -> None:
    with pytest.raises(DataError, match="no dictionary of paths"):
        te_paths.derive([pickle.dumps([1, 2])])
