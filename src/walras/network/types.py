"""Array types of the network package."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Weights = npt.NDArray[np.floating[Any]]  # of a model: single precision where the data are
