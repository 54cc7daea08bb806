"""What tests let the process beside the service do."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import time
from pathlib import Path

from walras.exchange.errors import FieldError


def noise(data: bytes) -> bytes:
    """Prints on every way out."""
    sys.stdout.write("a banner\n")
    os.write(1, b"more of it\n")
    ctypes.CDLL(None).puts(b"and from C")
    ctypes.CDLL(None).fflush(None)
    return data


def fail(data: bytes) -> bytes:
    raise ValueError("no good")


def refuse(data: bytes) -> bytes:
    raise FieldError("what", where="where", allowed="this")


def sleep(data: bytes) -> bytes:
    time.sleep(60.0)
    return data


def die(data: bytes) -> bytes:
    os._exit(3)


def scratch(data: bytes) -> bytes:
    """Keep the bytes in a file; its folder."""
    path = Path(tempfile.gettempdir()) / "file"
    path.write_bytes(data)
    return str(path.parent).encode()
