"""A centre's log: leases, lost and returned peers, and settlements, in virtual time."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from tests.network.drivers.small import RING, problem

from walras.network.drivers.event_log import EventLog
from walras.network.drivers.plan import Plan
from walras.network.drivers.virtual import VirtualNetwork
from walras.network.links.faults import Crash, Cut, Faults
from walras.network.protocol.settings import Settings


def _logs(faults: Faults, rounds: int) -> tuple[list[list[str]], VirtualNetwork]:
    """The log of every centre after so many rounds."""
    settings = Settings.of_diameter(RING.diameter, steps=rounds)
    world = VirtualNetwork(Plan(problem(), RING, settings), faults, 0)
    lines: list[list[str]] = [[] for _ in world.nodes]
    logs = [EventLog(lines[k].append, node, 0, "rounds") for k, node in enumerate(world.nodes)]
    for _ in range(rounds):
        before = world.up
        world.round()
        for k, log in enumerate(logs):
            if before[k] and world.up[k]:
                log.observe(world.nodes[k], world.now, set())
    for k, log in enumerate(logs):
        log.end(world.nodes[k])
    return lines, world


def _amounts(lines: Sequence[str]) -> list[float]:
    return [float(found[1]) for text in lines if (found := re.search(r"(-?[\d.e-]+) of CPU", text))]


def test_a_crash_is_told_from_the_loss_to_the_settlement_and_the_return() -> None:
    """What the coordinator says that it took over is what the dead centre last held."""
    lines, world = _logs(Faults(crashes=[Crash(2, 100, 300)]), 500)
    taken = [text for text in lines[0] if "settled" in text]
    assert len(taken) == 1
    assert "settled centre 2, life 1" in taken[0]
    assert taken[0].endswith("goes to this centre")
    held = float(world.lives[2].ledger.held[0]) * world.nodes[0].node_config.unit
    arrived = 0.01 * held  # what was under way to it when it crashed is settled with it
    assert abs(_amounts(taken)[0] - held) < arrived
    for k in (1, 3):  # its neighbours
        written = "\n".join(lines[k])
        assert (
            "centre 2 declared dead by more than half of the centres; its link is closed" in written
        )
        assert "centre 0 settled centre 2, life 1, and took over its CPU" in written
        assert "centre 2 returned in life 2" in written
    assert any("centre 2 lost: nothing was heard of it" in text for text in lines[4])
    assert any("life 2 begins, holding 0 of CPU" in text for text in lines[2])


def test_a_lease_is_reported_when_it_opens_is_renewed_and_expires() -> None:
    """Centres 0 and 1 are cut off: they are fewer than half, and their leases expire."""
    lines, _ = _logs(Faults(cuts=[Cut((0, 1), 100, 160)]), 400)
    own = [text for text in lines[0] if "lease" in text]
    assert "lease opened" in own[0]
    assert re.fullmatch(r"step \d+: lease renewed for \d+ rounds, time 1", own[1])
    assert any("lease expired" in text for text in own)
    assert sum("lease opened" in text for text in lines[3]) == 1  # they went on
    assert max(len(text) for centre in lines for text in centre) < 140


def test_a_calm_run_tells_little_and_connections_are_reported() -> None:
    lines, world = _logs(Faults(), 400)
    assert all(len(own) < 10 for own in lines)
    assert not any("settled" in text or "lost" in text for own in lines for text in own)
    log = EventLog(lines[0].append, world.nodes[0], world.now, "rounds")
    log.observe(world.nodes[0], world.now, {1})
    log.observe(world.nodes[0], world.now, set())
    assert [text.partition(": ")[2] for text in lines[0] if "connection" in text] == [
        "connection to centre 1 lost",
        "connection to centre 1 is back",
    ]
    assert np.isfinite(_amounts(lines[0])).all()
