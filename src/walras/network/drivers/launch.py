"""Start the processes of a deployment, send them what they need, and end every one of them."""

from __future__ import annotations

import json
import os
import select
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from walras.errors import DataError, EngineError, InputError
from walras.network.drivers.bundle import Json
from walras.network.drivers.consistency import check_one
from walras.network.drivers.folder import own_file

_READING = 50  # milliseconds that a process may take to continue reading
_PIPE = 2**16  # bytes that are written at once
_ENDING = 5.0  # seconds that a process may take to end after the request
_RESTARTS = 5
_ERRORS = {kind.__name__: kind for kind in (DataError, EngineError, InputError)}
LOCAL = (sys.executable, "-m", "walras.network.drivers.process")


class Started(Protocol):
    """A started process: pipes to it, and a way to end it."""

    def say(self, line: Json) -> None:
        """Write a line to its standard input."""

    def hear(self) -> list[Json]:
        """Read the lines that it wrote since the last call."""

    def ended(self) -> bool:
        """Whether it has ended."""

    def end(self) -> None:
        """End it if it still runs."""


@dataclass(frozen=True)
class Host:
    """The host of a centre.

    Attributes:
        address: Address at which the others reach it: IPv4, IPv6, or the name of an interface.
        command: Command that starts a process there, which uses standard input and output; this
            host's Python when left out. ``("ssh", "10.0.0.5", "walras-python", "-m",
            "walras.network.drivers.process")`` starts it elsewhere.
        port: Port to listen at, 1..65535; any free one when 0.

    Example:
        >>> from walras.network import Host
        >>> Host("10.0.0.5", port=5600).listen
        'tcp://10.0.0.5:5600'
    """

    address: str = "127.0.0.1"
    command: Sequence[str] = LOCAL
    port: int = 0

    @property
    def listen(self) -> str:
        """The address to bind."""
        name = self.address.strip("[]")
        return f"tcp://{f'[{name}]' if ':' in name else name}:{self.port or '*'}"


