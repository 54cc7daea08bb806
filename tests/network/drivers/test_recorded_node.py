"""Journals resume what was killed, stay small, and are compared before they go on together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.network.drivers.nodes import Nodes

from walras.errors import InputError
from walras.network._replay import replay
from walras.network.drivers.consistency import check_one
from walras.network.drivers.recorded_node import Keeping
from walras.network.drivers.trace import Recorder, path_of


def _of(folder: Path) -> list[Path]:
    return [path_of(folder, k, 0) for k in range(5)]


@pytest.mark.parametrize("trains", [False, True])
def test_a_trace_begins_anew_and_stays_small(tmp_path: Path, trains: bool) -> None:
    """With the states of the run that keeps all, kills in between, and a replay of what is left."""
    folders = tmp_path / "whole", tmp_path / "short"
    found = []
    for folder, most in zip(folders, (2**30, 5000), strict=True):
        folder.mkdir()
        nodes = Nodes(folder, Keeping(most=most), trains=trains)
        for k in range(5):
            nodes.run(25)
            nodes.kill(k)
        nodes.run(20)
        nodes.close()
        found.append(nodes.digests)
    assert found[0] == found[1]
    whole, short = (sum(path.stat().st_size for path in _of(folder)) for folder in folders)
    assert short < whole / 3
    for folder in folders:
        again = replay(folder)
        assert [node.digest for node in again.nodes] == found[0]
        assert not again.books.difference.any()
        assert again.books.least_in_flight >= 0


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_torn_tick_happens_again_if_its_clock_is_there(tmp_path: Path, cut: int) -> None:
    """Its messages may have left: the same ones leave again."""
    nodes = Nodes(tmp_path, Keeping())
    nodes.run(9)
    out = nodes.journals[0].tick(9)
    for receiver, data in out:
        nodes.journals[receiver].take(data, 9)
    digest = nodes.journals[0].node.digest
    nodes.kill(0, lambda path: os.truncate(path, path.stat().st_size - cut))
    assert (nodes.journals[0].node.digest, nodes.journals[0].last_out) == (digest, out)
    check_one(nodes.known, 0)
    nodes.close()
    assert replay(tmp_path).books.least_in_flight >= 0


def test_a_centre_has_one_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("walras.network.drivers.recorded_node._ENDING", 0.1)
    nodes = Nodes(tmp_path, Keeping())
    with pytest.raises(InputError, match="is in use by another process"):
        nodes._journal(2)
    nodes.close()
    journal = nodes._journal(2)
    with pytest.raises(InputError, match="is there already"):
        journal.begin()
    journal.drop()


def test_what_is_signed_or_durable_is_on_the_disk_before_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(Recorder, "sync", lambda self: synced.append(self.grown))
    for durable in (True, False):
        folder = tmp_path / str(durable)
        folder.mkdir()
        nodes = Nodes(folder, Keeping(durable=durable))
        synced.clear()
        nodes.run(3)
        assert len(synced) == (15 if durable else 0)
        nodes.journals[0].node.view._suspected_dead[0][2] = 1  # it signs the end of centre 2
        nodes.run(2)
        assert len(synced) == (25 if durable else 1)
        nodes.close()
