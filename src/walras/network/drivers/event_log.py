"""The log of a centre: leases, lost and returned peers, and settlements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass

from walras.network.protocol.membership import Memory
from walras.network.protocol.node import Node
from walras.network.protocol.records import Incarnation

# pairs of a coordinator and the ended life that it settled
Settled = frozenset[tuple[int, Incarnation]]


@dataclass(frozen=True, eq=False)
class _View:
    """The logged part of a node's state at one look."""

    life: Incarnation
    leased: bool
    ended: list[int]  # (centres,) epochs that more than half of the centres signed as ended
    epochs: list[int]  # (centres,) latest epoch heard of each centre
    memory: Memory
    settled: Settled
    taken_over: int
    disconnected: frozenset[int]


class EventLog:
    """Logs the changes in a node between two looks; the node stays unchanged.

    Args:
        say: Called with each line.
        node: The node as it begins; earlier events are not logged.
        now: The node's clock.
        unit: Unit of that clock, such as ``rounds``.
    """

    def __init__(self, say: Callable[[str], object], node: Node, now: int, unit: str) -> None:
        self._say, self._unit = say, unit
        # end of the last lease that was counted; number of renewals since it opened
        self._lease_end = self._renewals = 0
        self._before = _view(node, now, frozenset())
        self._tell(node, f"started in life {node.life[1] + 1}, {_holding(node)}")

    def observe(self, node: Node, now: int, disconnected: Set[int]) -> None:
        """Log the changes since the last observation.

        Args:
            node: The present life.
            now: The node's clock.
            disconnected: The neighbours whose connections are down.
        """
        before, after = self._before, _view(node, now, frozenset(disconnected))
        self._before = after
        if after.life != before.life:
            text = f"the others declared this centre dead: life {after.life[1] + 1} begins"
            self._tell(node, f"{text}, {_holding(node)}")
        for text in (*_of_peers(before, after, node), *self._of_lease(before, after, node, now)):
            self._tell(node, text)

    def end(self, node: Node) -> None:
        """Log the final holdings of the centre."""
        self._tell(node, f"stopped, {_holding(node)}")

    def _tell(self, node: Node, text: str) -> None:
        self._say(f"step {node.ticks}: {text}")

    def _of_lease(self, before: _View, after: _View, node: Node, now: int) -> Iterator[str]:
        until = node.view.lease_until
        length = f"for {until - now} {self._unit}"
        if after.leased and not before.leased:
            self._lease_end, self._renewals = until, 0
            yield f"lease opened {length}"
        elif before.leased and not after.leased:
            yield "lease expired: fewer than half of the centres confirmed it; no CPU is used"
        elif after.leased and now >= self._lease_end:  # once for each lease, not at every heartbeat
            self._lease_end, self._renewals = until, self._renewals + 1
            if self._renewals.bit_count() == 1:  # only the 1st, 2nd, 4th, ... renewal is logged
                yield f"lease renewed {length}, time {self._renewals}"


def _of_peers(before: _View, after: _View, node: Node) -> Iterator[str]:
    for j in sorted(after.disconnected - before.disconnected):
        yield f"connection to centre {j} lost"
    for j in sorted(before.disconnected - after.disconnected):
        yield f"connection to centre {j} is back"
    for k, epoch in enumerate(after.memory.suspected_dead):
        if k != node.life[0] and epoch > max(before.memory.suspected_dead[k], after.epochs[k]):
            yield f"centre {k} lost: nothing was heard of it for a lease and the margin"
    for k, epoch in enumerate(after.ended):
        if k != node.life[0] and epoch > before.ended[k]:
            yield f"centre {k} declared dead by more than half of the centres{_claim(node, k)}"
    for k, epoch in enumerate(after.epochs):
        if k != node.life[0] and epoch > before.epochs[k]:
            yield f"centre {k} returned in life {epoch + 1}"
    for taker, (centre, epoch) in sorted(after.settled - before.settled):
        if taker != node.life[0]:
            yield f"centre {taker} settled centre {centre}, life {epoch + 1}, and took over its CPU"
    new = sorted(life for taker, life in after.settled - before.settled if taker == node.life[0])
    if new and after.life == before.life:
        names = " and ".join(f"centre {k}, life {epoch + 1}" for k, epoch in new)
        amount = _cpu(node, after.taken_over - before.taken_over)
        yield f"settled {names}: {amount} goes to this centre"


def _claim(node: Node, centre: int) -> str:
    """The balance of the closed links to a dead centre; empty without such links."""
    closed = [link for (k, _), link in node.ledger.closed.items() if k == centre]
    if not closed:
        return ""
    return f"; its link is closed, sent less received: {_cpu(node, int(closed[-1].balance[0]))}"


def _view(node: Node, now: int, disconnected: frozenset[int]) -> _View:
    records, view = node.view.records, node.view
    others = {(r.centre, life) for r in records if r is not None for life in r.settled}
    return _View(
        node.life,
        view.leased(now),
        view.ended.tolist(),
        [0 if r is None else r.epoch for r in records],
        view.memory,
        frozenset(others | {(node.life[0], life) for life in node.settled}),
        _taken_over(node),
        disconnected,
    )


def _taken_over(node: Node) -> int:
    """Quanta that this life took over from ended lives."""
    ledger = node.ledger
    links = [*ledger.links.values(), *ledger.closed.values()]
    begun = int(node.network_config.begun[node.life[0]]) if node.life[1] == 0 else 0
    return int(ledger.held[0]) + sum(int(link.balance[0]) for link in links) - begun


def _holding(node: Node) -> str:
    return f"holding {_cpu(node, int(node.ledger.held[0]))}"


def _cpu(node: Node, quanta: int) -> str:
    return f"{quanta * node.node_config.unit:.6g} of CPU"
