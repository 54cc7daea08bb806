"""Traces are played again: the same states, a balanced ledger, or what does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.network.drivers.nodes import Nodes
from tests.network.drivers.small import RING, problem

from walras.errors import DataError
from walras.network._deploy import deploy
from walras.network._replay import replay
from walras.network.drivers.recorded_node import Keeping
from walras.network.drivers.trace import CLOSE, Event, Recorder, Trace, path_of


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


def test_traces_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, steps in ((one, 20), (other, 21)):
        deploy(problem(), RING, steps=steps, folder=folder, time_limit=60)
    path = path_of(one, 2, 0)
    path.write_bytes(path.read_bytes()[:-7])  # as a kill may leave it
    try:
        same = replay(one).same[2]
    except DataError:  # what was cut off had sent a message that a neighbour took
        same = None
    assert same is not True
    path_of(other, 2, 0).replace(path)
    with pytest.raises(DataError, match="no centre sent"):
        replay(one)
    path.write_bytes(b"no trace\n")
    with pytest.raises(DataError, match="is no trace"):
        replay(one)
