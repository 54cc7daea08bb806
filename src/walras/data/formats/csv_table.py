"""CSV files as frames, with the same numbers whatever the version of pandas."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import pandas as pd

# Before version 3, pandas rounds a third of all decimals to a neighbour of the nearest number.
_EXACT: dict[str, Any] = (
    {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
)


def read_csv(source: str | Path | IO[Any], **options: Any) -> pd.DataFrame:
    """Read a CSV file; each decimal becomes the nearest floating-point number.

    Args:
        source: A path or an open file.
        options: Options of ``pandas.read_csv``.
    """
    table: pd.DataFrame = pd.read_csv(source, **(_EXACT | options))
    return table
