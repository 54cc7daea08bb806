"""Arrays that kernels make room for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from walras.kernels.parallel import jit
from walras.kernels.room import (
    filled_floats,
    filled_ints,
    float_table,
    floats,
    int_table,
    ints,
)
from walras.types import Floats


@jit
def _written(n: int, m: int, out: Floats) -> None:
    """Write to each kind, and read all back after all are written."""
    a, b, c, d = floats(n), ints(n), float_table(n, m), int_table(n, m)
    e, f = filled_floats(n, 2.5), filled_ints(n, -3)
    for i in range(n):
        a[i], b[i] = 0.5 + i, 7 * i
        for j in range(m):
            c[i, j], d[i, j] = i + 0.25 * j, 100 * i + j
    for i in range(n):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a[i], b[i], e[i], f[i]
        for j in range(m):
            out[i, 4 + j], out[i, 4 + m + j] = c[i, j], d[i, j]


@given(n=st.integers(0, 9), m=st.integers(0, 5))
def test_what_is_written_is_read(n: int, m: int) -> None:
    out = np.zeros((n, 4 + 2 * m))
    _written(n, m, out)
    i, j = np.arange(n)[:, None], np.arange(m)[None]
    columns = (0.5 + i, 7 * i, np.full((n, 1), 2.5), np.full((n, 1), -3))
    np.testing.assert_array_equal(out, np.hstack([*columns, i + 0.25 * j, 100 * i + j]))
