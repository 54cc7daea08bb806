"""Which tasks may come, for measures of how fragmented GPUs are."""

from __future__ import annotations

import numpy as np

from walras.kernels.packing.machines import Types
from walras.kernels.packing.measures import Mix
from walras.types import Longs


def mix_of_types(types: Types, count: Longs, popular: float = 1.0) -> Mix:
    """The mix of types of items, each as often as it is there.

    Items of several tasks count with their largest request for each GPU.

    Args:
        types: The types.
        count: (types,) number of items.
        popular: Share of the items that the most frequent types must make up; the others are left
            out. FGD takes 0.95.

    Returns:
        The mix.
    """
    number = np.diff(types.ptr).astype(np.int32)
    amount = np.zeros(len(number), dtype=np.int32)
    held = number > 0
    amount[held] = types.request[types.ptr[:-1][held]]
    order = np.argsort(-count, kind="stable")
    enough = np.searchsorted(np.cumsum(count[order]), popular * count.sum() - 1e-9) + 1
    kept = order[:enough]
    kept = kept[count[kept] > 0]
    return Mix(
        types.need[kept],
        amount[kept],
        number[kept],
        types.allowed[kept],
        count[kept] / count[kept].sum(),
    )
