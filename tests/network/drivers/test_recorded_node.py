"""Journals resume what was killed, stay small, and are compared before they go on together."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.network.drivers.small import RING, problem

from walras.errors import DataError, InputError
from walras.network._replay import replay
from walras.network.drivers.bundle import pack_node_config
from walras.network.drivers.consistency import check, check_one, knowledge
from walras.network.drivers.folder import node_config_path, write_whole
from walras.network.drivers.manifest import Manifest
from walras.network.drivers.plan import Plan
from walras.network.drivers.recorded_node import Keeping, RecordedNode
from walras.network.drivers.trace import CLOSE, TICK, Event, Recorder, Trace, path_of
from walras.network.protocol.settings import Settings

STEPS = 120
PACE = {"kind": "rounds", "period": 20, "patience": 3.0}


class Nodes:
    """Five journals in one folder, moved round by round, without processes or sockets."""

    def __init__(self, folder: Path, keeping: Keeping, *, trains: bool = False) -> None:
        self.folder, self.keeping = folder, keeping
        settings = Settings.of_diameter(2, steps=STEPS)
        self.plan = Plan(problem(trains=trains), RING, settings)
        manifest = Manifest.of(self.plan, PACE)
        manifest.write(folder)
        self._name = manifest.deployment
        for k in range(5):
            own = {
                "deployment": self._name,
                "node_config": pack_node_config(self.plan.node_config(k)),
            }
            write_whole(node_config_path(folder, k), json.dumps(own).encode())
        self.journals = [self._journal(k) for k in range(5)]
        for journal in self.journals:
            journal.begin()
        self.ticked = 0

    def _journal(self, k: int) -> RecordedNode:
        network_config = self.plan.network_config
        return RecordedNode(
            self.folder, self.plan.node_config(k), network_config, self._name, self.keeping
        )

    def run(self, rounds: int) -> None:
        for _ in range(rounds):
            out = [journal.tick(self.ticked) for journal in self.journals]
            for messages in out:
                for receiver, data in messages:
                    self.journals[receiver].take(data, self.ticked)
            self.ticked += 1

    def kill(self, k: int, before: Callable[[Path], object] = Path.exists) -> None:
        """As by signal 9; its trace as ``before`` leaves it."""
        self.journals[k].drop()
        before(path_of(self.folder, k, 0))
        self.journals[k] = self._journal(k)
        self.journals[k].resume()

    def close(self) -> None:
        for journal in self.journals:
            journal.close()

    @property
    def digests(self) -> list[str]:
        return [journal.node.digest for journal in self.journals]

    @property
    def known(self) -> dict[int, dict[str, object]]:
        return {k: knowledge(journal.node) for k, journal in enumerate(self.journals)}


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


def test_a_trace_that_lost_its_end_is_found_by_its_neighbours(tmp_path: Path) -> None:
    """Cut at every record of the last rounds: either nothing was lost, or it is said what."""
    nodes = Nodes(tmp_path, Keeping())
    nodes.run(40)
    path = path_of(tmp_path, 0, 0)
    content = path.read_bytes()
    ends = [end for _, end in Trace.open(path).records()]
    lost = []
    for end in ends[-8:]:
        nodes.kill(0, partial(_write, content=content[:end]))
        try:
            check_one(nodes.known, 0)
            check(nodes.known, nodes.plan.problem.quanta.total)
        except DataError as error:
            assert "trace of centre 0: ends before" in str(error)  # noqa: PT017 (either is right)
            lost.append(end)
    assert ends[-1] not in lost
    ticks = [end for event, end in Trace.open(path).records() if event.kind == TICK]
    assert all(end in lost for end in ends[-8:] if end < ticks[-1])
    nodes.close()


def test_a_tenth_of_a_trace_is_refused(tmp_path: Path) -> None:
    nodes = Nodes(tmp_path, Keeping())
    nodes.run(60)
    nodes.kill(0, lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 10]))
    with pytest.raises(DataError, match="trace of centre 0: ends before"):
        check(nodes.known, nodes.plan.problem.quanta.total)
    with pytest.raises(DataError, match="trace of centre 0: ends before"):
        check_one(nodes.known, 0)
    check_one(nodes.known, 1)
    nodes.close()
    with pytest.raises(DataError, match="no centre sent"):
        replay(tmp_path)


def test_an_excess_is_refused_whatever_its_reason(tmp_path: Path) -> None:
    nodes = Nodes(tmp_path, Keeping())
    nodes.run(30)
    total = nodes.plan.problem.quanta.total
    check(nodes.known, total)
    with pytest.raises(DataError, match="1 quanta over the budget"):
        check(nodes.known, total - 1)
    nodes.close()


def test_a_trace_leads_to_the_state_that_it_says(tmp_path: Path) -> None:
    nodes = Nodes(tmp_path, Keeping())
    nodes.run(5)
    nodes.close()
    path = path_of(tmp_path, 1, 0)
    ends = [end for _, end in Trace.open(path).records()]
    recorder = Recorder(path, ends[-1])
    recorder.note(Event(CLOSE, 5, b"0" * 64))
    recorder.close()
    journal = nodes._journal(1)
    with pytest.raises(DataError, match="leads to another state"):
        journal.resume()
    journal.drop()
    with pytest.raises(DataError, match="leads to another state"):
        replay(tmp_path)


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
