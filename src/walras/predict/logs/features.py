"""Features of tasks, read from a CSV table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from walras.errors import DataError
from walras.files import reason_of
from walras.predict.logs.text import read_csv


def read_features(path: Path) -> pd.DataFrame:
    r"""Read the features of tasks from a CSV table.

    Args:
        path: Columns: the task's name, then one a feature, all of numbers.

    Returns:
        One row a task, one column a feature, as text; :meth:`TaskLog.tasks` reads the numbers.

    Raises:
        DataError: The file cannot be read, or a line has more or fewer cells than the header.

    Example:
        >>> from pathlib import Path
        >>> import walras as wl
        >>> _ = Path("features.csv").write_text("task,layers\na,3\nb,5\n")
        >>> wl.predict.read_features(Path("features.csv")).shape
        (2, 1)
    """
    try:
        lines = read_csv(path)
        if lines.ragged:
            raise ValueError(f"line {lines.ragged[0] + 1} has more or fewer cells than the header")
    except (OSError, ValueError) as error:
        raise DataError(
            f"cannot be read: {reason_of(error)}",
            where=str(path),
            allowed="CSV: task, then a column of numbers a feature",
            remedy="correct the file",
        ) from error
    names = [row[0] for row in lines.rows]
    return pd.DataFrame(
        [row[1:] for row in lines.rows], index=names, columns=list(lines.header[1:]), dtype=str
    )
