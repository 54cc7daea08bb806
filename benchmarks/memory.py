"""Resident memory of this process, as Linux counts it."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


def reset_peak() -> int | None:
    """Start the peak anew; bytes now, None where the system does not tell."""
    if _RESET.exists():
        _RESET.write_text("5")
    return _bytes("VmRSS:")


def give_back() -> None:
    """Give memory that earlier runs have left to this process back, where the C library can."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def peak() -> int | None:
    """The most bytes since the peak was started anew, None where the system does not tell."""
    return _bytes("VmHWM:")


def grown_mebibytes(before: int | None) -> int | None:
    """How far the peak lies above the bytes that were held before, in MiB.

    Memory that an earlier run has left to the process counts for nothing, unless it was given back.
    """
    found = peak()
    return None if found is None or before is None else round((found - before) / 2**20)


def peak_mebibytes() -> int | None:
    """The peak in MiB, None where the system does not tell."""
    found = peak()
    return None if found is None else round(found / 2**20)


def _bytes(label: str) -> int | None:
    if not _STATUS.exists():
        return None
    line = next(t for t in _STATUS.read_text().splitlines() if t.startswith(label))
    return 1024 * int(line.split()[1])
