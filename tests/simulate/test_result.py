"""Runs as tables and in files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.simulate.small import ONE, equal_shares, on_one, random_trace

import walras as wl
from walras import DataError
from walras.simulate import Cluster, Outage, Run, Slots, TaskTrace, run


def test_tables_have_a_row_a_job_and_a_row_a_round() -> None:
    done = run(on_one([500, 100]), ONE, equal_shares)
    frame = done.frame()
    assert frame.index.tolist() == ["j0", "j1"]
    assert frame["slowdown"].tolist() == pytest.approx(frame["completion"] / frame["fastest"])
    assert done.rounds["busy gpu"].sum() == pytest.approx(600.0)
    assert done.utilisation["gpu"] == pytest.approx(600.0 / (done.end - 0.0))
    assert repr(done).startswith("Run(equal: 2 of 2 measured jobs ended")


def test_the_same_run_is_the_same_file(tmp_path: Path) -> None:
    trace, cluster = random_trace(5), Cluster({"a": 4, "b": 5, "c": 3})
    for name in ("one", "two"):
        run(trace, cluster, equal_shares).save(tmp_path / f"{name}.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    again = wl.load(tmp_path / "one.npz")
    assert again.hash == run(trace, cluster, equal_shares).hash
    assert again.completion.tolist() == again.frame()["completion"].tolist()
    assert np.isnan(again.policy_seconds).all()
    seconds = wl.simulate.summary(again).set_index("measure")["value"][["policy", "simulator"]]
    assert seconds.isna().all()  # not kept, so not zero


NEWER = ("stopped", "failures", "lost", "undone", "failed", "down")
"""What runs keep since machines can fail."""


def _rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> Any:
    """The run of a file whose fields were changed."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored if name != "json"}
        content = json.loads(bytes(stored["json"]).decode())
    change(content["result"]["fields"])
    text = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)
    np.savez(path, json=text, **arrays)
    return wl.load(path)


def _without(*names: str) -> Callable[[dict[str, Any]], object]:
    return lambda fields: [fields.pop(name) for name in names]


def test_a_run_that_was_saved_before_is_read(tmp_path: Path) -> None:
    done = run(on_one([500, 100]), ONE, equal_shares)
    done.save(tmp_path / "old.npz")
    oldest = (*NEWER, "shared", "value", "bound", "fairness", "grants")
    for names in (NEWER, oldest):
        done.save(tmp_path / "old.npz")
        again = _rewritten(tmp_path / "old.npz", _without(*names))
        pd.testing.assert_frame_equal(again.frame(), done.frame())
        assert (again.hash == done.hash) == (names is NEWER)  # what a decision was worth is unknown
        assert len(wl.simulate.summary(again)) == len(wl.simulate.summary(done))


def test_tasks_that_were_saved_before_tell_what_failed(tmp_path: Path) -> None:
    tasks = TaskTrace.of(["a", "b", "c"], chance=np.full((3, 1), 0.4), max_attempts=[1, 3, 9])
    slots = Slots({"cluster 0": 2}, outages=[Outage("cluster 0", 30.0, 90.0)])
    done = run(tasks, slots, wl.policies.first_fit(), round_seconds=0)
    assert done.stopped.any()
    assert done.failures.any()
    assert not np.isnan(done.failed).all()
    done.save(tmp_path / "old.npz")
    again = _rewritten(tmp_path / "old.npz", _without(*NEWER))
    for name in NEWER[:-1]:
        np.testing.assert_array_equal(getattr(again, name), getattr(done, name))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_without("weight", "alone"), "earlier version, which did not keep alone, weight"),
        (lambda fields: fields.update(mood=1), "later version, which also keeps mood"),
    ],
)
def test_a_run_of_another_version_says_so(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    done: Run = run(on_one([500, 100]), ONE, equal_shares)
    done.save(tmp_path / "other.npz")
    with pytest.raises(DataError, match=words):
        _rewritten(tmp_path / "other.npz", change)
