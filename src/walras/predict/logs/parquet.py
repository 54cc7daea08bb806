"""Parquet files as other programs write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras.extras import need_pyarrow

# What pandas and pyarrow raise on files that are damaged, or of types that they do not know.
_DAMAGED = (
    *(OSError, ValueError, TypeError, LookupError, AttributeError),
    *(ArithmeticError, NotImplementedError, MemoryError),
)


def read_parquet(path: Path) -> pd.DataFrame:
    """The table of a Parquet file. Bytes are read as text, lists as the words that show them.

    Args:
        path: The file, or a folder of its parts.

    Raises:
        EngineError: pyarrow is not installed.
        OSError: The file is not there, or cannot be opened.
        ValueError: It is damaged, or no Parquet file.
    """
    need_pyarrow()
    if not path.is_dir():
        path.open("rb").close()  # says in the system's words why it cannot be
    try:
        table = pd.read_parquet(path)
    except _DAMAGED as error:
        words = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"it is no whole Parquet file: {words[0]}") from error
    for name, cells in table.items():
        if cells.dtype == object:
            table[name] = cells.map(_plain)
    return table


def _plain(cell: Any) -> Any:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "backslashreplace")
    return str(cell.tolist()) if isinstance(cell, np.ndarray) else cell
