"""How far rows are from what they ask for, as :mod:`walras.certificate.repair` measures it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.certificate.repair import TIGHT
from walras.engines.admm.form import RowData
from walras.separable import Utility

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_TINY = np.finfo(float).tiny


def violations(rows: RowData, load: Floats, size: Floats, t: float) -> tuple[Floats, Floats]:
    """How far rows are above a bound (below zero: how far inside), and the scale of that.

    Args:
        rows: The rows.
        load: What entries use of them.
        size: The sizes of what adds up to that.
        t: The scalar.
    """
    share = rows.shift * t
    used = load + share
    size = size + np.abs(share)
    for bound in (rows.lower, rows.upper):
        size = np.maximum(size, np.where(np.isfinite(bound), np.abs(bound), 0.0))
    return np.maximum(used - rows.upper, rows.lower - used), np.maximum(size, _TINY)


def errors(rows: RowData, load: Floats, size: Floats, t: float) -> tuple[Floats, Bools]:
    """How far rows are to be moved, and which of them must not be moved otherwise.

    A row that a scalar holds is tight because the scalar was moved there; it moves again after.

    Args:
        rows: The rows.
        load: What entries use of them.
        size: The sizes of what adds up to that.
        t: The scalar.
    """
    used = load + rows.shift * t
    error = np.minimum(rows.upper - used, 0.0) + np.maximum(rows.lower - used, 0.0)
    over, scale = violations(rows, load, size, t)
    held = (rows.kind == Utility.NONE) & ((error != 0) | (rows.shift == 0))
    return error, held & (over >= -TIGHT * scale)
