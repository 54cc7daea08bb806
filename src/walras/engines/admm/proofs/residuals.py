"""How far rows are from what they ask for, as in one place (:mod:`walras.certificate.repair`)."""

from __future__ import annotations

import numpy as np

from walras.certificate.contribution import excess, tight_errors
from walras.engines.admm.form import RowData
from walras.separable import Utility
from walras.types import Bools, Floats

MOST = 2.0  # largest growth of an entry in one sweep
_TINY = np.finfo(float).tiny


def evened(cover: Bools, load: Floats, shift: Floats, t: float) -> Floats:
    """Factors that bring what rows have to their shares of a scalar; ``inf`` says nothing.

    Args:
        cover: True on rows ``shift t <= - load``.
        load: What entries use of them.
        shift: Their coefficients of the scalar.
        t: The scalar.
    """
    brought, wanted = -load, shift * t
    good = cover & (brought > 0) & (wanted > 0)
    ratio = np.where(good, np.clip(wanted / np.where(good, brought, 1.0), 0.0, MOST), 1.0)
    return np.where(cover, ratio, np.inf)


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
    over, scale = excess(used, size + np.abs(share), rows.lower, rows.upper)
    return over, np.maximum(scale, _TINY)


def errors(rows: RowData, load: Floats, size: Floats, t: float) -> tuple[Floats, Bools]:
    """How far rows are to be moved, and which of them must not be moved otherwise.

    Args:
        rows: The rows.
        load: What entries use of them.
        size: The sizes of what adds up to that.
        t: The scalar.
    """
    used = load + rows.shift * t
    scale = violations(rows, load, size, t)[1]
    free = rows.kind != Utility.NONE
    return tight_errors(free, rows.shift != 0, used, rows.lower, rows.upper, scale)
