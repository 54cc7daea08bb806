"""One centre's gradient from its own samples; no other samples are in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.network.problem.losses import Loss
from walras.network.problem.shards import Shards
from walras.types import Floats


@dataclass(frozen=True, eq=False)
class ShardGradient:
    """The gradient of one centre's part of the loss.

    Attributes:
        loss: The loss.
        shard: The centre's samples, as the only row.
        centres: Number of centres that share the regularisation.
    """

    loss: Loss
    shard: Shards
    centres: int

    def __call__(self, model: Floats) -> Floats:
        """(scalars,) the gradient at ``model`` (scalars,), in the data's precision."""
        row = model[None].astype(self.shard.features.dtype)
        return np.asarray(self.loss.gradient(row, self.shard, self.centres)[0], np.float64)
