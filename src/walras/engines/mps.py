"""Linear and mixed-integer programs from MPS and LP files, through HiGHS' reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.engines.highs_quiet import new_highs
from walras.errors import DataError
from walras.separable.form import Family, Rows, Separable, Side

Floats = npt.NDArray[np.float64]

_SUFFIXES = (".mps", ".lp", ".mps.gz", ".lp.gz")


def read_mps(path: str | Path) -> Separable:
    """Read a program as a problem of coupled rows, with the file's names.

    Every column is a demand of its own, named as in the file; rows belong to no side.

    Args:
        path: An ``.mps`` or ``.lp`` file, plain or gzipped.

    Raises:
        DataError: The file is missing, not in the format its name says, has no columns or
            semi-continuous ones, or holds a quadratic objective that is not a sum of squares of
            single columns.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(
            "there is no such file",
            where=str(path),
            allowed="an .mps or .lp file",
            remedy="check the path",
        )
    if not path.name.lower().endswith(_SUFFIXES):
        raise DataError(
            "has an unknown ending",
            where=str(path),
            allowed=", ".join(_SUFFIXES),
            remedy="rename the file after its format",
        )
    solver = new_highs()
    if solver.readModel(str(path)) != highspy.HighsStatus.kOk:
        raise DataError(
            "HiGHS cannot read it",
            where=str(path),
            allowed="a program in MPS or LP format",
            remedy="check the sections and the numbers of columns of its lines",
        )
    return _problem(solver.getModel(), path)


def _problem(model: Any, path: Path) -> Separable:
    lp = model.lp_
    columns = int(lp.num_col_)
    if columns == 0:
        raise DataError(
            "has no columns",
            where=str(path),
            allowed="at least one column",
            remedy="check that the file is complete",
        )
    sign = -1.0 if lp.sense_ == highspy.ObjSense.kMaximize else 1.0
    kinds = list(lp.integrality_)
    whole = np.array([kind != highspy.HighsVarType.kContinuous for kind in kinds], dtype=bool)
    names = list(lp.col_names_) or [f"C{k}" for k in range(columns)]
    _check_kinds(kinds, names, path)
    none = np.zeros(0)
    return Separable(
        resource=np.full(columns, -1, np.int32),
        demand=np.arange(columns, dtype=np.int32),
        cost=sign * np.asarray(lp.col_cost_, dtype=np.float64),
        quadratic=sign * _diagonal(model.hessian_, columns, path),
        lower=np.asarray(lp.col_lower_, dtype=np.float64),
        upper=np.asarray(lp.col_upper_, dtype=np.float64),
        scalar_cost=none,
        scalar_lower=none,
        scalar_upper=none,
        rows=_rows(lp),
        resource_names=[],
        demand_names=names,
        integer=whole if np.any(whole) else None,
        maximize=sign < 0,
        constant=sign * float(lp.offset_),
        objective=path.name,
        namer=names.__getitem__,
    )


def _check_kinds(kinds: list[Any], names: list[str], path: Path) -> None:
    known = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    for kind, name in zip(kinds, names, strict=False):
        if kind not in known:
            raise DataError(
                f"column '{name}' is semi-continuous or semi-integer",
                where=str(path),
                allowed="continuous, integer and binary columns",
                remedy="state it by a binary column y: lower * y <= x <= upper * y",
            )


def _rows(lp: Any) -> Rows:
    count = int(lp.num_row_)
    parts = (
        np.asarray(lp.a_matrix_.value_),
        np.asarray(lp.a_matrix_.index_),
        np.asarray(lp.a_matrix_.start_),
    )
    is_columnwise = lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    shape = (count, int(lp.num_col_))
    matrix = sp.csc_array(parts, shape=shape) if is_columnwise else sp.csr_array(parts, shape=shape)
    names = list(lp.row_names_) or [f"R{k}" for k in range(count)]
    families = (Family("row", 0, count, names, plain=True),) if count else ()
    return Rows(
        matrix=sp.csc_array(matrix),
        scalar_matrix=np.zeros((count, 0)),
        lower=np.asarray(lp.row_lower_, dtype=np.float64),
        upper=np.asarray(lp.row_upper_, dtype=np.float64),
        side=np.full(count, Side.COUPLED, np.int8),
        owner=np.full(count, -1, np.int32),
        utility=np.zeros(count, np.int8),
        weight=np.ones(count),
        parameter=np.zeros(count),
        families=families,
    )


def _diagonal(hessian: Any, columns: int, path: Path) -> Floats:
    """(columns,) second derivatives of a separable quadratic objective."""
    out = np.zeros(columns)
    if hessian.dim_ == 0:
        return out
    start = np.asarray(hessian.start_)
    column = np.repeat(np.arange(hessian.dim_), np.diff(start))
    row, value = np.asarray(hessian.index_), np.asarray(hessian.value_)
    if np.any(value[row != column] != 0):
        raise DataError(
            "its quadratic objective has products of two columns",
            where=str(path),
            allowed="squares of single columns",
            remedy="state it in cvxpy with quad_form and solve it as walras.Problem",
        )
    out[row] = value
    return out
