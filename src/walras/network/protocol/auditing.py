"""The books of a whole network, by one who sees all centres at once: a simulator, or a replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from walras.network.protocol.ledger import Link
from walras.network.protocol.node import Node
from walras.network.protocol.records import Incarnation
from walras.types import Longs


@dataclass(frozen=True, eq=False)
class Books:
    """Where all quanta are, at one moment.

    Attributes:
        held: (width,) in the hands of the living, and of the dead not yet settled.
        in_flight: (width,) pushed and not yet credited, between those.
        least_in_flight: The smallest amount of CPU under way on any link, at most 0; and 0 unless
            more was credited than sent.
        difference: (width,) held and in flight less what there was: exactly zeros.
    """

    held: Longs
    in_flight: Longs
    least_in_flight: int
    difference: Longs


def books(lives: Sequence[Node]) -> Books:
    """Add up all lives of all centres, those that crashed as they were when they did."""
    first = lives[0]
    gone = _settled(lives)
    by_life = {node.life: node for node in lives if node.life not in gone}
    held = np.zeros(first.terms.width, np.int64)
    flying, least = np.zeros_like(held), 0
    for life, node in by_life.items():
        held += node.ledger.held
        for other, link in _links(node).items():
            if other in by_life:
                back = _links(by_life[other]).get(life)
                under_way = link.sent - (0 if back is None else back.credited)
                flying += under_way
                least = min(least, int(under_way[0]))
    begun = np.zeros_like(held)
    begun[0] = int(first.charter.begun.sum())
    return Books(held, flying, least, held + flying - begun)


def _links(node: Node) -> dict[Incarnation, Link]:
    opened = {(j, link.epoch): link for j, link in node.ledger.links.items()}
    return opened | node.ledger.closed


def _settled(lives: Sequence[Node]) -> set[Incarnation]:
    """Lives whose estates were taken over, by one whose own was not."""
    gone: set[Incarnation] = set()
    # Coordinators follow one another in the order of their numbers; the last one's word holds.
    for node in sorted(lives, key=lambda node: node.life[0], reverse=True):
        if node.settled and node.life not in gone:
            gone |= node.settled
    return gone
