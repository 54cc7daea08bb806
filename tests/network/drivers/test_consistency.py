"""What centres know of one another tells a trace that lost its end."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tests.network.drivers.nodes import Nodes

from walras.errors import DataError
from walras.network._replay import replay
from walras.network.drivers.consistency import check, check_one
from walras.network.drivers.recorded_node import Keeping
from walras.network.drivers.trace import TICK, Trace, path_of


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


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
