"""Linear, quadratic and mixed-integer programs as the text of an MPS file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from walras.types import Bools, Floats

_OBJECTIVE = "OBJ"


@dataclass(frozen=True, eq=False)
class Program:
    """min (or max) constant + c·x + 1/2 x·diag(h) x, with bounds of rows and columns.

    Attributes:
        name: Of the program.
        maximize: Whether the objective is maximised.
        constant: Added to the objective.
        columns: (columns,) names.
        cost: (columns,) c.
        quadratic: (columns,) h.
        lower: (columns,) ``-inf`` where there is none.
        upper: (columns,) ``inf`` where there is none.
        integer: (columns,) True where the column is whole.
        rows: (rows,) names.
        matrix: (rows, columns).
        row_lower: (rows,).
        row_upper: (rows,).
    """

    name: str
    maximize: bool
    constant: float
    columns: Sequence[str]
    cost: Floats
    quadratic: Floats
    lower: Floats
    upper: Floats
    integer: Bools
    rows: Sequence[str]
    matrix: sp.csc_array
    row_lower: Floats
    row_upper: Floats


def mps_lines(program: Program) -> Iterator[str]:
    """The lines of a free-format MPS file; numbers read back exactly.

    Names that hold spaces have underscores in their place; names that are then alike get a number.
    Rows without bounds are left out.
    """
    p = program
    columns, rows = _names(p.columns), _names(p.rows, taken=(_OBJECTIVE,))
    kinds = np.where(p.row_upper < np.inf, "L", np.where(p.row_lower > -np.inf, "G", ""))
    kinds = np.where(p.row_lower == p.row_upper, "E", kinds)
    yield f"NAME {_plain(p.name)}"
    yield "OBJSENSE"
    yield f"    {'MAX' if p.maximize else 'MIN'}"
    yield "ROWS"
    yield f" N {_OBJECTIVE}"
    yield from (f" {kind} {row}" for kind, row in zip(kinds, rows, strict=True) if kind)
    yield "COLUMNS"
    yield from _columns(p, columns, rows, kinds != "")
    yield "RHS"
    if p.constant:
        yield f" RHS {_OBJECTIVE} {-p.constant!r}"
    right = np.where(kinds == "G", p.row_lower, p.row_upper)
    for k in np.flatnonzero((kinds != "") & (right != 0)).tolist():
        yield f" RHS {rows[k]} {float(right[k])!r}"
    yield "RANGES"
    both = np.isfinite(p.row_lower) & np.isfinite(p.row_upper) & (kinds == "L")
    for k in np.flatnonzero(both).tolist():
        yield f" RNG {rows[k]} {float(p.row_upper[k] - p.row_lower[k])!r}"
    yield "BOUNDS"
    for k, column in enumerate(columns):
        yield from _bounds(column, float(p.lower[k]), float(p.upper[k]), whole=bool(p.integer[k]))
    if np.any(p.quadratic):
        yield "QUADOBJ"
        for k in np.flatnonzero(p.quadratic).tolist():
            yield f" {columns[k]} {columns[k]} {float(p.quadratic[k])!r}"
    yield "ENDATA"


def _columns(p: Program, columns: list[str], rows: list[str], is_kept: Bools) -> Iterator[str]:
    """Each column's terms; those of whole columns stand between markers."""
    is_whole, markers = False, 0
    for k, column in enumerate(columns):
        if bool(p.integer[k]) != is_whole:
            is_whole = not is_whole
            markers += 1
            marker = "'INTORG'" if is_whole else "'INTEND'"
            yield f" M{markers} 'MARKER' {marker}"
        low, high = p.matrix.indptr[k], p.matrix.indptr[k + 1]
        held = [at for at in range(low, high) if is_kept[p.matrix.indices[at]]]
        if p.cost[k] or not held:
            yield f" {column} {_OBJECTIVE} {float(p.cost[k])!r}"
        for at in held:
            yield f" {column} {rows[p.matrix.indices[at]]} {float(p.matrix.data[at])!r}"
    if is_whole:
        yield f" M{markers + 1} 'MARKER' 'INTEND'"


def _bounds(column: str, lower: float, upper: float, *, whole: bool) -> Iterator[str]:
    """Both bounds, but for the 0 and infinity that a continuous column has without any."""
    if lower == upper:
        yield f" FX BND {column} {lower!r}"
        return
    if lower == -np.inf and upper == np.inf:
        yield f" FR BND {column}"
        return
    if lower == -np.inf:
        yield f" MI BND {column}"
    elif lower != 0 or whole or upper < 0:
        yield f" LO BND {column} {lower!r}"
    if upper < np.inf:
        yield f" UP BND {column} {upper!r}"
    elif whole:
        yield f" PL BND {column}"


def _names(given: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Distinct names without spaces."""
    seen, out = set(taken), []
    for name in map(_plain, given):
        made, k = name, 1
        while made in seen:
            k += 1
            made = f"{name}~{k}"
        seen.add(made)
        out.append(made)
    return out


def _plain(name: str) -> str:
    """A name as one field of a free-format file; no field may begin with a dollar sign."""
    return re.sub(r"[\s$]", "_", name) or "_"
