"""Finished cases in a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.simulate.small import ONE, on_one

from walras.policies import fifo
from walras.simulate import Run, run
from walras.simulate.compare.store import Store, StoredBounds


def test_what_is_written_is_read(tmp_path: Path) -> None:
    store = Store(tmp_path / "new")
    done = run(on_one([100.0]), ONE, fifo())
    store.write("run", done, 1.5)
    store.write("bound", StoredBounds(3.0, 4.0), 0.5)
    found = store.read("run")
    assert found is not None
    assert isinstance(found[0], Run)
    assert (found[0].hash, found[1]) == (done.hash, 1.5)
    assert store.read("bound") == (StoredBounds(3.0, 4.0), 0.5)
    assert store.read("other") is None


def test_a_run_without_its_seconds_is_still_there(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("run", run(on_one([100.0]), ONE, fifo()), 1.5)
    (tmp_path / "run.json").unlink()
    found = store.read("run")
    assert found is not None
    assert np.isnan(found[1])


def test_no_folder_keeps_nothing() -> None:
    Store(None).write("run", run(on_one([100.0]), ONE, fifo()), 1.0)
    assert Store(None).read("run") is None


@pytest.mark.parametrize(
    "damaged",
    [
        *(None, b"", b"5", b"[]", b"\xff\xfe", b'["makespan"]', b'{"makespan": 3}'),
        *(b'{"seconds": "a"', b'{"makespan": "a", "mean_completion": null, "seconds": []}'),
    ],
)
def test_a_damaged_file_is_not_there(tmp_path: Path, damaged: bytes | None) -> None:
    store = Store(tmp_path)
    store.write("run", run(on_one([100.0]), ONE, fifo()), 1.5)
    for name in ("run", "bound"):
        path = tmp_path / f"{name}.json"
        path.unlink(missing_ok=True)
        path.mkdir() if damaged is None else path.write_bytes(damaged)
    found = store.read("run")
    assert found is not None
    assert np.isnan(found[1])
    assert store.read("bound") is None
    (tmp_path / "run.npz").write_bytes(damaged or b"PK")
    assert store.read("run") is None
