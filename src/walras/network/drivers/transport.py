"""Sockets of one centre: ZeroMQ over TCP, every connection encrypted and authenticated by CURVE.

One socket receives all neighbours' messages, and one socket for each neighbour sends. Peers are
known by their public keys; a message counts only if the key of its connection is its sender's key.
Messages to a lost peer are lost, and the protocol's running sums make up for them.
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

_LINGER = 500  # milliseconds that unsent messages may take at the end
_QUEUE = 1000  # messages in the queue to a slow peer; further ones are dropped
_SEAL = 64  # bytes that encryption adds to a message, with some reserve
_RECONNECT, _SLOWEST = 50, 1000  # ms
# milliseconds between heartbeats, and without any until a peer is lost
_HEARTBEAT, _SILENT = 1000, 15_000
_HANDSHAKE = 5000  # milliseconds until a connection without a handshake is closed
_STRANGERS = 4096  # open files for connections without a handshake, if the system allows them
_SHUT = 0.5  # seconds without a port after connections could not be accepted
_FILES, _FILES_EACH = 32, 5  # files that the sockets need, and files for each neighbour
# the same in ZeroMQ's count, which includes two monitors for each socket
_SOCKETS, _SOCKETS_EACH = 16, 4
_CONNECTED = zmq.EVENT_HANDSHAKE_SUCCEEDED
_DOWN = zmq.EVENT_DISCONNECTED | zmq.EVENT_CONNECT_RETRIED
_REFUSED = zmq.EVENT_HANDSHAKE_FAILED_AUTH
_NOT_TAKEN = zmq.EVENT_ACCEPT_FAILED
_GARBLED = zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL


@dataclass(frozen=True)
class Keys:
    """A CURVE key pair, in Z85.

    Attributes:
        public: Sent to the peers.
        secret: Never sent.
    """

    public: str
    secret: str

    @classmethod
    def new(cls) -> Keys:
        """A new pair."""
        public, secret = zmq.curve_keypair()
        return cls(public.decode(), secret.decode())


@dataclass(frozen=True)
class Peer:
    """A neighbour's address and public key."""

    address: str
    public: str


class Transport:
    """Receives and sends one centre's messages.

    Args:
        keys: The centre's own keys.
        address: Address to listen at: ``tcp://host:port``, or ``tcp://host:*`` for any free port.
        allowed: Public key of each neighbour.
        limit: Bytes of the largest message.

    Attributes:
        address: The address at which it listens.
        lost: Neighbours whose connections are down: their processes ended, or cannot be reached.
        refused: Number of refused connections and messages, by reason.

    Raises:
        InputError: The port is in use, or the address is invalid.
        EngineError: The process may not open enough files for its neighbours.
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
        # Decides who may connect to any socket of this process (ZeroMQ's RFC 27).
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
        """Connect to neighbours; reconnect if one has moved."""
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
        """Send a message; drop it if the peer's queue is full."""
        box = self._outboxes.get(centre)
        if box is None:
            return
        try:
            box.send(data, zmq.NOBLOCK)
        except zmq.Again:
            self._count(f"queue to centre {centre} is full")

    def wait(self, milliseconds: int) -> set[Any]:
        """Wait for input, and answer connection requests; return the files that are ready."""
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
        """Neighbours that reconnected since the last call; messages to them may be lost."""
        found, self._returned = self._returned, set()
        return found

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """All waiting messages, each with the neighbour whose key its connection has."""
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
        """Send the queued messages for a short time, and close everything."""
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
        """Accept connections that hold the secret key of a known public key."""
        version, request, _, _, _, mechanism, *credentials = self._door.recv_multipart()
        key = z85.encode(credentials[0]) if credentials else b""
        known = mechanism == b"CURVE" and key in self._centre_of
        status = (b"200", b"OK", key) if known else (b"400", b"unknown key", b"")
        if not known:
            self._count(f"connection with the unknown key {key.decode()}")
        self._door.send_multipart([version, request, *status, b""])

    def _mind_the_gate(self) -> None:
        """If a connection cannot be accepted for lack of descriptors, drop all and listen again.

        ZeroMQ would otherwise retry all the time. Neighbours reconnect on their own.
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
            except zmq.ZMQError:  # try again at the next turn
                self._count("the port cannot be listened at again")

    def _note(self, centre: int, event: int) -> None:
        """Note that a connection was opened, closed or refused."""
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
    """The error for a process that cannot get more sockets."""
    return EngineError(
        f"cannot have another socket: {error}",
        where="this process",
        allowed="as many open files as its neighbours need",
        remedy="raise the limit of open files (ulimit -n)",
    )


def _is_six(address: str) -> bool:
    return "[" in address
