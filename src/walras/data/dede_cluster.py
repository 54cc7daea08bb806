"""Throughputs and worker types of DeDe's cluster-scheduling example."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from walras.data.dataset import Source
from walras.data.store import read_amounts, unreadable
from walras.short_repr import short_repr
from walras.types import Floats, Longs

NAME = "dede_cluster"
THROUGHPUT_FILE = "simulation_throughputs.npy"
WORKERS_FILE = "cluster_spec.json"
SHAPE = (10, 2588, 6)
SCALE_FACTORS = (1, 2, 4, 8, 16, 32)


@short_repr
@dataclass(frozen=True)
class ClusterThroughputs:
    """How fast each job runs on each worker type, with each number of workers.

    Attributes:
        worker_types: Name of each worker type; length m.
        workers: Number of workers of each type; shape (m,).
        scale_factors: Number of workers that a job may use; shape (k,).
        throughput: Job steps per second; shape (m, n, k); 0 where the job cannot run.
        source: Whether the numbers are measured or synthetic.
        origin: Where they come from, in words.

    Example:
        >>> import walras as wl
        >>> found = wl.data.load("dede_cluster", synthetic=True)
        >>> found.throughput.ndim, len(found.worker_types) == len(found.workers)
        (3, True)
    """

    worker_types: tuple[str, ...]
    workers: Longs
    scale_factors: Longs
    throughput: Floats
    source: Source
    origin: str

    def __post_init__(self) -> None:
        for array in (self.workers, self.scale_factors, self.throughput):
            array.setflags(write=False)


def read(folder: Path) -> ClusterThroughputs:
    """Read the throughputs and the number of workers of each type.

    Raises:
        DataError: A file is not what it should be.
    """
    throughput = read_amounts(NAME, folder / THROUGHPUT_FILE, SHAPE)
    workers_path = folder / WORKERS_FILE
    try:
        spec = json.loads(workers_path.read_text(encoding="utf-8"))
        workers = np.array([int(spec[f"worker_{i}"]) for i in range(SHAPE[0])], dtype=np.int64)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable(NAME, workers_path, error) from error
    return assemble(throughput, workers, "measured", str(folder))


def assemble(
    throughput: Floats,
    workers: Longs,
    source: Source,
    origin: str,
) -> ClusterThroughputs:
    """Name the worker types and scale factors of the arrays."""
    return ClusterThroughputs(
        worker_types=tuple(f"worker_{i}" for i in range(len(workers))),
        workers=workers,
        scale_factors=np.array(SCALE_FACTORS, dtype=np.int64),
        throughput=throughput,
        source=source,
        origin=origin,
    )
