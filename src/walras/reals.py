"""Real numbers from whatever a caller gives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def reals(given: object) -> npt.NDArray[np.float64]:
    """Any array-like as float64; not a copy where it is that already.

    Raises:
        TypeError: Something in it is complex (a cast would drop its imaginary part), or no number.
        ValueError: Something in it is no number, or its rows differ in length.
    """
    array = np.asarray(given)
    if array.dtype.kind == "c":
        raise TypeError("complex numbers have no order")
    return array.astype(np.float64, copy=False)
