"""A node and its trace: every event is recorded before it takes effect.

Records reach the operating system before they take effect, so a killed process forgets nothing.
Signed records are on the disk before they are sent. With ``durable`` all records are on the disk
before a message leaves, so that a loss of power loses nothing that another centre received.
"""

from __future__ import annotations

import base64
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from walras.errors import DataError, InputError
from walras.network.drivers.lock import Lock
from walras.network.drivers.snapshot import frozen, thawed
from walras.network.drivers.trace import (
    CLOSE,
    EXTEND,
    TAKE,
    TICK,
    Event,
    Owner,
    Recorder,
    Trace,
    apply,
    path_of,
    traces,
)
from walras.network.protocol.centre import NodeConfig
from walras.network.protocol.membership import Memory
from walras.network.protocol.messages import MessageError
from walras.network.protocol.node import NetworkConfig, Node

Out = list[tuple[int, bytes]]
_ENDING = 10.0  # seconds that an earlier process of the centre may take to end


@dataclass(frozen=True)
class Keeping:
    """Settings of a trace.

    Attributes:
        durable: Whether records are on the disk, not only with the operating system, before a
            message leaves.
        most: Bytes after which a trace starts again from the node's state.
    """

    durable: bool = False
    most: int = 2**26


class RecordedNode:
    """The lives of one centre in one folder.

    Args:
        folder: Folder of the traces.
        node_config: The configuration of the centre.
        network_config: The configuration of the network.
        deployment: Name of the deployment.
        keeping: Settings of the traces.

    Attributes:
        node: The present life.
        last: The driver's clock at the latest event.
        last_out: Messages of the latest tick, to be sent again after a restart.
        bytes_sent: Bytes that this process sent.

    Raises:
        InputError: Another process writes this centre's trace.
    """

    def __init__(
        self,
        folder: Path,
        node_config: NodeConfig,
        network_config: NetworkConfig,
        deployment: str,
        keeping: Keeping,
    ) -> None:
        path = folder / f"centre-{node_config.centre:03d}.lock"
        self._lock: Lock | None = Lock(path, _ENDING)
        self._folder, self._node_config, self._network_config = folder, node_config, network_config
        self._owner, self._keeping = Owner(deployment, node_config.centre), keeping
        self.node: Node
        self._recorder: Recorder | None = None
        self._signed: Memory | None = None  # the memory that is on the disk
        self.last = 0
        self.last_out: Out = []
        self.bytes_sent = 0

    def begin(self) -> None:
        """Begin a first life.

        Raises:
            InputError: The folder holds a trace of this centre.
        """
        earlier = traces(self._folder, self._owner)
        if earlier:
            raise InputError(
                "is there already",
                where=str(earlier[-1].path),
                allowed="a folder without traces",
                remedy="resume, or deploy in another folder",
            )
        self._live(Memory.first(len(self._network_config.begun)))

    def resume(self) -> None:
        """Continue the last life from the end of its trace.

        Raises:
            DataError: There is no trace, it is damaged, or it leads to another state.
        """
        earlier = traces(self._folder, self._owner)
        if not earlier:
            raise DataError(
                f"has no trace of centre {self._node_config.centre}",
                where=str(self._folder),
                allowed="the folder of an earlier deployment",
                remedy="deploy without resume",
            )
        end = self._replay(earlier[-1])
        torn = earlier[-1].torn_tick(end)
        self._recorder = Recorder(earlier[-1].path, end)
        if torn is not None and torn.now >= self.last:
            self.last_out = self._note(torn)

    def extend(self, steps: int, now: int) -> None:
        """Give the node steps from now on; see :meth:`Node.extend`."""
        self._note(Event(EXTEND, now, steps.to_bytes(8, "little")))

    def tick(self, now: int) -> Out:
        """Call :meth:`Node.tick`; a node that learns of its own end starts a new life."""
        if self.node.ended:
            self._live(self.node.view.memory.next_life(self._node_config.centre))
        self.last_out = self._note(Event(TICK, now))
        self._keep()
        self.bytes_sent += sum(len(data) for _, data in self.last_out)
        return self.last_out

    def take(self, data: bytes, now: int) -> None:
        """Call :meth:`Node.on_message`."""
        self._note(Event(TAKE, now, data))

    def close(self) -> None:
        """End the process in order: the state's fingerprint is the last record."""
        if self._recorder is not None:
            with suppress(DataError):  # on a full disk the trace is complete without it
                self._recorder.note(Event(CLOSE, self.last, self.node.digest.encode()))
                self._recorder.sync()
        self.drop()

    def drop(self) -> None:
        """Close the files."""
        for held in (self._recorder, self._lock):
            if held is not None:
                held.close()
        self._recorder = self._lock = None

    def _note(self, event: Event) -> Out:
        if self._recorder is not None:
            self._recorder.note(event)
        self.last = max(self.last, event.now)
        return apply(self.node, event)

    def _keep(self) -> None:
        """Write to the disk what must be there before the tick's messages leave."""
        if self._recorder is None:
            return
        if self._recorder.grown > self._keeping.most:
            self._begin_anew()
        elif self._keeping.durable or self.node.view.memory != self._signed:
            self._recorder.sync()
        self._signed = self.node.view.memory

    def _begin_anew(self) -> None:
        """Replace all records so far by the node's state."""
        out = [[j, base64.b64encode(data).decode()] for j, data in self.last_out]
        state = {"node": frozen(self.node), "last": self.last, "out": out}
        self._record(self.node.view.memory, state)

    def _live(self, memory: Memory) -> None:
        self.node = Node(self._node_config, self._network_config, memory)
        self._record(memory)

    def _record(self, memory: Memory, state: Any = None) -> None:
        path = path_of(self._folder, self._node_config.centre, memory.epoch)
        recorder = Recorder.new(path, self._owner, memory, state)
        if self._recorder is not None:
            self._recorder.close()
        self._recorder, self._signed = recorder, memory

    def _replay(self, trace: Trace) -> int:
        """Play a trace; return the end of its last complete record."""
        self.node, end = node_of(trace, self._node_config, self._network_config), trace.begin
        if trace.state is not None:
            self.last = int(trace.state["last"])
            self.last_out = [(int(j), base64.b64decode(data)) for j, data in trace.state["out"]]
        for event, behind in trace.records():
            self.last, end = max(self.last, event.now), behind
            check_fingerprint(self.node, event, trace)
            try:
                out = apply(self.node, event)
            except MessageError:
                continue  # it was dropped, as in the deployment
            if event.kind == TICK:
                self.last_out = out
        return end


def node_of(trace: Trace, node_config: NodeConfig, network_config: NetworkConfig) -> Node:
    """The node at the beginning of a trace.

    Raises:
        DataError: It begins with an unknown state.
    """
    if trace.state is None:
        return Node(node_config, network_config, trace.memory)
    try:
        return thawed(trace.state["node"], node_config, network_config)
    except (KeyError, TypeError) as error:
        raise DataError(
            f"holds no state of a centre: {error}",
            where=str(trace.path),
            allowed="a trace of this version",
            remedy="start a new deployment in another folder",
        ) from error


def check_fingerprint(node: Node, event: Event, trace: Trace) -> None:
    """Check that a trace leads to the last state of its process.

    Raises:
        DataError: It leads to another state.
    """
    if event.kind == CLOSE and event.data.decode("ascii", "replace") != node.digest:
        raise DataError(
            "leads to another state than its process ended with",
            where=str(trace.path),
            allowed="the same version, problem and libraries as when it was written",
            remedy="resume where it was written, or start a new deployment in another folder",
        )
