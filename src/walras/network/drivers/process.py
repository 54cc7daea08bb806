"""One centre as a process of its own: ``python -m walras.network.drivers.process``.

It exchanges JSON lines with the launcher that started it. From standard input it reads its setup
(one line), the addresses of its neighbours, and finally the request to stop. To standard output it
writes its own address, reports, and its final state. When standard input closes, the launcher has
ended and the process stops.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Container, Set
from pathlib import Path
from typing import Any

from zmq import ZMQError

from walras.errors import DataError, InputError, WalrasError
from walras.network.drivers.bundle import (
    Json,
    check_keys,
    unpack_network_config,
    unpack_node_config,
)
from walras.network.drivers.cgroup import Enforcer
from walras.network.drivers.consistency import knowledge
from walras.network.drivers.event_log import EventLog
from walras.network.drivers.folder import made, node_config_path, own_file, read_json, write_whole
from walras.network.drivers.recorded_node import Keeping, RecordedNode
from walras.network.drivers.scheduling import Clock, Pace, Rounds
from walras.network.drivers.transport import Keys, Peer, Transport, out_of_sockets
from walras.network.protocol.messages import MessageError

_REPORT = 0.25  # seconds between reports
_KEYS = (
    "deployment", "network_config", "node_config", "keys", "listen", "allowed", "folder",
    "keeping", "pace", "resume", "extend", "every", "cgroup",
)  # fmt: skip


class Process:
    """A node, its sockets, its trace and the link to its launcher.

    Args:
        setup: The first line from the launcher.
        unread: Bytes that the launcher has sent since.

    Raises:
        WalrasError: It cannot be used, or the port is taken.
    """

    def __init__(self, setup: Json, unread: bytes) -> None:
        check_keys(setup, "setup of a centre", _KEYS)
        self._folder = made(Path(setup["folder"]), 0o700)
        self._node_config = unpack_node_config(setup["node_config"])
        network_config = unpack_network_config(setup["network_config"])
        self._log = _logger(self._folder / f"centre-{self._node_config.centre:03d}.log")
        self._recorded = RecordedNode(
            self._folder,
            self._node_config,
            network_config,
            setup["deployment"],
            Keeping(**setup["keeping"]),
        )
        own = {"deployment": setup["deployment"], "node_config": setup["node_config"]}
        if setup["resume"]:
            _check_own(self._folder, self._node_config.centre, own)
            self._recorded.resume()
        else:
            self._recorded.begin()
            write_whole(
                node_config_path(self._folder, self._node_config.centre), json.dumps(own).encode()
            )
        self._enforcer = Enforcer.of(setup["cgroup"], self._log.info)
        allowed = {int(j): key for j, key in setup["allowed"].items()}
        self._transport = Transport(
            Keys(**setup["keys"]), setup["listen"], allowed, network_config.codec.limit
        )
        self._pace = _pace(setup["pace"], self._recorded, self._transport.lost)
        if setup["extend"]:
            self._recorded.extend(int(setup["extend"]), self._pace.now)
        unit = "rounds" if setup["pace"]["kind"] == "rounds" else "ms"
        self._events = EventLog(self._log.info, self._recorded.node, self._pace.now, unit)
        self._every = int(setup["every"])
        self._steps: list[tuple[float, ...]] = []  # steps that are not reported yet
        self._descriptor = sys.stdin.fileno()
        self._unread = unread
        self._started = self._stopped = False
        self._reported = 0.0
        self._refused: dict[str, int] = {}

    def run(self) -> None:
        """Run until the launcher asks to stop, or has ended."""
        os.set_blocking(self._descriptor, False)
        self._transport.watch(self._descriptor)
        say({"bound": self._transport.address, "known": knowledge(self._recorded.node)})
        self._listen()
        try:
            while not self._stopped:
                self._turn()
            self._recorded.close()
            self._events.end(self._recorded.node)
            say({"final": self._state(final=True), "steps": self._steps})
        except WalrasError as error:
            self._log.error("ended early: %s", error)
            raise
        finally:
            self._enforcer.close()
            self._transport.close()
            self._recorded.drop()

    def _turn(self) -> None:
        """Wait for the next event, and do what is due."""
        wait = self._pace.wait() if self._started else 1000
        if self._descriptor in self._transport.wait(wait):
            self._listen()
        self._repeat(self._transport.returned())
        for sender, data in self._transport.messages():
            self._take(sender, data)
        if not self._started:
            return
        for sender, data in self._pace.due():
            self._apply(sender, data)
        if self._pace.ready():
            for receiver, data in self._recorded.tick(self._pace.tick()):
                self._transport.send(receiver, data)
            self._after_tick()
        if time.monotonic() - self._reported > _REPORT:
            self._reported = time.monotonic()
            self._note_refusals()
            steps, self._steps = self._steps, []
            say({"state": self._state(), "steps": steps})

    def _after_tick(self) -> None:
        """Enforce the share, log changes, and record the step for the launcher."""
        node, now = self._recorded.node, self._pace.now
        share = node.share(now)
        self._enforcer.enforce(share * self._node_config.unit)
        self._events.observe(node, now, self._transport.lost)
        if node.ticks == node.last_step or (not node.resting and node.ticks % self._every == 0):
            held, sent = int(node.ledger.held[0]), self._recorded.bytes_sent
            self._steps.append((node.life[1], node.ticks, time.time(), share, held, sent))

    def _listen(self) -> None:
        """Read the launcher's lines."""
        try:
            found = os.read(self._descriptor, 2**20)
            self._stopped = self._stopped or not found
        except BlockingIOError:
            found = b""
        *lines, self._unread = (self._unread + found).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "peers" in said:
                peers = {int(j): Peer(*peer) for j, peer in said["peers"].items()}
                self._transport.connect(peers)
                self._repeat(peers)
            if "know" in said:
                say({"known": knowledge(self._recorded.node)})
            self._started = self._started or "start" in said
            self._stopped = self._stopped or "stop" in said

    def _repeat(self, receivers: Container[int]) -> None:
        """Send the latest messages again to receivers that may not have got them."""
        for receiver, data in self._recorded.last_out:
            if receiver in receivers:
                self._transport.send(receiver, data)

    def _take(self, sender: int, data: bytes) -> None:
        """Read a message's header; queue the message or reject it."""
        try:
            head = self._recorded.node.network_config.codec.peek(data)
        except MessageError as error:
            self._refuse("malformed", f"from centre {sender}: {error}")
            return
        if head.sender != sender:
            self._refuse("forged", f"from centre {sender}: says that it is from {head.sender}")
        else:
            self._pace.keep(sender, head.tick, data)

    def _apply(self, sender: int, data: bytes) -> None:
        try:
            self._recorded.take(data, self._pace.now)
        except MessageError as error:
            self._refuse("malformed", f"from centre {sender}: {error}")

    def _refuse(self, kind: str, message: str) -> None:
        """Log the first refusal of a kind, and count the rest."""
        if kind not in self._refused:
            self._log.warning("message dropped %s", message)
        self._refused[kind] = self._refused.get(kind, 0) + 1

    def _note_refusals(self) -> None:
        for reason in self._transport.refused:
            if reason not in self._refused:
                self._log.warning("turned away: %s", reason)
        self._refused.update(self._transport.refused)

    def _state(self, *, final: bool = False) -> Json:
        node, now = self._recorded.node, self._pace.now
        state: Json = {
            "centre": self._node_config.centre,
            "epoch": node.life[1],
            "ticks": node.ticks,
            "left": max(0, node.last_step - node.ticks),
            "held": int(node.ledger.held[0]),
            "share": node.share(now),
            "leased": node.view.leased(now),
            "done": node.done,
            "ended": node.view.ended.tolist(),
            "bytes": self._recorded.bytes_sent,
            "enforced": self._enforcer.active,
            "refused": {**self._refused, **node.refused},
        }
        if final:
            self._note_refusals()
            state["model"] = node.local.model.tolist()
            state["digest"] = node.digest
            state["known"] = knowledge(node)
        return state


