"""Figures that others printed, and the cluster that Gavel's are of."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from walras.data.store import search_path
from walras.errors import DataError

CLUSTER = {"v100": 36, "p100": 36, "k80": 36}


def folder_of(name: str, folder: str) -> Path:
    """Where a folder of data sets with that file is.

    Raises:
        DataError: It is not found.
    """
    for place in search_path():
        if (place / folder / name).is_file():
            return place / folder
    raise DataError(
        f"{name} is not found",
        where=folder,
        allowed=f"{folder} in {', '.join(map(str, search_path()))}",
        remedy=f"set WALRAS_DATA to the folder that holds {folder}",
    )


def published(name: str, folder: str = "gavel_published") -> pd.DataFrame:
    """A table of the published figures.

    Raises:
        DataError: It is not found.
    """
    return pd.read_csv(folder_of(name, folder) / name)
