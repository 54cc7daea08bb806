"""Sockets let in known keys only, one port belongs to one centre, and limits hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from walras.errors import InputError
from walras.network.drivers.sockets import Keys, Peer, Post

ONE, TWO, STRANGER = Keys.new(), Keys.new(), Keys.new()
ANY = "tcp://127.0.0.1:*"
LIMIT = 1000


@contextmanager
def _posts(second: Keys, shown: str | None = None) -> Iterator[tuple[Post, Post]]:
    """Centre 0, and one that says it is centre 1; ``shown``: the key it expects of centre 0."""
    first = Post(ONE, ANY, {1: TWO.public}, LIMIT)
    other = Post(second, ANY, {0: ONE.public}, LIMIT)
    other.connect({0: Peer(first.address, shown or ONE.public)})
    try:
        yield first, other
    finally:
        other.close()
        first.close()


def _exchange(
    first: Post, other: Post, data: bytes, seconds: float = 1.0
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
    first = Post(ONE, ANY, {}, LIMIT)
    try:
        with pytest.raises(InputError) as error:
            Post(TWO, first.address, {}, LIMIT)
    finally:
        first.close()
    assert "is in use" in str(error.value)
    assert first.address in str(error.value)


def test_a_connection_that_goes_and_comes_back_is_noticed() -> None:
    first = Post(ONE, ANY, {1: TWO.public}, LIMIT)
    other = Post(TWO, ANY, {0: ONE.public}, LIMIT)
    address = first.address
    other.connect({0: Peer(address, ONE.public)})
    try:
        assert _exchange(first, other, b"hello", 10.0) == [(1, b"hello")]
        assert (other.lost, other.returned()) == (set(), set())
        first.close()
        _wait_until(other, lambda: other.lost == {0})
        first = Post(ONE, address, {1: TWO.public}, LIMIT)
        _wait_until(other, lambda: not other.lost, first)
        assert other.returned() == {0}
        assert other.returned() == set()
        assert not other.refused
    finally:
        other.close()
        first.close()


def _wait_until(post: Post, done: Callable[[], bool], *others: Post) -> None:
    until = time.monotonic() + 10.0
    while not done():
        assert time.monotonic() < until
        for each in (post, *others):
            each.wait(10)
