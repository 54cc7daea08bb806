"""Instances of few types and very many jobs, which keep their arrays as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from walras.domains.cluster_scheduling import matrices
from walras.domains.cluster_scheduling.matrices import Names
from walras.separable import Separable
from walras.separable.shares import Shares
from walras.separable.stated_later import StatedLater

JOBS, JOBS_EACH = 20_000, 1_000  # jobs, and jobs a type, from which there are many
_STEEPEST = 4.0  # largest aversion to inequality of which slopes stay within double precision


def many_jobs(
    throughput: object,
    size: object,
    capacity: object,
    weight: object,
    allowed: object,
    options: Mapping[str, object],
    alpha: float,
    state: Callable[[], Separable],
    objective: str,
) -> StatedLater | None:
    """The problem without its rows, or None where the instance is small or needs more than shares.

    Args:
        throughput: (resources, jobs) speeds.
        size: (jobs,) or (resources, jobs) GPUs.
        capacity: (resources,) GPUs.
        weight: (jobs,) priorities, or None.
        allowed: Mask of pairs, or None.
        options: Arguments by name.
        alpha: Aversion to inequality; infinite for the least throughput.
        state: States the problem with its rows.
        objective: The word for it.

    Raises:
        InputError: Sizes, capacities or weights cannot be used.
    """
    labelled = any(isinstance(each, pd.Series | pd.DataFrame) for each in (size, capacity, weight))
    if labelled or allowed is not None or options:
        return None
    speed = throughput if isinstance(throughput, np.ndarray) else None
    if speed is None or speed.ndim != 2 or speed.dtype not in (np.float32, np.float64):
        return None
    m, n = speed.shape
    steep = _STEEPEST < alpha < np.inf
    if n < JOBS or n < JOBS_EACH * m or steep or not (speed.min() > 0 and speed.max() < np.inf):
        return None
    names = Names(None, None)
    sizes = matrices.sizes(size, (m, n), names)  # type: ignore[arg-type]
    each = sizes[:1] if sizes.strides[0] == 0 else sizes
    amounts = matrices.vector(capacity, "capacity", None, "resource", m, "give GPUs")  # type: ignore[arg-type]
    remedy = "give every job a positive priority"
    weights = (
        np.ones(n)
        if weight is None
        else matrices.vector(weight, "weight", None, "demand", n, remedy)  # type: ignore[arg-type]
    )
    return StatedLater.of(
        Shares(speed, np.ascontiguousarray(each), amounts, weights, alpha),
        state,
        tuple(map(str, range(m))),
        objective,
        float(weights.sum()) if alpha == 1.0 else None,
        "nat a job" if alpha == 1.0 else "of the value",
    )
