"""Random numbers in compiled searches: one 64-bit state, equal on every platform."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.kernels.parallel import jit

State = npt.NDArray[np.uint64]

_SPREAD = 0x9E3779B97F4A7C15  # odd, so that distinct seeds give distinct nonzero states
_WORD = 2**64


def seeded(seed: int) -> State:
    """(1,) a state for a seed >= 0."""
    return np.array([(seed + 1) * _SPREAD % _WORD], dtype=np.uint64)


@jit
def draw(state: State) -> float:
    """Draw a number in [0, 1): xorshift64 (Marsaglia 2003), its upper 53 bits."""
    s = state[0]
    s ^= s << np.uint64(13)
    s ^= s >> np.uint64(7)
    s ^= s << np.uint64(17)
    state[0] = s
    return float(s >> np.uint64(11)) * 2.0**-53


@jit
def below(state: State, count: int) -> int:
    """Draw an integer from 0 to ``count - 1``."""
    return int(draw(state) * count)
