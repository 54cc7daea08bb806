"""Sockets of one centre: ZeroMQ over TCP, every connection encrypted and authenticated by CURVE.

One socket takes all neighbours' messages, and one for each neighbour sends. Peers are known by
their public keys, and a message counts only when the key that brought it is its sender's. What is
lost when a peer goes away, the protocol's running sums make good.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import zmq
from zmq.utils import z85
from zmq.utils.monitor import recv_monitor_message

from walras.errors import EngineError, InputError
from walras.network.drivers.descriptors import ensure

_LINGER = 500  # ms that unsent messages may take at the end
_QUEUE = 1000  # messages to a peer that does not take them; what is beyond is dropped
_SEAL = 64  # bytes that encryption adds to a message, and some
_RECONNECT, _SLOWEST = 50, 1000  # ms
_HEARTBEAT, _SILENT = 1000, 15_000  # ms between heartbeats, and without any until one is gone
_HANDSHAKE = 5000  # ms until a connection that says nothing is closed
_STRANGERS = 4096  # open files for connections that say nothing, where the system allows them
_SHUT = 0.5  # s without a port after connections could not be taken
_FILES, _FILES_EACH = 32, 5  # that sockets need, and those of one neighbour
_SOCKETS, _SOCKETS_EACH = 16, 4  # likewise, in ZeroMQ's count: each is watched by two more
_CONNECTED = zmq.EVENT_HANDSHAKE_SUCCEEDED
_DOWN = zmq.EVENT_DISCONNECTED | zmq.EVENT_CONNECT_RETRIED
_REFUSED = zmq.EVENT_HANDSHAKE_FAILED_AUTH
_NOT_TAKEN = zmq.EVENT_ACCEPT_FAILED
_GARBLED = zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL


@dataclass(frozen=True)
class Keys:
    """A CURVE key pair, in Z85.

    Attributes:
        public: Told to the peers.
        secret: Told to nobody.
    """

    public: str
    secret: str

    @classmethod
    def new(cls) -> Keys:
        """A fresh pair."""
        public, secret = zmq.curve_keypair()
        return cls(public.decode(), secret.decode())


@dataclass(frozen=True)
class Peer:
    """A neighbour's address and public key."""

    address: str
    public: str


