"""A small cluster that tests of the domain read and spoil."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

T = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
SIZE = np.array([1.0, 2.0, 4.0])
CAPACITY = np.array([8.0, 16.0])
FRAME = pd.DataFrame(T, index=["v100", "k80"], columns=["a", "b", "c"])


def spoiled(array: np.ndarray, at: Any, value: float) -> np.ndarray:
    out = array.copy()
    out[at] = value
    return out
