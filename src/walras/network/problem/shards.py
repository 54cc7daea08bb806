"""The centres' own data, as arrays over all centres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import InputError
from walras.short_repr import short_repr
from walras.types import Bools, Longs, Weights


@short_repr
@dataclass(frozen=True, eq=False)
class Shards:
    """Every centre's samples, padded to the longest shard.

    Attributes:
        features: (centres, samples, features...) in single or double precision.
        targets: (centres, samples) labels or numbers.
        weight: (centres, samples) weight of a sample: 1 / all samples, 0 for padding.
        sizes: (centres,) number of a centre's own samples, without padding.

    Example:
        >>> from walras.network import Shards
        >>> made = Shards.of([([[1.0], [2.0]], [0, 1]), ([[3.0]], [1])])
        >>> made.features.shape, made.sizes
        ((2, 2, 1), array([2, 1]))
    """

    features: Weights
    targets: npt.NDArray[Any]
    weight: Weights
    sizes: Longs

    @classmethod
    def of(cls, shards: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]]) -> Shards:
        """Check and pad ``(features, targets)`` pairs, one for each centre.

        Args:
            shards: ``(features, targets)`` of each centre: (samples, features...) and (samples,).

        Returns:
            The stacked samples.

        Raises:
            InputError: A shard is empty, misshapen or not finite.
        """
        pairs = [(_floating(f), np.asarray(t)) for f, t in shards]
        for k, (features, targets) in enumerate(pairs):
            _check(k, features, targets, pairs[0][0])
        sizes = np.array([len(t) for _, t in pairs])
        shape = (len(pairs), int(sizes.max()))
        dtype = np.result_type(*(f.dtype for f, _ in pairs))
        features = np.zeros((*shape, *pairs[0][0].shape[1:]), dtype)
        targets = np.zeros(shape, np.result_type(*(t.dtype for _, t in pairs)))
        weight = np.zeros(shape, dtype)
        for k, (f, t) in enumerate(pairs):
            features[k, : len(t)], targets[k, : len(t)] = f, t
            weight[k, : len(t)] = 1.0 / sizes.sum()
        return cls(features, targets, weight, sizes)

    @property
    def centres(self) -> int:
        """Number of shards."""
        return len(self.sizes)

    def batch(self, size: int, rng: np.random.Generator) -> Shards:
        """Draw ``size`` samples of each centre with replacement; weights keep gradients unbiased.

        Args:
            size: Samples of each centre.
            rng: The random generator.

        Returns:
            The drawn samples.
        """
        chosen = rng.integers(0, self.sizes[:, None], (self.centres, size))
        row = np.arange(self.centres)[:, None]
        weight = np.repeat((self.sizes / (self.sizes.sum() * size))[:, None], size, axis=1)
        return Shards(
            self.features[row, chosen],
            self.targets[row, chosen],
            weight.astype(self.weight.dtype),
            np.full(self.centres, size),
        )

    def only(self, alive: Bools) -> Shards:
        """The shards of some centres; weights stay, so sums are only over these centres.

        Args:
            alive: (centres,) True on the wanted centres.

        Returns:
            Their shards.
        """
        return Shards(
            self.features[alive], self.targets[alive], self.weight[alive], self.sizes[alive]
        )

    def joined(self) -> tuple[Weights, npt.NDArray[Any]]:
        """All samples and targets without padding, centre by centre."""
        real = self.weight > 0
        return self.features[real], self.targets[real]


def split(
    features: npt.ArrayLike,
    targets: npt.ArrayLike,
    centres: int,
    *,
    seed: int = 0,
    classes_each: int | None = None,
) -> list[tuple[Weights, npt.NDArray[Any]]]:
    """Deal samples to centres, at random or sorted by label.

    Args:
        features: (samples, features...) of all centres together.
        targets: (samples,) labels or numbers.
        centres: Number of shards, at least 1.
        seed: Seed of the shuffle.
        classes_each: Number of runs of equal labels for each centre: 2 gives most centres only two
            classes (McMahan et al. 2017). When left out, shards are alike.

    Returns:
        ``(features, targets)`` of each centre.

    Raises:
        InputError: There are fewer samples than shards.

    Example:
        >>> from walras.network import split
        >>> [len(targets) for _, targets in split([[0.0], [1.0], [2.0]], [0, 1, 1], centres=2)]
        [1, 2]
    """
    x, t = _floating(features), np.asarray(targets)
    parts = centres * (classes_each or 1)
    if not 1 <= parts <= len(t):
        raise InputError(
            f"asks for {parts} parts of {len(t)} samples",
            where="centres",
            allowed=f"1..{len(t)} parts",
            remedy="fewer centres, or fewer classes each",
        )
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(t))
    if classes_each is not None:
        order = order[np.argsort(t[order], kind="stable")]
    pieces = np.array_split(order, parts)
    dealt = rng.permutation(parts).reshape(centres, -1)
    return [(x[own], t[own]) for own in (np.concatenate([pieces[p] for p in row]) for row in dealt)]


def with_intercept(features: Weights) -> Weights:
    """Append a column of ones."""
    return np.concatenate([features, np.ones((*features.shape[:-1], 1), features.dtype)], axis=-1)


def _floating(values: npt.ArrayLike) -> Weights:
    array = np.asarray(values)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _check(k: int, features: Weights, targets: npt.NDArray[Any], first: Weights) -> None:
    where = f"shards[{k}]"
    if features.ndim < 2 or targets.shape != features.shape[:1] or not len(targets):
        raise InputError(
            f"has features {features.shape} and targets {targets.shape}",
            where=where,
            allowed="(samples, features) and (samples,), one sample at least",
            remedy="give each centre its samples",
        )
    if features.shape[1:] != first.shape[1:]:
        raise InputError(
            f"has features of shape {features.shape[1:]}",
            where=where,
            allowed=f"{first.shape[1:]}, as in shards[0]",
            remedy="train on the same features",
        )
    numbers = checks.numeric(targets, f"{where}, targets", remedy="give classes numbers")
    remedy = "drop that sample"
    checks.within(numbers, lambda at: f"{where}, target {at[0]}", remedy=remedy)
    remedy = "drop or fill that sample"
    checks.within(features, lambda at: f"{where}, sample {at[0]}", remedy=remedy)
