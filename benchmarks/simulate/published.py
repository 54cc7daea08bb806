"""Figures that Gavel's authors printed, and the cluster that they are of."""

from __future__ import annotations

import pandas as pd

from walras.data.store import search_path
from walras.errors import DataError

CLUSTER = {"v100": 36, "p100": 36, "k80": 36}
_FOLDER = "gavel_published"


def published(name: str) -> pd.DataFrame:
    """A table of the published figures.

    Raises:
        DataError: It is not found.
    """
    for folder in search_path():
        path = folder / _FOLDER / name
        if path.is_file():
            return pd.read_csv(path)
    raise DataError(
        f"{name} is not found",
        where=_FOLDER,
        allowed=f"{_FOLDER} in {', '.join(map(str, search_path()))}",
        remedy=f"set WALRAS_DATA to the folder that holds {_FOLDER}",
    )