def say(line: Json) -> None:
    """Write one line to the launcher."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run one centre; an error is written as one line of JSON, never as a traceback."""
    try:
        first, rest = _first_line(sys.stdin.fileno())
        _run(first, rest)
    except WalrasError as error:
        words = [error.what, error.where, error.allowed, error.remedy]
        say({"error": words, "kind": type(error).__name__})
        return 2
    except (BrokenPipeError, KeyboardInterrupt):
        return 1
    return 0


def _run(first: bytes, rest: bytes) -> None:
    try:
        Process(json.loads(first), rest).run()
    except ZMQError as error:
        raise out_of_sockets(error) from error
    except BrokenPipeError:
        raise  # the launcher has ended
    except OSError as error:
        raise DataError(
            f"fails: {error.strerror}",
            where=str(error.filename or "a file of this process"),
            allowed="files that can be read and written",
            remedy="see this host's disk and limits",
        ) from error
    except ValueError as error:
        raise InputError(
            f"cannot be read: {error}",
            where="setup of a centre",
            allowed="a line of JSON",
            remedy="let walras network deploy start this process",
        ) from error


def _first_line(descriptor: int) -> tuple[bytes, bytes]:
    """Read a line, which may be long, and the bytes after it."""
    parts: list[bytes] = []
    while not parts or b"\n" not in parts[-1]:
        parts.append(os.read(descriptor, 2**20))
        if not parts[-1]:
            raise BrokenPipeError
    first, _, rest = b"".join(parts).partition(b"\n")
    return first, rest


def _check_own(folder: Path, centre: int, own: Json) -> None:
    """Check that a centre's setup is its first one.

    Raises:
        DataError: Its file does not exist, or is damaged.
        InputError: It is another setup.
    """
    path = node_config_path(folder, centre)
    if read_json(path) != json.loads(json.dumps(own)):
        raise InputError(
            "is of another deployment, or of another configuration",
            where=str(path),
            allowed="the deployment that is resumed",
            remedy="put the centre's own files there",
        )


def _pace(pace: Any, recorded: RecordedNode, lost: Set[int]) -> Pace:
    check_keys(pace, "pace", ("kind", "period", "patience"))
    if pace["kind"] == "rounds":
        return Rounds(recorded, float(pace["patience"]), lost)
    if pace["kind"] == "clock":
        return Clock(recorded, int(pace["period"]))
    raise InputError(
        f"is {pace['kind']!r}", where="pace", allowed="rounds or clock", remedy="choose one"
    )


def _logger(path: Path) -> logging.Logger:
    own_file(path)
    logger = logging.getLogger(f"walras.{path.stem}")
    handler = logging.FileHandler(path)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    return logger


if __name__ == "__main__":
    sys.exit(main())
