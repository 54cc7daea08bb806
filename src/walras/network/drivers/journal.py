"""A node and its trace: nothing happens to the one that is not written in the other before."""

from __future__ import annotations

from pathlib import Path

from walras.errors import DataError
from walras.network.drivers.trace import (
    EXTEND,
    TAKE,
    TICK,
    Event,
    Recorder,
    Trace,
    apply,
    path_of,
    traces,
)
from walras.network.protocol.centre import Terms
from walras.network.protocol.membership import Memory
from walras.network.protocol.messages import MessageError
from walras.network.protocol.node import Charter, Node


class Journal:
    """The lives of one centre in one folder.

    Args:
        folder: Of the traces.
        terms: The centre's.
        charter: Of the network.

    Attributes:
        node: The present life.
        last: The driver's clock at the latest event.
        last_out: What the latest tick answered, to be sent again after a restart.
        bytes_sent: By this process.
    """

    def __init__(self, folder: Path, terms: Terms, charter: Charter) -> None:
        self._folder, self._terms, self._charter = folder, terms, charter
        self.node: Node
        self._recorder: Recorder | None = None
        self.last = 0
        self.last_out: list[tuple[int, bytes]] = []
        self.bytes_sent = 0

    def begin(self) -> None:
        """A first life, or the next one after what earlier traces remember."""
        earlier = traces(self._folder, self._terms.centre)
        if not earlier:
            self._live(Memory.first(len(self._charter.begun)))
            return
        self._replay(earlier[-1])
        self._live(self.node.view.memory.next_life(self._terms.centre))

    def resume(self) -> None:
        """The last life goes on where its trace ends.

        Raises:
            DataError: There is no trace.
        """
        earlier = traces(self._folder, self._terms.centre)
        if not earlier:
            raise DataError(
                f"has no trace of centre {self._terms.centre}", where=str(self._folder),
                allowed="the folder of an earlier deployment", remedy="deploy without resume",
            )  # fmt: skip
        self._replay(earlier[-1])
        self._recorder = Recorder(earlier[-1].path, None)

    def extend(self, steps: int, now: int) -> None:
        """More steps for a resting node."""
        self._note(Event(EXTEND, now, steps.to_bytes(8, "little")))

    def tick(self, now: int) -> list[tuple[int, bytes]]:
        """See :meth:`Node.tick`; a node that learns of its own end starts anew."""
        if self.node.ended:
            self._live(self.node.view.memory.next_life(self._terms.centre))
        self.last_out = self._note(Event(TICK, now))
        self.bytes_sent += sum(len(data) for _, data in self.last_out)
        return self.last_out

    def take(self, data: bytes, now: int) -> None:
        """See :meth:`Node.on_message`."""
        self._note(Event(TAKE, now, data))

    def close(self) -> None:
        """The trace is complete."""
        if self._recorder is not None:
            self._recorder.close()

    def _note(self, event: Event) -> list[tuple[int, bytes]]:
        if self._recorder is not None:
            self._recorder.note(event)
        self.last = max(self.last, event.now)
        return apply(self.node, event)

    def _live(self, memory: Memory) -> None:
        self.close()
        self.node = Node(self._terms, self._charter, memory)
        path = path_of(self._folder, self._terms.centre, memory.epoch)
        self._recorder = Recorder(path, memory)

    def _replay(self, trace: Trace) -> None:
        self.node = Node(self._terms, self._charter, trace.memory)
        for event in trace.events():
            self.last = max(self.last, event.now)
            try:
                out = apply(self.node, event)
            except MessageError:
                continue  # as when it happened
            if event.kind == TICK:
                self.last_out = out
