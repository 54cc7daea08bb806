"""Settlement of crashed centres: one coordinator takes over their holdings, link by link.

A life c that ended held what it began with, plus all it credited, minus all it sent. With what
was in flight to and from it, that is

    begun_c + sum_j (sigma_jc - rho_cj)    over its neighbours j.

The neighbours know this sum without a replica: each closes its link and claims its balance. The
terms between two ended lives cancel, so adjacent crashes are settled in the same way.

One coordinator, the first centre still in its first life, takes over the estates (the holdings of
ended lives). When it ends itself, the next coordinator settles all ended lives again; the estate of
the first coordinator includes what it took over.

Nothing is taken over before the claim of every living neighbour has arrived. So the sum of all
shares never exceeds the budget; until then the estate is idle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from walras.network.methods.rules import coordinator_among, estate
from walras.network.protocol.ledger import Ledger
from walras.network.protocol.membership import Membership
from walras.network.protocol.records import Incarnation, Record, epoch_of
from walras.types import Longs


class Settlement:
    """A centre's part in the settlement: its claims, and the sums when it is the coordinator.

    Args:
        begun: (centres, width) initial quanta of each first life; later lives begin with 0.
        neighbours: Neighbours of every centre.

    Attributes:
        settled: Ended lives whose estates this centre took over.
    """

    def __init__(self, begun: Longs, neighbours: Sequence[Sequence[int]]) -> None:
        self._begun, self._neighbours = begun, neighbours
        self.settled: frozenset[Incarnation] = frozenset()
        self._counted: dict[
            tuple[Incarnation, Incarnation], Longs
        ] = {}  # claims by (claimant, ended life)

    def coordinator(self, view: Membership) -> int:
        """The first centre that is still in its first life; -1 when there is none.

        A centre in a later life knows that it is not the coordinator before others have signed the
        end of its first life.
        """
        first = view.ended == 0
        if view.memory.epoch:
            first[view.centre] = False
        return coordinator_among(first)

    def claims(self, view: Membership, ledger: Ledger) -> Mapping[Incarnation, Longs]:
        """Balances of the closed links to ended neighbours that the coordinator has not settled."""
        coordinator = self.coordinator(view)
        record = view.records[coordinator] if coordinator >= 0 else None
        settled = self.settled if coordinator == view.centre else frozenset[Incarnation]()
        if coordinator != view.centre and record is not None and record.epoch == 0:
            settled = record.settled
        nothing = np.zeros(self._begun.shape[1], np.int64)
        closed = ledger.closed
        return {
            life: closed[life].balance if life in closed else nothing
            for k in self._neighbours[view.centre]
            for life in _ended_lives(view, k)
            if life not in settled
        }

    def settle(self, view: Membership, ledger: Ledger) -> bool:
        """As the coordinator, take over the estates of all ended lives once all claims are there.

        Returns:
            Whether something was taken over.
        """
        if not view.ended.any() or self.coordinator(view) != view.centre:
            return False
        lives = {life for k in range(len(self._begun)) for life in _ended_lives(view, k)}
        fresh = lives - self.settled
        claims = self._complete(view, ledger, fresh) if fresh else None
        if claims is None:
            return False
        self._counted.update(claims)
        gain = np.zeros_like(ledger.held)
        for life in fresh:
            begun = self._begun[life[0]] if life[1] == 0 else np.zeros_like(gain)
            gain += estate(begun, [claims[key] for key in claims if key[1] == life])
        # A claimant that has ended since then: its claims are links between ended lives, which
        # cancel.
        for claimant, life in [key for key in self._counted if key[0] in lives]:
            gain -= self._counted.pop((claimant, life))
        ledger.held += gain
        self.settled = frozenset(lives)
        return True

    def _complete(
        self, view: Membership, ledger: Ledger, fresh: set[Incarnation]
    ) -> dict[tuple[Incarnation, Incarnation], Longs] | None:
        """The claims on these lives by all living neighbours, or None while one is missing."""
        found: dict[tuple[Incarnation, Incarnation], Longs] = {}
        own = self.claims(view, ledger)
        for life in fresh:
            informed = [r for r in view.records if r is not None and _knows(r, life, view)]
            if 2 * len(informed) <= len(view.records):
                return None
            for k in self._neighbours[life[0]]:
                epoch = max(epoch_of(int(r.heard[k])) for r in informed)
                if view.is_ended((k, epoch)):
                    continue
                if epoch > view.ended[k]:
                    # an earlier life's end is not signed yet, or its link is not settled
                    return None
                claims = own if k == view.centre else _claims_of(view.records[k], epoch)
                if life not in claims:
                    return None
                found[(k, epoch), life] = claims[life]
        return found


def _ended_lives(view: Membership, centre: int) -> list[Incarnation]:
    return [(centre, epoch) for epoch in range(int(view.ended[centre]))]


def _knows(record: Record, life: Incarnation, view: Membership) -> bool:
    """Whether a record's writer knew of a life's end, and so makes no more transfers with it.

    A majority of such records names every life that may have made transfers, since a majority
    confirmed its lease before.
    """
    own = record.centre == view.centre
    return bool((view.ended if own else record.confirmed_dead)[life[0]] > life[1])


def _claims_of(record: Record | None, epoch: int) -> Mapping[Incarnation, Longs]:
    return record.claims if record is not None and record.epoch == epoch else {}
