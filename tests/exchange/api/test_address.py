"""Where a service listens, and what it refuses to listen on."""

from __future__ import annotations

import socket

import pytest

from walras.exchange.api.address import Address, bind
from walras.exchange.errors import ServeError


def test_a_socket_listens_at_a_free_port_and_another_cannot_have_it() -> None:
    with bind(Address(port=0)) as made:
        port = made.getsockname()[1]
        assert made.gettimeout() == 0.0, "it does not block"
        with socket.create_connection(("127.0.0.1", port), timeout=5.0):
            pass
        with pytest.raises(ServeError, match=rf"127\.0\.0\.1:{port}: .*choose another --port"):
            bind(Address(port=port))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org", "192.0.2.1"])
def test_beyond_this_machine_tls_in_front_must_be_stated(host: str) -> None:
    with pytest.raises(ServeError, match=r"beyond this machine.*--tls-in-front"):
        bind(Address(host, 0))


def test_with_tls_in_front_it_listens_anywhere_and_names_are_of_this_machine() -> None:
    for address in (Address("0.0.0.0", 0, tls_in_front=True), Address("LOCALHOST", 0)):
        bind(address).close()


@pytest.mark.parametrize(
    "address", [Address(port=70_000), Address("192.0.2.1", 0, tls_in_front=True)]
)
def test_a_port_or_interface_that_cannot_be_had_is_refused(address: Address) -> None:
    with pytest.raises(ServeError, match="allowed: a port of this machine that is free"):
        bind(address)


def test_hosts_that_are_ours() -> None:
    assert Address(names=("Walras.example.org",)).hosts == {
        "127.0.0.1",
        "localhost",
        "[::1]",
        "walras.example.org",
    }
    assert "[2001:db8::1]" in Address("2001:db8::1").hosts


def test_answers_do_not_wait_for_acknowledgements() -> None:
    """asyncio sets TCP_NODELAY where the protocol of a socket is named."""
    with bind(Address(port=0)) as listener:
        listener.settimeout(5.0)
        assert listener.proto == socket.IPPROTO_TCP
        with (
            socket.create_connection(listener.getsockname()),
            listener.accept()[0] as accepted,
        ):
            assert accepted.proto == socket.IPPROTO_TCP
