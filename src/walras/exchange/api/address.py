"""Where a service listens, and what it refuses to listen on."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from walras.exchange.errors import ServeError

_BACKLOG = 512
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Address:
    """Where a service listens.

    Attributes:
        host: Name or number of an interface.
        port: The port; 0 for any that is free.
        tls_in_front: That a proxy in front speaks TLS: it is asked for beyond loopback.
        names: Further names that the Host header may have.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    tls_in_front: bool = False
    names: Sequence[str] = ()

    @property
    def hosts(self) -> frozenset[str]:
        """Names that the Host header may have, without the port."""
        own = f"[{self.host}]" if ":" in self.host else self.host
        return frozenset(name.lower() for name in (*_LOCAL, own, *self.names))


def bind(address: Address) -> socket.socket:
    """Listen.

    Raises:
        ServeError: It is beyond loopback and no TLS is in front, or the port cannot be had.
    """
    if not _loopback(address.host) and not address.tls_in_front:
        raise ServeError(
            f"is {address.host}, beyond this machine, where tokens would travel unencrypted",
            where="host",
            allowed="127.0.0.1, ::1 or localhost; any with --tls-in-front",
            remedy="put a proxy with TLS in front, then say so with --tls-in-front",
        )
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # asyncio sends at once (TCP_NODELAY) only where the protocol is named; else answers wait 40 ms
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address.host, address.port))
        made.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        made.close()
        raise ServeError(
            getattr(error, "strerror", None) or str(error),
            where=f"{address.host}:{address.port}",
            allowed="a port of this machine that is free, 0 to 65535",
            remedy="choose another --port, or stop what uses it",
        ) from error
    made.setblocking(False)
    return made


def _loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
