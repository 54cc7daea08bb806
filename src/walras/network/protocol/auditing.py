"""The balance of all quanta, for a simulator or a replay that sees all centres at once."""

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
    """The balance of all quanta at one moment.

    Attributes:
        held: (width,) quanta held by living centres and by dead ones that are not settled yet.
        in_flight: (width,) quanta sent between these centres and not credited yet.
        least_in_flight: The smallest amount of CPU in flight on any link, or 0 if all are positive;
            negative only if more was credited than sent.
        difference: (width,) held and in flight minus the budget; exactly zeros.
    """

    held: Longs
    in_flight: Longs
    least_in_flight: int
    difference: Longs


def books(lives: Sequence[Node]) -> Books:
    """Add up the quanta of all lives of all centres; a crashed life counts as at its crash."""
    first = lives[0]
    gone = settled_lives(lives)
    by_life = {node.life: node for node in lives if node.life not in gone}
    held = np.zeros(first.node_config.width, np.int64)
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
    begun[0] = int(first.network_config.begun.sum())
    return Books(held, flying, least, held + flying - begun)


def _links(node: Node) -> dict[Incarnation, Link]:
    opened = {(j, link.epoch): link for j, link in node.ledger.links.items()}
    return opened | node.ledger.closed


def settled_lives(lives: Sequence[Node]) -> frozenset[Incarnation]:
    """Lives whose holdings were taken over by a coordinator that is not itself settled."""
    gone: set[Incarnation] = set()
    # Coordinators follow one another in the order of their numbers; the last one decides.
    for node in sorted(lives, key=lambda node: node.life[0], reverse=True):
        if node.settled and node.life not in gone:
            gone |= node.settled
    return frozenset(gone)