class Transport:
    """Takes and sends one centre's messages.

    Args:
        keys: The centre's own.
        address: To listen at: ``tcp://host:port``, or ``tcp://host:*`` for any free port.
        allowed: Public key of each neighbour.
        limit: Bytes of the largest message.

    Attributes:
        address: Where it listens.
        lost: Neighbours whose connections are down: their processes ended, or cannot be reached.
        refused: Connections and messages turned away, by reason.

    Raises:
        InputError: The port is taken, or the address is none.
        EngineError: The process may not have as many open files as there are neighbours.
    """

    def __init__(self, keys: Keys, address: str, allowed: Mapping[int, str], limit: int) -> None:
        self._keys = keys
        self._centre_of = {public.encode(): centre for centre, public in allowed.items()}
        ensure(_FILES + _FILES_EACH * len(allowed), _STRANGERS)
        self._context = zmq.Context()
        self._context.set(zmq.MAX_SOCKETS, _SOCKETS + _SOCKETS_EACH * len(allowed))
        self._context.linger = 0
        self.lost: set[int] = set()
        self._returned: set[int] = set()
        self.refused: dict[str, int] = {}
        # Answers "who may connect" for all sockets of this process (ZeroMQ's RFC 27).
        self._door = self._context.socket(zmq.REP)
        self._door.bind("inproc://zeromq.zap.01")
        self._inbox = self._context.socket(zmq.PULL)
        self._inbox.setsockopt(zmq.MAXMSGSIZE, limit + _SEAL)
        self._inbox.setsockopt(zmq.RCVHWM, _QUEUE)
        self._inbox.setsockopt(zmq.HANDSHAKE_IVL, _HANDSHAKE)
        self._inbox.ipv6 = _is_six(address)
        self._inbox.zap_domain = b"walras"
        self._inbox.curve_server = True
        self._inbox.curve_publickey = keys.public.encode()
        self._inbox.curve_secretkey = keys.secret.encode()
        self._outboxes: dict[int, zmq.Socket[bytes]] = {}
        self._monitors: dict[zmq.Socket[bytes], int] = {}
        self._poller = zmq.Poller()
        self.address = self._bind(address)
        self._shut_until: float | None = None
        self._gate = self._inbox.get_monitor_socket(_NOT_TAKEN)
        for socket in (self._door, self._inbox, self._gate):
            self._poller.register(socket, zmq.POLLIN)

    def watch(self, descriptor: int) -> None:
        """Also wake up when this file can be read."""
        self._poller.register(descriptor, zmq.POLLIN)

    def connect(self, peers: Mapping[int, Peer]) -> None:
        """Connect to neighbours; to one that moved, anew."""
        for centre, peer in peers.items():
            self._drop(centre)
            self.lost.discard(centre)
            box = self._outboxes[centre] = self._context.socket(zmq.PUSH)
            box.setsockopt(zmq.SNDHWM, _QUEUE)
            box.setsockopt(zmq.LINGER, _LINGER)
            box.setsockopt(zmq.RECONNECT_IVL, _RECONNECT)
            box.setsockopt(zmq.RECONNECT_IVL_MAX, _SLOWEST)
            box.setsockopt(zmq.HEARTBEAT_IVL, _HEARTBEAT)
            box.setsockopt(zmq.HEARTBEAT_TIMEOUT, _SILENT)
            box.curve_publickey = self._keys.public.encode()
            box.curve_secretkey = self._keys.secret.encode()
            box.curve_serverkey = peer.public.encode()
            monitor = box.get_monitor_socket(_CONNECTED | _DOWN | _REFUSED | _GARBLED)
            self._monitors[monitor] = centre
            self._poller.register(monitor, zmq.POLLIN)
            box.ipv6 = _is_six(peer.address)
            box.connect(peer.address)

    def send(self, centre: int, data: bytes) -> None:
        """Hand a message over; dropped where a peer's queue is full."""
        box = self._outboxes.get(centre)
        if box is None:
            return
        try:
            box.send(data, zmq.NOBLOCK)
        except zmq.Again:
            self._count(f"queue to centre {centre} is full")

    def wait(self, milliseconds: int) -> set[Any]:
        """Wait for anything to read; answers who may connect. Returns the watched files ready."""
        ready = dict(self._poller.poll(max(0, milliseconds)))
        if self._door in ready:
            self._answer()
        if self._gate in ready or self._shut_until is not None:
            self._mind_the_gate()
        for monitor, centre in self._monitors.items():
            if monitor in ready:
                self._note(centre, int(recv_monitor_message(monitor)["event"]))
        return {file for file in ready if isinstance(file, int)}

    def returned(self) -> set[int]:
        """Neighbours whose connections came back since the last call: resend what may be lost."""
        found, self._returned = self._returned, set()
        return found

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """All messages that wait, each with the neighbour whose key brought it."""
        while True:
            try:
                frame = self._inbox.recv(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return
            centre = self._centre_of.get(str(frame.get("User-Id")).encode())
            if centre is None or frame.more:
                self._count("a message in parts, or from nobody")
            else:
                yield centre, frame.bytes

    def close(self) -> None:
        """Send what is queued, for a moment, and close everything."""
        for centre in list(self._outboxes):
            self._drop(centre, linger=_LINGER)
        self._inbox.disable_monitor()
        self._context.destroy()

    def _drop(self, centre: int, linger: int = 0) -> None:
        box = self._outboxes.pop(centre, None)
        if box is None:
            return
        for monitor in [m for m, of in self._monitors.items() if of == centre]:
            self._poller.unregister(monitor)
            del self._monitors[monitor]
            box.disable_monitor()
            monitor.close(linger=0)
        box.close(linger=linger)

    def _bind(self, address: str) -> str:
        try:
            self._inbox.bind(address)
        except zmq.ZMQError as error:
            self._context.destroy()
            taken = error.errno == zmq.EADDRINUSE
            raise InputError(
                "is in use" if taken else f"cannot be listened at: {error}",
                where=address,
                allowed="a free port of this host",
                remedy="choose another port, or leave it out and take any free one",
            ) from error
        endpoint = self._inbox.getsockopt(zmq.LAST_ENDPOINT)
        return endpoint.decode().rstrip("\0") if isinstance(endpoint, bytes) else str(endpoint)

    def _answer(self) -> None:
        """Let in whoever holds the secret key of a known public one."""
        version, request, _, _, _, mechanism, *credentials = self._door.recv_multipart()
        key = z85.encode(credentials[0]) if credentials else b""
        known = mechanism == b"CURVE" and key in self._centre_of
        status = (b"200", b"OK", key) if known else (b"400", b"unknown key", b"")
        if not known:
            self._count(f"connection with the unknown key {key.decode()}")
        self._door.send_multipart([version, request, *status, b""])

    def _mind_the_gate(self) -> None:
        """Where a connection cannot be taken for want of descriptors, drop all and begin anew.

        ZeroMQ would keep the process busy with trying. Neighbours connect again by themselves.
        """
        failed = False
        while self._gate.poll(0):
            failed = recv_monitor_message(self._gate)["event"] == _NOT_TAKEN
        if failed and self._shut_until is None:
            self._inbox.unbind(self.address)
            self._shut_until = time.monotonic() + _SHUT
            self._count("more connections than open files")
        elif self._shut_until is not None and time.monotonic() > self._shut_until:
            try:
                self._inbox.bind(self.address)
                self._shut_until = None
            except zmq.ZMQError:  # once more at the next turn
                self._count("the port cannot be listened at again")

    def _note(self, centre: int, event: int) -> None:
        """A connection came, went, or was refused."""
        if event == _CONNECTED:
            self._returned |= self.lost & {centre}
            self.lost.discard(centre)
            return
        self.lost.add(centre)
        if not event & _DOWN:
            why = "refuses our key" if event == _REFUSED else "shows another key"
            self._count(f"centre {centre} {why}")

    def _count(self, reason: str) -> None:
        self.refused[reason] = self.refused.get(reason, 0) + 1


def out_of_sockets(error: zmq.ZMQError) -> EngineError:
    """The error of a process to which the system gives no more sockets."""
    return EngineError(
        f"cannot have another socket: {error}",
        where="this process",
        allowed="as many open files as its neighbours need",
        remedy="raise the limit of open files (ulimit -n)",
    )


def _is_six(address: str) -> bool:
    return "[" in address
