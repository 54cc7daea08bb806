"""Real numbers from whatever a caller gives, and arrays that a caller may only read."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from walras.types import Floats

_Kind = TypeVar("_Kind", bound=np.generic)


def read_only(array: npt.NDArray[_Kind]) -> npt.NDArray[_Kind]:
    """The same numbers as an array that cannot be written to; no copy."""
    view = array.view()
    view.flags.writeable = False
    return view


def reals(given: object) -> Floats:
    """Any array-like as float64; not a copy where it is that already.

    Raises:
        TypeError: Something in it is complex (a cast would drop its imaginary part), a date (a cast
            would count nanoseconds), text (a cast would read it), or no number.
        ValueError: Something in it is no number, or its rows differ in length.
    """
    array = np.asarray(given)
    if array.dtype.kind == "c":
        raise TypeError("complex numbers have no order")
    if array.dtype.kind in "mM":
        raise TypeError("dates and durations are no numbers")
    texts = array.dtype.kind == "O" and any(isinstance(v, str | bytes) for v in array.flat)
    if array.dtype.kind in "US" or texts:
        raise TypeError("text is no number")
    return array.astype(np.float64, copy=False)
