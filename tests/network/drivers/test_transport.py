"""Sockets let in known keys only, one port belongs to one centre, and limits hold."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zmq

from walras.errors import EngineError, InputError
from walras.network.drivers.descriptors import ensure
from walras.network.drivers.transport import Keys, Peer, Transport

ONE, TWO, STRANGER = Keys.new(), Keys.new(), Keys.new()
ANY = "tcp://127.0.0.1:*"
LIMIT = 1000


@contextmanager
def _posts(second: Keys, shown: str | None = None) -> Iterator[tuple[Transport, Transport]]:
    """Centre 0, and one that says it is centre 1; ``shown``: the key it expects of centre 0."""
    first = Transport(ONE, ANY, {1: TWO.public}, LIMIT)
    other = Transport(second, ANY, {0: ONE.public}, LIMIT)
    other.connect({0: Peer(first.address, shown or ONE.public)})
    try:
        yield first, other
    finally:
        other.close()
        first.close()


def _exchange(
    first: Transport, other: Transport, data: bytes, seconds: float = 1.0
) -> list[tuple[int, bytes]]:
    other.send(0, data)
    found: list[tuple[int, bytes]] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until and not found and not other.refused:
        first.wait(10)
        other.wait(10)
        found += first.messages()
    return found


def test_a_message_comes_with_its_sender() -> None:
    with _posts(TWO) as (first, other):
        assert _exchange(first, other, b"hello", 10.0) == [(1, b"hello")]
        assert not first.refused


def test_an_unknown_key_is_turned_away() -> None:
    with _posts(STRANGER) as (first, other):
        assert _exchange(first, other, b"hello", 10.0) == []
        assert list(other.refused) == ["centre 0 refuses our key"]
        assert list(first.refused) == [f"connection with the unknown key {STRANGER.public}"]


def test_a_peer_that_shows_another_key_gets_nothing() -> None:
    with _posts(TWO, STRANGER.public) as (first, other):
        assert _exchange(first, other, b"hello", 10.0) == []
        assert list(other.refused) == ["centre 0 shows another key"]


def test_messages_beyond_the_limit_never_arrive() -> None:
    with _posts(TWO) as (first, other):
        assert _exchange(first, other, b"x" * LIMIT, 10.0) == [(1, b"x" * LIMIT)]
        assert _exchange(first, other, b"x" * (LIMIT + 100), 0.5) == []


def test_a_port_in_use_is_named() -> None:
    first = Transport(ONE, ANY, {}, LIMIT)
    try:
        with pytest.raises(InputError) as error:
            Transport(TWO, first.address, {}, LIMIT)
    finally:
        first.close()
    assert "is in use" in str(error.value)
    assert first.address in str(error.value)


def test_a_connection_that_goes_and_comes_back_is_noticed() -> None:
    first = Transport(ONE, ANY, {1: TWO.public}, LIMIT)
    other = Transport(TWO, ANY, {0: ONE.public}, LIMIT)
    address = first.address
    other.connect({0: Peer(address, ONE.public)})
    try:
        assert _exchange(first, other, b"hello", 10.0) == [(1, b"hello")]
        assert (other.lost, other.returned()) == (set(), set())
        first.close()
        _wait_until(other, lambda: other.lost == {0})
        first = Transport(ONE, address, {1: TWO.public}, LIMIT)
        _wait_until(other, lambda: not other.lost, first)
        assert other.returned() == {0}
        assert other.returned() == set()
        assert not other.refused
    finally:
        other.close()
        first.close()


def _wait_until(post: Transport, done: Callable[[], bool], *others: Transport) -> None:
    until = time.monotonic() + 10.0
    while not done():
        assert time.monotonic() < until
        for each in (post, *others):
            each.wait(10)


_CROWD = """
import socket, sys
sys.stdin.readline()
crowd = []
for _ in range(60):
    try:
        crowd.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=2.0))
    except OSError:
        break
sys.stdin.read()
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files as Linux does")
def test_connections_that_say_nothing_do_not_keep_a_centre_busy() -> None:
    """There are too many for its open files: it drops them, and its neighbour comes back."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with _posts(TWO) as (first, other):
        assert _exchange(first, other, b"hello", 10.0) == [(1, b"hello")]
        port = first.address.rsplit(":", 1)[1]
        command = [sys.executable, "-c", _CROWD, port]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as crowd:
            few = len(os.listdir("/proc/self/fd")) + 20
            resource.setrlimit(resource.RLIMIT_NOFILE, (few, limits[1]))
            try:
                assert crowd.stdin is not None
                crowd.stdin.write(b"go\n")
                crowd.stdin.flush()
                _wait_until(first, lambda: bool(first.refused), other)
                began = time.process_time()
                until = time.monotonic() + 1.0
                while time.monotonic() < until:
                    first.wait(100)
                assert time.process_time() - began < 0.3
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
                crowd.communicate(b"", timeout=10)
        assert list(first.refused) == ["more connections than open files"]
        _wait_until(other, lambda: not other.lost, first)
        assert _exchange(first, other, b"again", 10.0)[-1] == (1, b"again")


def test_a_centre_may_have_hundreds_of_neighbours() -> None:
    """More than ZeroMQ has sockets for in its usual settings."""
    many = {k: TWO.public for k in range(1, 361)}
    first = Transport(ONE, ANY, many, LIMIT)
    try:
        first.connect({k: Peer("tcp://127.0.0.1:9", TWO.public) for k in many})
    finally:
        first.close()


def test_sockets_that_cannot_be_had_leave_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing waited for ever for one that was made and never watched."""

    def fails(socket: object, events: object) -> object:
        raise zmq.ZMQError(errno.EMFILE)

    first = Transport(ONE, ANY, {1: TWO.public}, LIMIT)
    monkeypatch.setattr("zmq.Socket.get_monitor_socket", fails)
    with pytest.raises(zmq.ZMQError, match="Too many open files"):
        first.connect({1: Peer("tcp://127.0.0.1:9", TWO.public)})
    first.close()


def test_too_few_files_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr("resource.getrlimit", lambda kind: (20, 400))
    monkeypatch.setattr("resource.setrlimit", lambda kind, limits: raised.append(limits))
    with pytest.raises(EngineError, match="may have 400 open files"):
        ensure(400)
    assert not raised
    ensure(100, spare=1000)
    assert raised == [(400, 400)]


def test_an_address_of_ipv6() -> None:
    first = Transport(ONE, "tcp://[::1]:*", {1: TWO.public}, LIMIT)
    other = Transport(TWO, ANY, {0: ONE.public}, LIMIT)
    other.connect({0: Peer(first.address, ONE.public)})
    try:
        assert first.address.startswith("tcp://[::1]:")
        assert _exchange(first, other, b"hello", 10.0) == [(1, b"hello")]
    finally:
        other.close()
        first.close()
