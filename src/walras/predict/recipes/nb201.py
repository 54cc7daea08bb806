"""The networks of NAS-Bench-201 as task graphs and one-hots (Dong and Yang, ICLR 2020).

A stem takes 3 channels to 16; three stages of five equal cells follow, with 16, 32 and 64 channels
on maps of 32², 16² and 8². A stage's convolutions do the same work, C² H W being constant, so that
one operation stands for its fifteen copies.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from walras.data.nb201_help import EDGES, OPERATIONS
from walras.predict.graphs.graph import TaskGraph
from walras.types import Floats, Longs

_CELLS = 5
_STAGES = ((16, 32), (32, 16), (64, 8))  # channels, side of the map
_KINDS = ("none", "identity", "conv1x1", "conv3x3", "pool")
_KERNEL = (0, 0, 1, 9, 0)  # weights of a convolution for each pair of channels

FEATURES = tuple(f"{a}->{b} {operation}" for a, b in EDGES for operation in OPERATIONS)
"""Names of the columns of :func:`one_hots`."""


def one_hots(operations: Longs) -> Floats:
    """(networks, 30) one-hots of the operation on each of the six edges.

    Args:
        operations: (networks, 6) indices into ``OPERATIONS``.
    """
    return np.eye(len(OPERATIONS))[operations].reshape(len(operations), -1)


def graphs(operations: Longs, batch: int = 1) -> tuple[TaskGraph, ...]:
    """The cell of each network: its six operations between an input and an output.

    Args:
        operations: (networks, 6) indices into ``OPERATIONS``.
        batch: Samples that go through together.
    """
    return tuple(_graph(tuple(row), batch) for row in operations.tolist())


@lru_cache(maxsize=20_000)
def _graph(operations: tuple[int, ...], batch: int) -> TaskGraph:
    elements = _CELLS * batch * sum(c * side**2 for c, side in _STAGES)
    pairs = _CELLS * sum(c**2 for c, _ in _STAGES)
    work = _CELLS * batch * sum(c**2 * side**2 for c, side in _STAGES)
    kernel = np.array([0, *(_KERNEL[k] for k in operations), 0], dtype=np.float64)
    return TaskGraph(
        kinds=("input", *(_KINDS[k] for k in operations), "output"),
        macs=kernel * work,
        params=kernel * pairs,
        elements=np.full(8, elements, dtype=np.float64),
        edges=_wiring(),
        batch=batch,
    )


@lru_cache(maxsize=1)
def _wiring() -> Longs:
    """Operations feed those that leave the node they enter; node 0 is the input, 3 the output."""
    links = [(0, k + 1) for k, (a, _) in enumerate(EDGES) if a == 0]
    links += [(k + 1, 7) for k, (_, b) in enumerate(EDGES) if b == 3]
    links += [
        (k + 1, other + 1)
        for k, (_, b) in enumerate(EDGES)
        for other, (a, _) in enumerate(EDGES)
        if a == b
    ]
    return np.array(links, dtype=np.int64)
