"""Small linear programs for HiGHS."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from walras.programs.highs import LinearProgram


def drawn(seed: int, rows: int = 4, columns: int = 6, *, whole: bool = False) -> LinearProgram:
    """Packing with random data: x = 0 is feasible, and the optimum is finite."""
    rng = np.random.default_rng(seed)
    return LinearProgram(
        cost=-rng.uniform(1, 3, columns),
        lower=np.zeros(columns),
        upper=np.full(columns, 4.0),
        matrix=sp.csc_array(rng.uniform(0.5, 2.0, (rows, columns))),
        row_lower=np.full(rows, -np.inf),
        row_upper=rng.uniform(3, 6, rows),
        integer=np.ones(columns, bool) if whole else None,
    )
