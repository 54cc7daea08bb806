"""Replay recorded traces: the same calls must give the same states and a balanced ledger."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import pandas as pd

from walras.deprecated import renamed_keywords
from walras.errors import DataError, InputError
from walras.network._deploy import FINAL
from walras.network.drivers.bundle import (
    pack_network_config,
    pack_node_config,
    unpack_network_config,
    unpack_node_config,
)
from walras.network.drivers.folder import node_config_path, read_json
from walras.network.drivers.manifest import Manifest, fingerprints
from walras.network.drivers.recorded_node import check_fingerprint, node_of
from walras.network.drivers.snapshot import frozen, thawed
from walras.network.drivers.trace import (
    HEAD_BYTES,
    TAKE,
    TICK,
    Event,
    Owner,
    Trace,
    apply,
    traces,
)
from walras.network.problem.quanta import AuditError
from walras.network.protocol.auditing import Books, books
from walras.network.protocol.centre import NodeConfig
from walras.network.protocol.messages import MessageError
from walras.network.protocol.node import NetworkConfig, Node
from walras.progress import OnProgress, counts, tell
from walras.saving import save, saved_fields
from walras.status import Status

_AUDIT_EVERY = 500  # events


@dataclass(frozen=True, eq=False)
class Replay:
    """The result of a replay.

    Attributes:
        nodes: The last life of every centre, at the end of its trace.
        events: Number of ticks and messages that were played.
        audits: Number of audits; the books balanced each time.
        books: The balance of all quanta at the end.
        same: Whether each centre's state equals the last state of its process; None if the process
            failed, or its trace was cut short or not played to its end.
        status: ``feasible``, or ``interrupted`` if ``on_progress`` stopped it before the end.
    """

    nodes: tuple[Node, ...]
    events: int
    audits: int
    books: Books
    same: tuple[bool | None, ...]
    status: Status = Status.FEASIBLE

    def __repr__(self) -> str:
        equal = sum(found is True for found in self.same)
        return f"Replay({self.events} events, {equal} of {len(self.same)} states the same)"

    def save(self, path: str | Path) -> None:
        """Write the replay with the states of all centres to one file for :func:`walras.load`.

        Args:
            path: The file, such as ``replay.npz``.

        Raises:
            DataError: The file cannot be written.
        """
        save(self, path)

    def to_saved(self) -> dict[str, Any]:
        """The fields, with the configurations and the states of the centres as JSON."""
        states = [[pack_node_config(node.node_config), frozen(node)] for node in self.nodes]
        shared = pack_network_config(self.nodes[0].network_config)
        return saved_fields(self) | {"nodes": json.dumps([shared, states])}

    @classmethod
    def from_saved(cls, parts: Mapping[str, Any]) -> Self:
        """The replay that :meth:`to_saved` describes."""
        shared, states = json.loads(parts["nodes"])
        agreed = unpack_network_config(shared)
        nodes = tuple(thawed(state, unpack_node_config(own), agreed) for own, state in states)
        return cls(**{**parts, "nodes": nodes})

    def frame(self) -> pd.DataFrame:
        """One row for each centre: epoch, ticks, quanta held, and whether its state is the same."""
        rows = [
            (k, node.life[1], node.ticks, int(node.ledger.held[0]), same)
            for k, (node, same) in enumerate(zip(self.nodes, self.same, strict=True))
        ]
        return pd.DataFrame(rows, columns=["centre", "epoch", "ticks", "quanta_held", "same_state"])


@renamed_keywords(counts, progress="on_progress")
def replay(folder: str | Path, *, on_progress: OnProgress | None = None) -> Replay:
    """Play all traces of a deployment again, with each message sent before it is taken.

    Every message that a centre took must be sent by another centre's replay, byte for byte.

    Args:
        folder: Folder of the deployment, with the traces of all centres.
        on_progress: Called with a Progress that counts the bytes of traces read; True stops there.

    Returns:
        The centres at the end of their traces, and the balance of all quanta.

    Raises:
        DataError: A file is missing or damaged, or a centre took a message that no centre sent.
        AuditError: A quantum was lost or made.

    Example:
        >>> from pathlib import Path
        >>> import walras as wl
        >>> wn = wl.network
        >>> problem = wn.NetworkProblem([wn.QuadraticCPU(c, 1.0) for c in (1.0, 3.0)], budget=4.0)
        >>> done = wn.deploy(problem, wn.Network.ring(2), steps=20, folder=Path("run"))
        >>> wn.replay(Path("run")).same
        (True, True)
    """
    folder = Path(folder)
    manifest = Manifest.read(folder)
    network_config = manifest.agreed
    players = [
        _Player(
            node_config,
            network_config,
            traces(folder, Owner(manifest.deployment, node_config.centre)),
        )
        for node_config in _node_configs(folder, manifest)
    ]
    sent: list[set[bytes]] = [set() for _ in players]
    total = sum(t.path.stat().st_size for player in players for t in player.traces)
    whole = all(player.begun == (0, 0) for player in players)
    events = audits = 0
    moved, stopped = True, False
    while moved and not stopped:
        moved = False
        for k, player in enumerate(players):
            for _ in range(_AUDIT_EVERY):
                if not player.can_go(sent[k], players):
                    break
                for receiver, data in player.go():
                    sent[receiver].add(_mark(data))
                moved, events = True, events + 1
        # Traces that begin with a state begin at different moments, so their order is only right at
        # the end.
        _check([life for p in players for life in p.lives], events, ordered=whole or not moved)
        audits += 1
        read = min(total, sum(player.read for player in players))
        stopped = tell(on_progress, read, total) and moved
    stuck = [k for k, player in enumerate(players) if player.next is not None]
    if stuck and not stopped:
        raise DataError(
            "took a message that no centre sent",
            where=f"trace of centre {stuck[0]}",
            allowed="messages that the other traces explain",
            remedy="the traces are of different deployments, or were changed",
        )
    nodes = tuple(player.lives[-1] for player in players)
    final = books([life for player in players for life in player.lives])
    same = [
        None if p.torn or p.next is not None else found
        for p, found in zip(players, _same(folder, nodes), strict=True)
    ]
    status = Status.INTERRUPTED if stuck else Status.FEASIBLE
    return Replay(nodes, events, audits, final, tuple(same), status)


class _Player:
    """Plays one centre's traces, event by event."""

    def __init__(
        self, node_config: NodeConfig, network_config: NetworkConfig, recorded: list[Trace]
    ) -> None:
        if not recorded:
            raise DataError(
                "has no trace",
                where=f"centre {node_config.centre}",
                allowed="one trace at least",
                remedy="give the folder of a deployment that ran",
            )
        self.traces = recorded
        self.lives = [node_of(recorded[0], node_config, network_config)]
        self.begun = (recorded[0].memory.epoch, self.lives[0].ticks)
        self.read = 0
        self._end = 0
        self._node_config, self._network_config = node_config, network_config
        self._events = self._all()
        self.next: Event | None = None
        self._advance()

    def can_go(self, sent: set[bytes], players: Sequence[_Player]) -> bool:
        """Whether the next event may happen: its message must have been sent."""
        event = self.next
        if event is None:
            return False
        if event.kind != TAKE or _mark(event.data) in sent:
            return True
        try:
            message = self._network_config.codec.decode(event.data)
        except MessageError:
            return True  # it is dropped, as in the deployment
        # The message may have been sent before the sender's trace begins.
        return (message.sender[1], message.tick) <= players[message.sender[0]].begun

    def go(self) -> list[tuple[int, bytes]]:
        """Play the next event; return the sent messages."""
        event, out = self.next, []
        if event is not None:
            self.read += HEAD_BYTES + len(event.data)
            check_fingerprint(self.lives[-1], event, self.traces[len(self.lives) - 1])
            with contextlib.suppress(MessageError):  # it was dropped, as in the deployment
                out = apply(self.lives[-1], event)
            self._advance()
            out = out if event.kind == TICK else []
        return out

    @property
    def torn(self) -> bool:
        """Whether the last trace ends within a record, after all is played."""
        return self._end < self.traces[-1].path.stat().st_size

    def _all(self) -> Iterator[tuple[Trace, Event]]:
        for trace in self.traces:
            self._end = trace.begin
            for event, self._end in trace.records():
                yield trace, event

    def _advance(self) -> None:
        found = next(self._events, None)
        self.next = None if found is None else found[1]
        trace = self.traces[-1] if found is None else found[0]
        while len(self.lives) <= self.traces.index(trace):
            self.lives.append(
                node_of(self.traces[len(self.lives)], self._node_config, self._network_config)
            )


