"""Features of logged tasks: a table, by name of the task, as an array of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, TypeVar

import numpy as np
import pandas as pd

from walras.errors import InputError
from walras.types import Floats

T = TypeVar("T")
Features = pd.DataFrame | pd.Series | Mapping[str, object]
"""One row a task, by name: a frame, a column of one feature, or numbers by name of the task."""


def feature_rows(features: Features, names: Sequence[str]) -> Floats:
    """(N, d) features of tasks, in the order of their names.

    Args:
        features: One row a task, by name; columns of numbers.
        names: Names of the tasks.

    Raises:
        InputError: It is no table, a task has no row or two, or a cell is no finite number.
    """
    table = _table(features)
    rows = position_of([str(name).strip() for name in table.index])
    chosen = table.iloc[[found(rows, name, "features") for name in names]]
    columns = [_numbers(chosen.iloc[:, k], names) for k in range(chosen.shape[1])]
    return np.array(columns, dtype=np.float64).reshape(len(columns), len(names)).T


def position_of(labels: Iterable[str]) -> dict[str, int]:
    """Position of each task's row.

    Raises:
        InputError: A name comes twice.
    """
    rows: dict[str, int] = {}
    for k, name in enumerate(labels):
        if name in rows:
            _refuse(
                f"task '{name}' has two rows",
                f"features, rows {rows[name] + 1} and {k + 1}",
                "one row a task",
                "drop one, or combine them",
            )
        rows[name] = k
    return rows


def found(table: Mapping[str, T], name: str, where: str) -> T:
    """What a table has for a task.

    Raises:
        InputError: It has nothing.
    """
    if name not in table:
        _refuse(
            f"task '{name}' of the log has none",
            where,
            "one for every logged task",
            "add it, or leave the task out of the log",
        )
    return table[name]


def _table(features: object) -> pd.DataFrame:
    if isinstance(features, pd.DataFrame):
        return features
    if isinstance(features, pd.Series):
        return features.to_frame()
    if not isinstance(features, Mapping):
        _refuse(
            f"are a {type(features).__name__}",
            "features",
            "a DataFrame with one row a task, or numbers by name of the task",
            "pd.DataFrame(array, index=names of the tasks)",
        )
    rows = {str(name): _cells(row) for name, row in features.items()}
    return pd.DataFrame.from_dict(rows, orient="index")


def _cells(row: object) -> dict[object, object]:
    """The cells of one task's row, by column."""
    if isinstance(row, Mapping | pd.Series):
        return dict(row.items())
    if isinstance(row, np.ndarray):
        row = row.ravel().tolist()
    cells = row if isinstance(row, Sequence) and not isinstance(row, str) else [row]
    return dict(enumerate(cells))


def _numbers(column: pd.Series, names: Sequence[str]) -> Floats:
    """(N,) one column as finite numbers."""
    given = column.tolist()
    plain = column if column.dtype.kind in "biuf" else column.map(str)
    numbers = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    for j in np.flatnonzero(~np.isfinite(numbers))[:1]:
        where = f"features, task '{names[j]}', column '{column.name}'"
        _refuse(
            f"is {given[j]!r}",
            where,
            "finite numbers",
            "fill it in; turn words into numbers, as pd.get_dummies does",
        )
    return numbers


def _refuse(what: str, where: str, allowed: str, remedy: str) -> NoReturn:
    raise InputError(what, where=where, allowed=allowed, remedy=remedy)
