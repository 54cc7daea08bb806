"""Room for arrays within kernels; only those called filled have values.

numba makes machine code of its own of ``np.empty`` and ``np.zeros`` for each kind of array, each
way to name its type and each shape, a twentieth to a fifth of a second each. These functions
become part of the kernel alone.
"""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.np.arrayobj import numpy_empty_nd

from walras.kernels.parallel import inner
from walras.types import Floats, Ints

_FLOATS, _TABLE = types.Array(types.float64, 1, "C"), types.Array(types.float64, 2, "C")
_INTS, _INT_TABLE = types.Array(types.int32, 1, "C"), types.Array(types.int32, 2, "C")


@inner
def floats(n: int) -> Floats:
    """(n,) numbers."""
    made: Floats = numpy_empty_nd(n, np.float64, _FLOATS)
    return made


@inner
def ints(n: int) -> Ints:
    """(n,) integers of 32 bits."""
    made: Ints = numpy_empty_nd(n, np.int32, _INTS)
    return made


@inner
def float_table(n: int, m: int) -> Floats:
    """(n, m) numbers."""
    made: Floats = numpy_empty_nd((n, m), np.float64, _TABLE)
    return made


@inner
def int_table(n: int, m: int) -> Ints:
    """(n, m) integers of 32 bits."""
    made: Ints = numpy_empty_nd((n, m), np.int32, _INT_TABLE)
    return made


@inner
def filled_floats(n: int, value: float) -> Floats:
    """(n,) times a number."""
    made: Floats = floats(n)
    for k in range(n):
        made[k] = value
    return made


@inner
def filled_ints(n: int, value: int) -> Ints:
    """(n,) times an integer."""
    made: Ints = ints(n)
    for k in range(n):
        made[k] = value
    return made