class Child:
    """A process started by a command.

    Args:
        host: The host, with its command.
        log: File for its standard error.
    """

    def __init__(self, host: Host, log: Path) -> None:
        own_file(log)
        with log.open("ab") as errors:
            try:
                self._process = subprocess.Popen(
                    list(host.command),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=_environment(),
                    start_new_session=True,
                )
            except OSError as error:
                raise EngineError(
                    f"cannot be started: {error}",
                    where=" ".join(host.command),
                    allowed="a command of this host",
                    remedy="correct the host's command",
                ) from error
        self._unread, self._unsaid = b"", bytearray()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def output(self) -> int:
        """File descriptor of its standard output."""
        stream = self._process.stdout
        return -1 if stream is None else stream.fileno()

    def say(self, line: Json) -> None:
        """Write a line without ever waiting for the process.

        Bytes that it does not take now are written at the next :meth:`hear`. A line to an ended
        process is dropped.
        """
        self._unsaid += json.dumps(line).encode() + b"\n"
        self._write()

    def hear(self) -> list[Json]:
        """Read its reports since the last call; other lines, such as a shell's, are dropped."""
        self._write()
        while True:
            try:
                found = os.read(self.output, 2**20)
            except BlockingIOError:
                break
            if not found:
                break
            self._unread += found
        *lines, self._unread = self._unread.split(b"\n")
        return [report for line in lines if (report := _report(line)) is not None]

    def _write(self) -> None:
        """Write as many pending bytes as the process takes."""
        stream = self._process.stdin
        if stream is None or self.ended():
            self._unsaid.clear()
        if stream is None or not self._unsaid:
            return
        waiting = select.poll()
        waiting.register(stream, select.POLLOUT)
        while self._unsaid and waiting.poll(_READING):
            try:
                del self._unsaid[: os.write(stream.fileno(), self._unsaid[:_PIPE])]
            except BlockingIOError:
                return
            except BrokenPipeError:
                self._unsaid.clear()

    def ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def end(self) -> None:
        """Wait briefly for it to end, then kill it."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):  # write the remaining bytes once more
                    stream.close()
        try:
            self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@dataclass
class Member:
    """A centre as its launcher sees it.

    Attributes:
        child: Its process.
        bound: Its address, once it listens.
        state: Its latest report.
        final: Its last report.
        known: Its latest knowledge of its links and of the other centres.
        lost: Whether its process ended early.
        failure: Its error; empty if there was none.
        restarts: Number of restarts.
        steps: Its reported steps: (epoch, step, time, share, quanta held, bytes sent).
    """

    child: Started
    bound: str = ""
    state: Json = field(default_factory=dict)
    final: Json | None = None
    known: Json = field(default_factory=dict)
    lost: bool = False
    failure: str = ""
    restarts: int = 0
    steps: list[list[float]] = field(default_factory=list)


class Launcher:
    """All processes of a deployment; leaving the context always ends them.

    Args:
        setups: The setup of each centre; see :mod:`.process`.
        publics: Public key of each centre.
        neighbours: Neighbours of each centre.
        start: Starts a centre's process.
        folder: Folder of traces and logs.
    """

    def __init__(
        self,
        setups: Sequence[Json],
        publics: Sequence[str],
        neighbours: Sequence[Sequence[int]],
        start: Callable[[int], Started],
        folder: Path,
    ) -> None:
        self._setups, self._publics, self._neighbours = setups, publics, neighbours
        self._start, self.folder = start, folder
        self._introduced = False
        # for each returning centre: the neighbours that still have to report on it
        self._unanswered: dict[int, set[int]] = {}
        self.members: list[Member] = []

    def __enter__(self) -> Self:
        with ExitStack() as undo:  # on any error, interrupts included, all processes are ended
            undo.callback(self._end)
            for k, setup in enumerate(self._setups):
                self.members.append(Member(self._start(k)))
                self.members[k].child.say(setup)
            undo.pop_all()
        return self

    def __exit__(self, *raised: object) -> None:
        self._end()

    def bind(self, seconds: float) -> None:
        """Wait until all processes listen.

        Raises:
            WalrasError: A centre reported an error, or did not start in time.
        """
        until = time.monotonic() + seconds
        while not all(member.bound for member in self.members):
            self.collect(0.1)
            lost = [k for k, member in enumerate(self.members) if member.lost]
            if lost or time.monotonic() > until:
                late = lost or [k for k, m in enumerate(self.members) if not m.bound]
                raise EngineError(
                    "ended before it listened" if lost else f"did not start in {seconds:g} s",
                    where=f"centre {late[0]}",
                    allowed="a process that reports its address",
                    remedy="see its log in the deployment's folder",
                )

    def introduce(self) -> None:
        """Send each centre the addresses of its neighbours, and let it start."""
        self._introduced = True
        for k, member in enumerate(self.members):
            member.child.say({"peers": self._peers(k), "start": True})

    def restart(self, centre: int) -> None:
        """Start a lost centre's process again; it resumes from its trace.

        Raises:
            EngineError: It was restarted too often.
        """
        times = self.members[centre].restarts + 1
        if times > _RESTARTS:
            raise EngineError(
                f"ended {times} times",
                where=f"centre {centre}",
                allowed=f"{_RESTARTS} restarts",
                remedy="see its log in the deployment's folder",
            )
        earlier = self.members[centre]
        earlier.child.end()
        member = Member(self._start(centre), restarts=times, steps=earlier.steps)
        self.members[centre] = member
        member.child.say({**self._setups[centre], "resume": True, "extend": 0})

    def collect(self, seconds: float) -> None:
        """Wait for reports and process them.

        Raises:
            WalrasError: A centre reported an error.
        """
        with selectors.DefaultSelector() as selector:
            for member in self.members:
                if isinstance(member.child, Child) and not member.lost and member.final is None:
                    selector.register(member.child.output, selectors.EVENT_READ)
            selector.select(seconds) if selector.get_map() else time.sleep(seconds)
        for k, member in enumerate(self.members):
            if member.lost or member.final is not None:
                continue
            ended = member.child.ended()
            for line in member.child.hear():
                self._hear(k, line)
            member.lost = ended and member.final is None
        self._reintroduce()

    def stop(self, seconds: float) -> None:
        """Ask all centres to stop, and wait for their last reports."""
        for member in self.members:
            member.child.say({"stop": True})
        until = time.monotonic() + seconds
        while time.monotonic() < until and any(
            member.final is None and not member.lost for member in self.members
        ):
            self.collect(0.1)

    def _hear(self, k: int, line: Json) -> None:
        member = self.members[k]
        if "error" in line:
            what, where, allowed, remedy = line["error"]
            if not self._introduced:
                kind = _ERRORS.get(line.get("kind", ""), InputError)
                raise kind(what, where=f"centre {k}, {where}", allowed=allowed, remedy=remedy)
            member.failure = f"centre {k}, {where}: {what}"
        member.known = line.get("known", member.known)
        if "bound" in line:
            member.bound = line["bound"]
            if self._introduced:
                self._ask_about(k)
        elif "known" in line:
            for waiting in self._unanswered.values():
                waiting.discard(k)
        member.steps += line.get("steps", [])
        member.state = line.get("state", member.state)
        member.final = line.get("final", member.final)

    def _ask_about(self, k: int) -> None:
        """Ask the neighbours of a returned centre for their knowledge of it before it starts."""
        self._unanswered[k] = {j for j in self._neighbours[k] if self._speaks(j)}
        for j in self._unanswered[k]:
            self.members[j].child.say({"know": True})

    def _speaks(self, k: int) -> bool:
        member = self.members[k]
        return not member.lost and member.final is None and bool(member.state)

    def _starting(self, k: int) -> bool:
        return not (self.members[k].lost or self.members[k].bound)

    def _reintroduce(self) -> None:
        """Start returned centres, unless they forgot something that their neighbours know."""
        for k, waiting in list(self._unanswered.items()):
            near = self._neighbours[k]
            if any(self._speaks(j) for j in waiting) or any(self._starting(j) for j in near):
                continue
            del self._unanswered[k]
            known = {j: self.members[j].known for j in (k, *near) if self.members[j].known}
            try:
                check_one(known, k)
            except DataError as error:
                self.members[k].failure, self.members[k].lost = str(error), True
                self.members[k].child.end()
                continue
            self.members[k].child.say({"peers": self._peers(k), "start": True})
            for j in near:
                peer = [self.members[k].bound, self._publics[k]]
                self.members[j].child.say({"peers": {str(k): peer}})

    def _peers(self, k: int) -> Mapping[str, Any]:
        """Addresses of the neighbours that listen; the others follow when they do."""
        return {
            str(j): [self.members[j].bound, self._publics[j]]
            for j in self._neighbours[k]
            if self.members[j].bound
        }

    def _end(self) -> None:
        with ExitStack() as ends:  # an error in one of them does not keep the others alive
            for member in self.members:
                ends.callback(member.child.end)


def _report(line: bytes) -> Json | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _environment() -> dict[str, str]:
    """The environment of a centre: one thread, since many centres share this host."""
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **single}
