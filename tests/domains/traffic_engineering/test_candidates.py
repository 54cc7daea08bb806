"""Candidate paths: the search, its cache, and its threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domains.traffic_engineering.networks import diamond, random_case

from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering import candidates
from walras.progress import counts

SEEDS = st.integers(0, 100_000)


def test_paths_are_found_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "cache_folder", lambda: tmp_path / "paths")
    net = diamond().net
    seen: list[tuple[int, int]] = []
    first = te.candidate_paths(net, on_progress=counts(lambda *step: seen.append(step)))
    assert seen == [(k, 4) for k in range(5)]
    again = te.candidate_paths(net, on_progress=counts(lambda *step: seen.append(step)))
    assert len(seen) == 5
    for name in ("source", "target", "first", "pointer", "links", "nodes", "pair"):
        assert np.array_equal(getattr(first, name), getattr(again, name)), name
        assert getattr(first, name).dtype == getattr(again, name).dtype, name
    assert first.disconnected == again.disconnected == 7
    te.candidate_paths(net, k=2)
    te.candidate_paths(net, kind="shortest")
    files = list((tmp_path / "paths").iterdir())
    assert len(files) == 3
    for file in files:
        file.write_bytes(file.read_bytes()[:50])  # damaged: found anew, not believed
    assert te.candidate_paths(net).count == first.count


def test_paths_that_another_search_kept_are_found_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "cache_folder", lambda: tmp_path)
    net, seen = diamond().net, []
    with monkeypatch.context() as patch:
        patch.setattr(candidates, "_VERSION", "1")
        te.candidate_paths(net)
    te.candidate_paths(net, on_progress=counts(lambda *step: seen.append(step)))
    assert len(seen) == 5
    assert len(list(tmp_path.iterdir())) == 2


def test_a_cache_that_cannot_be_written_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(candidates, "cache_folder", lambda: tmp_path / "file")
    assert te.candidate_paths(diamond().net).count == diamond().paths.count


def test_a_disk_without_room_keeps_nothing_of_the_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(candidates, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(np, "savez", full)
    assert te.candidate_paths(diamond().net).count == diamond().paths.count
    assert not list(tmp_path.iterdir())


@settings(max_examples=15)
@given(seed=SEEDS, threads=st.sampled_from([1, 2, 3]))
def test_threads_change_nothing(seed: int, threads: int) -> None:
    case = random_case(seed)
    one = te.candidate_paths(case.net, threads=1, cache=False)
    many = te.candidate_paths(case.net, threads=threads, cache=False)
    assert np.array_equal(one.links, many.links)
    assert np.array_equal(one.pointer, many.pointer)
