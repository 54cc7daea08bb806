"""What a client sends, checked before it is sent: the address, the token, a path."""

from __future__ import annotations

from urllib.parse import quote

import httpx2

from walras.errors import InputError


def check_address(url: str) -> None:
    """Check that an address is one of a service.

    Raises:
        InputError: It is no address, or of no scheme that a service speaks.
    """
    try:
        parts = httpx2.URL(url)
        host, port = parts.host, 1 if parts.port is None else parts.port
    except (httpx2.InvalidURL, ValueError, TypeError):
        host, port, parts = "", 0, None
    known = parts is not None and parts.scheme in ("http", "https")
    if not known or not host or "%" in host or not 0 < port < 2**16:  # % stands for a space
        raise InputError(
            f"is '{url}'",
            where="server",
            allowed="an address that begins with http:// or https://",
            remedy="write it as http://127.0.0.1:8765",
        )


def check_token(token: str) -> None:
    """Check that a header can carry a token; the error does not show it.

    Raises:
        InputError: It cannot.
    """
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            "has a space, a line's end or another character that no token has",
            where="token",
            allowed="one token, such as walras token create prints it",
            remedy="see that the file holds one token and nothing else",
        )


def part(name: str) -> str:
    """A name as one part of a path: it opens no other route."""
    return quote(name, safe="", errors="surrogateescape")
