"""How much two training jobs slow each other down when they share a GPU (Gavel).

For a pair that alone makes a_0 and b_0 steps a second and together a and b, one round's work takes
ζ = 1 / (a/a_0 + b/b_0) of the time that it takes one after the other: 1 where sharing gains
nothing, 1/2 where neither job notices the other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from walras.data.dataset import Source
from walras.data.gavel import CLUSTERS, FILE, NAME, GavelThroughputs
from walras.data.store import locate, unreadable
from walras.short_repr import short_repr
from walras.types import Floats, Longs

_STAND_IN: Mapping[str, tuple[float, float]] = {
    "v100": (0.7293, 0.3328),
    "p100": (0.8846, 0.1398),
    "k80": (0.9469, 0.091),
}
"""Median of the measured ζ, and half the distance of its 16 % and 84 % quantiles."""


@dataclass(frozen=True)
class Colocation:
    """ζ of every pair of one-GPU jobs that fits on a GPU.

    Attributes:
        clusters: Name of each GPU type; length m.
        speedup: GPU type -> (pairs,) ζ, in the order of the file; each pair in both orders.
        unfit: GPU type -> number of pairs that do not fit.
        source: Whether the numbers are measured or synthetic.
        origin: Where they come from, in words.
    """

    clusters: tuple[str, ...]
    speedup: Mapping[str, Floats]
    unfit: Mapping[str, int]
    source: Source
    origin: str

    def median(self) -> Floats:
        """(m,) median ζ of two jobs on each GPU type."""
        return np.array([np.median(self.speedup[cluster]) for cluster in self.clusters])


@short_repr
@dataclass(frozen=True)
class PairSpeeds:
    """How fast jobs train while two of one size share their GPUs.

    Attributes:
        job_types: Name of each job type; length n.
        scale_factors: (n,) GPUs that each job uses.
        clusters: Name of each GPU type; length m.
        speed: (n, n, m) steps a second of a job of one type while it shares its GPUs with one of
            another; 0 for both where they do not fit or differ in size.
        source: Whether the numbers are measured or synthetic.
    """

    job_types: tuple[str, ...]
    scale_factors: Longs
    clusters: tuple[str, ...]
    speed: Floats
    source: Source


def speeds(*, synthetic: bool | None = None, seed: int = 0) -> PairSpeeds:
    """The measured speeds of pairs where the set ``gavel`` is found, else a labelled stand-in.

    In the stand-in both jobs of a pair slow down by the same factor 2ζ, drawn as for :func:`load`.

    Args:
        synthetic: As in :func:`walras.data.load`.
        seed: Of the stand-in's random numbers.

    Raises:
        DataError: The file is not what it should be, or it is wanted and not found.
    """
    # Imported here: the registry imports the readers.
    from walras.data import load as load_set  # noqa: PLC0415
    from walras.data.registry import lookup  # noqa: PLC0415

    alone = load_set(NAME, synthetic=synthetic)
    n = len(alone.job_types)
    alike = alone.scale_factors[:, None] == alone.scale_factors
    if alone.source == "measured":
        folder = locate(lookup(NAME)) or Path()
        made = _measured_speeds(folder / FILE, alone)
    else:
        random = np.random.default_rng(seed)
        made = np.zeros((n, n, len(CLUSTERS)))
        for k, cluster in enumerate(CLUSTERS):
            drawn = np.clip(random.normal(*_STAND_IN[cluster], (n, n)), 0.5, 2.0)
            slower = 2.0 * np.triu(drawn) + 2.0 * np.triu(drawn, 1).T
            made[:, :, k] = alone.throughput[k][:, None] / slower
    made = made * ((made > 0.0) & (made.transpose(1, 0, 2) > 0.0) & alike[:, :, None])
    return PairSpeeds(alone.job_types, alone.scale_factors, CLUSTERS, made, alone.source)


def _measured_speeds(path: Path, alone: GavelThroughputs) -> Floats:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        place = {
            str((name, int(size))): k
            for k, (name, size) in enumerate(
                zip(alone.job_types, alone.scale_factors.tolist(), strict=True)
            )
        }
        made = np.zeros((len(place), len(place), len(CLUSTERS)))
        for k, cluster in enumerate(CLUSTERS):
            for job, rates in content[cluster].items():
                for other, shared in rates.items():
                    if other != "null":
                        made[place[job], place[other], k] = shared[0]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise unreadable(NAME, path, error) from error
    return made


def load(*, synthetic: bool | None = None, seed: int = 0) -> Colocation:
    """The measured pairs where the set ``gavel`` is found, else a labelled stand-in.

    Args:
        synthetic: As in :func:`walras.data.load`.
        seed: Of the stand-in's random numbers.

    Raises:
        DataError: The file is not what it should be, or it is wanted and not found.
    """
    # Imported here: the registry imports the readers.
    from walras.data import not_found  # noqa: PLC0415
    from walras.data.registry import lookup  # noqa: PLC0415

    data_set = lookup(NAME)
    folder = None if synthetic else locate(data_set)
    if folder is not None:
        return read(folder)
    if synthetic is False:
        raise not_found(data_set)
    return stand_in(seed)


def read(folder: Path) -> Colocation:
    """Read the pairs of jobs that use one GPU each.

    Raises:
        DataError: The file is not what it should be.
    """
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        pairs = {cluster: _pairs(content[cluster]) for cluster in CLUSTERS}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise unreadable(NAME, path, error) from error
    speedup = {cluster: found[found > 0] for cluster, found in pairs.items()}
    unfit = {cluster: int((found == 0).sum()) for cluster, found in pairs.items()}
    return Colocation(CLUSTERS, speedup, unfit, "measured", str(folder))


def _pairs(jobs: dict[str, dict[str, list[float]]]) -> Floats:
    """ζ of each pair, 0 where it does not fit."""
    alone = {job: float(rates.get("null", 0.0)) for job, rates in jobs.items()}  # type: ignore[arg-type]
    found = []
    for job, rates in jobs.items():
        for other, shared in rates.items():
            if other == "null" or not (job.endswith(", 1)") and other.endswith(", 1)")):
                continue
            both = alone[job] > 0 and alone[other] > 0
            rate = shared[0] / alone[job] + shared[1] / alone[other] if both else 0.0
            found.append(1.0 / rate if rate > 0 else 0.0)
    return np.array(found)


def stand_in(seed: int) -> Colocation:
    """Normal ζ around the measured medians, within 0.5 and 2."""
    random = np.random.default_rng(seed)
    speedup = {
        cluster: np.clip(random.normal(*moments, 600), 0.5, 2.0)
        for cluster, moments in _STAND_IN.items()
    }
    origin = f"{NAME} pairs, normal around the measured medians, seed {seed}"
    return Colocation(CLUSTERS, speedup, dict.fromkeys(CLUSTERS, 0), "synthetic stand-in", origin)
