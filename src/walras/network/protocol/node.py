"""One centre as a state machine: time and messages in, messages out, nothing else.

:meth:`Node.tick` and :meth:`Node.on_message` are all that changes a node, and they read nothing but
their arguments. The same calls give the same state, bit for bit, wherever they are made; a driver
that records them can replay them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from walras.network.protocol.centre import Local, NodeConfig
from walras.network.protocol.crash_settlement import Settlement
from walras.network.protocol.ledger import Ledger, Link
from walras.network.protocol.membership import Membership, Memory
from walras.network.protocol.messages import Codec, Message
from walras.network.protocol.records import Incarnation
from walras.network.protocol.settings import Settings
from walras.types import Floats, Longs


@dataclass(frozen=True, eq=False)
class NetworkConfig:
    """The configuration that all centres of a network agree on before it starts.

    Attributes:
        codec: Encodes and decodes messages.
        settings: Leases and patience of the centres.
        begun: (centres,) first quanta of CPU of each centre; they sum to the budget.
        neighbours: Neighbours of every centre, in the order of summation.
    """

    codec: Codec
    settings: Settings
    begun: Longs
    neighbours: Sequence[Sequence[int]]


@dataclass
class Heard:
    """A neighbour's latest price and model, and their time."""

    price: float
    model: Floats
    when: int


