"""Several byte strings as one, for the pipe to the process that computes."""

from __future__ import annotations


def joined(*parts: bytes) -> bytes:
    """One byte string of several.

    Example:
        >>> from walras.exchange.runtime.frames import joined, parted
        >>> parted(joined(b"a", b"", b"bc"))
        [b'a', b'', b'bc']
    """
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def parted(data: bytes) -> list[bytes]:
    """The byte strings of which :func:`joined` made one."""
    parts, place = [], 0
    while place < len(data):
        size = int.from_bytes(data[place : place + 8], "big")
        parts.append(data[place + 8 : place + 8 + size])
        place += 8 + size
    return parts
