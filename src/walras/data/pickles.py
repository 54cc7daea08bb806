"""Pickles from public repositories, read without running anything that is in them."""

from __future__ import annotations

import importlib
import io
import pickle
from typing import Any

import numpy as np

from walras.errors import DataError

_ARRAYS = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
}


class _Plain(pickle.Unpickler):
    """Lists, dictionaries, numbers, strings and NumPy arrays; no other class or function."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ARRAYS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        if module == "numpy":
            return getattr(np, name)
        return getattr(importlib.import_module("numpy._core.multiarray"), name)


def load_plain(raw: bytes, name: str) -> Any:
    """What a pickle holds, if that is plain data.

    Args:
        raw: The pickle.
        name: What errors call it.

    Raises:
        DataError: It is damaged, or asks for anything but plain data.
    """
    return load_plain_after(raw, 0, name)


def load_plain_after(raw: bytes, skipped: int, name: str) -> Any:
    """What a pickle holds that stands behind others in one file.

    Args:
        raw: The pickles, one after the other.
        skipped: Number of pickles in front.
        name: What errors call it.

    Raises:
        DataError: One is damaged, or asks for anything but plain data.
    """
    stream = io.BytesIO(raw)
    try:
        for _ in range(skipped):
            _Plain(stream).load()
        return _Plain(stream).load()
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError,
            IndexError, KeyError) as error:  # fmt: skip
        raise DataError(
            f"a pickle cannot be read as plain data: {error}", where=name,
            allowed="lists, dictionaries, numbers, strings and NumPy arrays",
            remedy="try another mirror; nothing was stored",
        ) from error  # fmt: skip