class Node:
    """One life of one centre.

    Args:
        node_config: The configuration of this centre alone.
        network_config: The configuration that all centres share.
        memory: Its stable storage: :meth:`Memory.first`, or the memory of an earlier life.

    Attributes:
        ledger: Its holdings and links.
        view: Its view of the living centres.
        local: Its model and its box's multiplier.
        ticks: Number of ticks.
        refused: Number of well-formed but refused messages, by reason.
    """

    def __init__(
        self, node_config: NodeConfig, network_config: NetworkConfig, memory: Memory
    ) -> None:
        centres, width = len(network_config.begun), node_config.width
        self.node_config, self.network_config = node_config, network_config
        self.local = Local(node_config)
        self.view = Membership(node_config.centre, memory, network_config.settings)
        begun = np.zeros((centres, width), np.int64)
        begun[:, 0] = network_config.begun
        first = memory.epoch == 0
        self.ledger = Ledger(begun[node_config.centre] if first else np.zeros(width, np.int64))
        self._estates = Settlement(begun, network_config.neighbours)
        self.ticks = 0
        self._rest_at = network_config.settings.steps
        self.refused: Counter[str] = Counter()
        self._heard: dict[int, Heard] = {}
        self._open = False  # whether it has been leased in this life
        self._taught = first  # whether its model is its own, or taken from a neighbour
        self._last_heartbeat: int | None = None

    @property
    def life(self) -> Incarnation:
        """The centre and its epoch."""
        return self.node_config.centre, self.view.memory.epoch

    @property
    def ended(self) -> bool:
        """Whether this life is known to be over; the centre may then start a new life."""
        return self.view.is_ended(self.life)

    @property
    def last_step(self) -> int:
        """The number of ticks after which it rests."""
        return self._rest_at

    @property
    def resting(self) -> bool:
        """Whether it has made all its steps."""
        return self.ticks >= self._rest_at

    @property
    def done(self) -> bool:
        """Whether it rests and all its transfers have arrived."""
        return self.resting and all(link.drained for link in self.ledger.links.values())

    @property
    def settled(self) -> frozenset[Incarnation]:
        """Ended lives whose estates it took over."""
        return self._estates.settled

    @property
    def digest(self) -> str:
        """A fingerprint of the node's state and its knowledge of its neighbours."""
        parts = [repr((self.life, self.ticks, self.local.multiplier, self.local.owed)).encode()]
        parts += [self.ledger.held.tobytes(), self.local.model.tobytes()]
        for j, link in sorted(self.ledger.links.items()):
            parts.append(repr((j, link.epoch, link.number, link.latest, link.confirmed)).encode())
            parts += [link.sent.tobytes(), link.credited.tobytes()]
        parts += [self.view.ended.tobytes(), repr(self.view.versions).encode()]
        return sha256(b"".join(parts)).hexdigest()

    def extend(self, steps: int) -> None:
        """Let it make ``steps`` steps from now on; steps that were left are dropped."""
        self._rest_at = self.ticks + steps

    def share(self, now: int) -> int:
        """Quanta of CPU that it may use now: within its box while leased, else none.

        Holdings above the upper limit will move to others. A life that begins without holdings uses
        nothing until it holds its lower limit.
        """
        held = int(self.ledger.held[0])
        if held < self.node_config.least or not self.view.leased(now) or self.ended:
            return 0
        return min(held, self.node_config.most)

    def tick(self, now: int) -> list[tuple[int, bytes]]:
        """Make one step of the algorithm and of the membership.

        Args:
            now: The driver's clock, which never runs backwards.

        Returns:
            Messages, each with its receiver. :attr:`Membership.memory` must be on stable storage
            before they leave.
        """
        self.ticks += 1
        heartbeat = (
            self._last_heartbeat is None
            or now - self._last_heartbeat >= self.network_config.settings.heartbeat
        )
        if heartbeat:
            self.view.review(now)
        if self.ended:
            return []
        self._open = self._open or self.view.leased(now)
        self._renew_links()
        self._estates.settle(self.view, self.ledger)
        if self.view.leased(now) and not self.resting and self._taught:
            self._step(now)
        if heartbeat:
            self._last_heartbeat = now
            claims = self._estates.claims(self.view, self.ledger)
            self.view.speak(
                now,
                self.network_config.codec.pack,
                done=self.done,
                settled=self.settled,
                claims=claims,
            )
        price = self.local.price(self.ledger.held) if self._taught else None
        return [(j, self._compose(j, price, heartbeat)) for j in self.node_config.weights]

    def on_message(self, data: bytes, now: int) -> None:
        """Take a message; a late or repeated one, or one of an ended life, changes nothing.

        Raises:
            MessageError: The bytes are not a message of this network; nothing has changed.
        """
        message = self.network_config.codec.decode(data, self.view.versions)
        sender, epoch = message.sender
        if message.receiver[0] != self.node_config.centre or sender not in self.node_config.weights:
            self.refused["misdirected"] += 1
            return
        if self.view.merge(message.records, now, sender, message.versions):
            self._renew_links()
        link = self.ledger.links.get(sender)
        if message.receiver[1] != self.life[1] or self.view.is_ended(message.sender):
            self.refused["old epoch"] += 1
        elif link is None or not message.open or link.epoch < epoch:
            self.refused["early"] += 1
        elif message.number <= link.latest:
            self.refused["late"] += 1
        else:
            self._take(message, link, now)

    def _take(self, message: Message, link: Link, now: int) -> None:
        """Credit new transfers, and remember the neighbour's price and model."""
        new = int((message.sent - link.credited)[0])
        if not 0 <= new <= self.node_config.total:
            self.refused["impossible"] += 1
            return
        sender = message.sender[0]
        link.latest = message.number
        link.confirmed = max(link.confirmed, min(message.confirmed, link.number))
        self.ledger.credit(sender, message.sent)
        if message.price is None or message.model is None:
            return
        if not self._taught:
            self.local.restart(message.model)
            self._taught = True
        self._heard[sender] = Heard(message.price, message.model, now)

    def _step(self, now: int) -> None:
        """Transfer shares and surplus, then move the model."""
        patience = self.network_config.settings.patience
        fresh = {
            j: heard
            for j in self.node_config.weights
            if (heard := self._heard.get(j)) and now - heard.when <= patience
        }
        held = self.ledger.held.copy()
        prices = {j: heard.price for j, heard in fresh.items()}
        price = self.local.price(held)
        self.local.raise_multiplier(held)
        for j, amount in self.local.pushes(held, price, prices).items():
            self.ledger.push(j, amount)
        self.local.learn(held, {j: heard.model for j, heard in fresh.items()})

    def _renew_links(self) -> None:
        """Close the links to ended lives, and open links to new ones."""
        for j in self.node_config.weights:
            link = self.ledger.links.get(j)
            if link is not None and self.view.is_ended((j, link.epoch)):
                self.ledger.close(j)
                self._heard.pop(j, None)
                link = None
            epoch = self._epoch_of(j)
            if link is None and self._open and not self.view.is_ended((j, epoch)):
                self.ledger.open(j, epoch)

    def _epoch_of(self, neighbour: int) -> int:
        record = self.view.records[neighbour]
        return 0 if record is None else record.epoch

    def _compose(self, neighbour: int, price: float | None, heartbeat: bool) -> bytes:
        """Compose the next message for a neighbour; before the first lease only records."""
        link = self.ledger.links.get(neighbour)
        news = self.view.news_for(neighbour) if heartbeat else []
        if link is None:
            nothing = np.zeros(self.node_config.width, np.int64)
            to = (neighbour, self._epoch_of(neighbour))
            message = Message(self.life, to, 0, 0, self.ticks, False, nothing, None, None, news)
            return self.network_config.codec.encode(message)
        link.number += 1
        message = Message(
            self.life,
            (neighbour, link.epoch),
            link.number,
            link.latest,
            self.ticks,
            True,
            link.sent,
            price,
            self.local.model,
            news,
        )
        return self.network_config.codec.encode(message)
