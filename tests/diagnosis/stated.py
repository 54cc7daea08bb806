"""Rows over a few entries, and whether they can hold together."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from tests.bank.statement import Entry, Row, state

from walras.separable import Separable, Utility
from walras.settings import Settings

CALM = Settings(threads=1)


REACH = 10.0


def stated(matrix: np.ndarray, upper: np.ndarray, utility: Utility = Utility.NONE) -> Separable:
    """Rows ``matrix x <= upper`` over 0 <= x <= 10; the first row may hold a utility."""
    rows = [
        Row(
            f"row[{k}]",
            dict(enumerate(line)),
            upper=float(upper[k]),
            utility=Utility.NONE if k else utility,
        )
        for k, line in enumerate(matrix.tolist())
    ]
    return state([Entry(0, j, upper=REACH) for j in range(matrix.shape[1])], rows)


def can_hold(matrix: np.ndarray, upper: np.ndarray, rows: list[int]) -> bool:
    """By another program's linear solver."""
    n = matrix.shape[1]
    if not rows:
        return True
    answer = linprog(np.zeros(n), matrix[rows], upper[rows], bounds=[(0.0, REACH)] * n)
    return bool(answer.status == 0)


# x0 + x1 <= 1 against x0 >= 2; x1 <= 5 takes part in nothing.
MATRIX = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, 1.0]])


UPPER = np.array([1.0, -2.0, 5.0])
