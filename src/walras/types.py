"""Types of arrays, named once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]  # positions: of entries, rows, resources, demands
Longs = npt.NDArray[np.int64]  # counts, pointers and quanta, which may pass 2^31
Bools = npt.NDArray[np.bool_]
Weights = npt.NDArray[np.floating[Any]]  # of a model: single precision where its data are