def _mark(data: bytes) -> bytes:
    return blake2b(data, digest_size=12).digest()


def _check(lives: list[Node], events: int, *, ordered: bool) -> None:
    found = books(lives)
    if found.difference.any() or (ordered and found.least_in_flight < 0):
        raise AuditError(
            f"{found.difference.tolist()} quanta are over or missing, {found.least_in_flight} the "
            "least in flight on a link",
            where=f"event {events}",
            allowed="exactly 0, and at least 0",
            remedy="report this as a defect, with the traces",
        )


def _node_configs(folder: Path, manifest: Manifest) -> Iterator[NodeConfig]:
    """Read the own configuration of each centre from its file."""
    for k, expected in enumerate(manifest.node_configs):
        path = node_config_path(folder, k)
        found = read_json(path)
        try:
            mine = found["deployment"] == manifest.deployment
            node_config = unpack_node_config(found["node_config"])
            if not mine or node_config.centre != k or fingerprints(node_config) != expected:
                raise ValueError("they are another deployment's")
        except (InputError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"holds no configuration of centre {k}: {error}",
                where=str(path),
                allowed="the file that the centre wrote in its folder",
                remedy="gather the folders of all hosts in one",
            ) from error
        yield node_config


def _same(folder: Path, nodes: tuple[Node, ...]) -> tuple[bool | None, ...]:
    path = folder / FINAL
    digests = read_json(path) if path.exists() else [""] * len(nodes)
    if not isinstance(digests, list) or len(digests) != len(nodes):
        raise DataError(
            "does not hold one fingerprint a centre",
            where=str(path),
            allowed=f"a list of {len(nodes)}",
            remedy="delete it, to replay without",
        )
    return tuple(
        node.digest == digest if digest else None
        for node, digest in zip(nodes, digests, strict=True)
    )
