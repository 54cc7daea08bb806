"""Measured training throughputs on V100, P100 and K80 GPUs (Gavel)."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from walras import checks
from walras.data.dataset import Source
from walras.data.store import unpacked, unreadable
from walras.short_repr import short_repr
from walras.types import Floats, Longs

NAME = "gavel"
FILE = "simulation_throughputs.json"
CLUSTERS = ("v100", "p100", "k80")

_DAMAGED = (OSError, EOFError, ValueError, SyntaxError, KeyError, TypeError, AttributeError)

Measurements = Mapping[str, Mapping[tuple[str, int], float]]
"""Steps per second of a job running alone: cluster -> (job type, scale factor) -> steps/s."""


@short_repr
@dataclass(frozen=True)
class GavelThroughputs:
    """How fast each job type trains on each GPU type when it runs alone.

    Attributes:
        job_types: Name of each job type, with its batch size; length n.
        scale_factors: Number of GPUs that each job type uses; shape (n,).
        clusters: Name of each GPU type; length m.
        throughput: Mini-batch steps per second on GPUs of one server; shape (m, n); 0 where the
            job cannot run.
        unconsolidated: The same with the workers spread over servers; shape (m, n).
        source: Whether the numbers are measured or synthetic.
        origin: Where they come from, in words.

    Example:
        >>> import walras as wl
        >>> found = wl.data.load("gavel", synthetic=True)
        >>> found.clusters, found.throughput.shape[0]
        (('v100', 'p100', 'k80'), 3)
        >>> found.table().shape[0] == len(found.job_types)
        True
    """

    job_types: tuple[str, ...]
    scale_factors: Longs
    clusters: tuple[str, ...]
    throughput: Floats
    unconsolidated: Floats
    source: Source
    origin: str

    def __post_init__(self) -> None:
        for array in (self.scale_factors, self.throughput, self.unconsolidated):
            array.setflags(write=False)

    def columns(self, job_types: Sequence[str], scale_factors: npt.ArrayLike) -> Longs:
        """The column of each job in ``throughput``.

        Args:
            job_types: Job type of each job; length k.
            scale_factors: Number of GPUs of each job; shape (k,).

        Returns:
            Column indices, shape (k,); -1 where the pair was not measured.

        Raises:
            InputError: The two lengths differ.
        """
        scales = np.asarray(scale_factors, dtype=np.int64)
        remedy = "pass one scale factor a job"
        checks.shaped(scales, (len(job_types),), "scale_factors", remedy=remedy)
        known = {pair: j for j, pair in enumerate(self._pairs())}
        wanted = zip(job_types, scales.tolist(), strict=True)
        return np.array([known.get(pair, -1) for pair in wanted], dtype=np.int64)

    def table(self) -> pd.DataFrame:
        """One row a job type: its name, scale factor and steps per second on each cluster."""
        rates = dict(zip(self.clusters, self.throughput, strict=True))
        return pd.DataFrame(
            {"job_type": self.job_types, "scale_factor": self.scale_factors, **rates}
        )

    def _pairs(self) -> list[tuple[str, int]]:
        return list(zip(self.job_types, self.scale_factors.tolist(), strict=True))


def read(folder: Path) -> GavelThroughputs:
    """Read the measured throughputs.

    Args:
        folder: Holds ``simulation_throughputs.json``.

    Raises:
        DataError: The file is not what it should be.
    """
    return read_throughputs(folder / FILE, str(folder))


def read_throughputs(path: Path, origin: str = "") -> GavelThroughputs:
    """Read throughputs in Gavel's form, such as those of Shockwave.

    Args:
        path: JSON: cluster -> "('job type', scale factor)" -> {"null": steps/s alone,
            "('other', scale)": [steps/s of each, co-located]}; unpacked where it ends in .gz.
        origin: Where they come from, in words; the path if empty.

    Raises:
        DataError: The file is not what it should be.
    """
    try:
        raw = unpacked(path) if path.suffix == ".gz" else path.read_bytes()
        return assemble(_alone(json.loads(raw.decode("utf-8"))), "measured", origin or str(path))
    except _DAMAGED as error:
        raise unreadable(NAME, path, error) from error


def _alone(content: dict[str, dict[str, dict[str, float]]]) -> Measurements:
    return {
        cluster: {_pair(key): float(rates.get("null", 0.0)) for key, rates in jobs.items()}
        for cluster, jobs in content.items()
    }


def _pair(key: str) -> tuple[str, int]:
    job_type, scale_factor = ast.literal_eval(key)
    return str(job_type), int(scale_factor)


def assemble(alone: Measurements, source: Source, origin: str) -> GavelThroughputs:
    """Arrange measurements as arrays, job types in the order of the first cluster's.

    Args:
        alone: Steps per second of each job alone, for every cluster and its ``_unconsolidated``
            counterpart; an absent job cannot run.
        source: Whether they are measured.
        origin: Where they come from.
    """
    pairs = sorted(alone[CLUSTERS[0]], key=lambda pair: pair[1])

    def rates(suffix: str) -> Floats:
        measured = [alone[cluster + suffix] for cluster in CLUSTERS]
        return np.array([[rate.get(pair, 0.0) for pair in pairs] for rate in measured])

    return GavelThroughputs(
        job_types=tuple(job_type for job_type, _ in pairs),
        scale_factors=np.array([scale for _, scale in pairs], dtype=np.int64),
        clusters=CLUSTERS,
        throughput=rates(""),
        unconsolidated=rates("_unconsolidated"),
        source=source,
        origin=origin,
    )
