"""The factor zeta on the time of tasks that a cluster runs together (equation 16 of the paper).

``zeta_i(n)`` is the time that cluster i takes for n tasks together over the sum of their times
alone; 1 is one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import InputError
from walras.types import Floats, Longs

_ONE_EACH = "give one number, or one a cluster"
_FORMS = (
    "None, a Decay, an array (counts,) or (clusters, counts) of the ratios for 1, 2, ... tasks, "
    "a function of the count, or one function a cluster"
)


@dataclass(frozen=True, eq=False)
class Decay:
    """A speed-up curve: ``zeta_i(n) = limit_i + (1 - limit_i) exp(-rate_i (n - 1))``.

    ``zeta_i(n)`` is the time of n tasks together over the sum of their times alone. The paper's
    curve goes from 1 to 0.6 at a rate it does not state (Huo et al., ICPP 2025, section 4.5).

    Attributes:
        limit: Ratio of very many tasks, in (0, 1]; one for all clusters or (clusters,).
        rate: Decay per task, > 0; one for all clusters or (clusters,).

    Raises:
        InputError: A number is outside its range.

    Example:
        >>> from walras.matching import Decay
        >>> print(Decay(limit=0.6, rate=0.5).at([1, 2, 3]).round(2))
        [1.   0.84 0.75]
    """

    limit: float | Floats = 0.6
    rate: float | Floats = 0.5

    def __post_init__(self) -> None:
        for name, most in (("limit", 1.0), ("rate", checks.LARGEST)):
            value = checks.numeric(getattr(self, name), f"Decay.{name}", remedy=_ONE_EACH)
            if value.ndim > 1:
                checks.shaped(value, value.shape[:1], f"Decay.{name}", remedy=_ONE_EACH)
            checks.within(value, f"Decay.{name}", high=most, above=0.0, remedy=_ONE_EACH)

    @classmethod
    def pinned(cls, at_two: npt.ArrayLike, limit: float = 0.6) -> Decay:
        """The curve that takes measured ratios of two tasks together.

        Args:
            at_two: (clusters,) ratio of two tasks, such as the median of :func:`pair_ratio`.
            limit: Ratio of very many tasks; measurements of pairs say nothing about it.

        Returns:
            The curve that passes through these ratios.

        Raises:
            InputError: A ratio is not between the limit and 1.
        """
        two = np.atleast_1d(np.asarray(at_two, dtype=np.float64))
        remedy = "lower the limit, or give this cluster's ratios as an array"
        checks.within(two, "at_two", above=limit, below=1.0, remedy=remedy)
        return cls(limit, -np.log((two - limit) / (1.0 - limit)))

    def at(self, count: npt.ArrayLike) -> Floats:
        """The ratios zeta for counts of tasks.

        Args:
            count: (k,) or (clusters, k) numbers of tasks that run together.

        Returns:
            The ratios, (k,) for one curve, (clusters, k) for a curve per cluster.
        """
        limit, rate = (np.asarray(v, float)[..., None] for v in (self.limit, self.rate))
        n = np.asarray(count, dtype=np.float64)
        return np.asarray(limit + (1.0 - limit) * np.exp(-rate * (n - 1.0)))


Speedup = Decay | npt.ArrayLike | Callable[[int], float] | Sequence[Callable[[int], float]]
"""The forms of zeta, the time of n tasks together over the sum of their times alone:

- a :class:`Decay`, such as ``Decay(0.6, 1.0)`` for every cluster;
- an array (counts,), or (clusters, counts), of the ratios for 1, 2, ... tasks; the last one also
  holds for more tasks;
- a function of the number of tasks, or a sequence of one function for each cluster.
"""


def pair_ratio(alone: npt.ArrayLike, together: npt.ArrayLike) -> Floats:
    """Measured ratio of two tasks run together: ``1 / (a / a0 + b / b0)``.

    Args:
        alone: (pairs, 2) steps per second of each task alone.
        together: (pairs, 2) steps per second of each beside the other; 0 where they do not fit.

    Returns:
        (pairs,) ratios, NaN where the pair does not fit.

    Raises:
        InputError: The shapes differ, or a task makes no progress alone.

    Example:
        >>> from walras.matching import pair_ratio
        >>> print(pair_ratio(alone=[[10, 4]], together=[[7, 3]]).round(3))
        [0.69]
    """
    single, both = np.asarray(alone, float), np.asarray(together, float)
    if single.shape != both.shape or single.ndim != 2 or single.shape[1] != 2:
        raise InputError(
            f"have shapes {single.shape} and {both.shape}",
            where="alone, together",
            allowed="(pairs, 2) each",
            remedy="give two throughputs a pair",
        )
    if not np.all(single > 0):
        raise InputError(
            "is not positive",
            where=f"alone[{int(np.argmin((single > 0).all(axis=1)))}]",
            allowed="> 0",
            remedy="leave out tasks that do not run alone",
        )
    share = (both / single).sum(axis=1)
    return np.where(share > 0, 1.0 / np.where(share > 0, share, 1.0), np.nan)


def zeta_table(speedup: Speedup | None, clusters: int, tasks: int) -> Floats:
    """(clusters, tasks + 1) ratio by the number of tasks; column 0 is 1.

    Args:
        speedup: None for one task after the other, or any form of :data:`Speedup`. An array's last
            ratio holds for larger counts.
        clusters: Number of clusters.
        tasks: Number of tasks.

    Raises:
        InputError: It is none of these, or a ratio is not finite and > 0.
    """
    table = np.ones((clusters, tasks + 1))
    if speedup is not None and tasks:
        table[:, 1:] = _ratios(speedup, clusters, np.arange(1, tasks + 1))
    return checks.within(
        table,
        lambda at: f"speedup of cluster {at[0]} with {at[1]} tasks",
        above=0.0,
        words="; 1 is one after the other",
        remedy="give the time together over the sum of the times alone",
    )


def _ratios(speedup: Speedup, clusters: int, counts: Longs) -> Floats:
    if isinstance(speedup, Decay):
        found = speedup.at(counts)
        return _shaped(found, clusters, len(counts))
    if callable(speedup):
        return np.array([[float(speedup(int(n))) for n in counts]])
    if isinstance(speedup, Sequence) and len(speedup) and all(map(callable, speedup)):
        curves = [[float(curve(int(n))) for n in counts] for curve in speedup]  # type: ignore[operator]
        return _shaped(np.array(curves), clusters, len(counts))
    given = np.asarray(speedup)
    if given.dtype.kind not in "iuf" or given.ndim not in (1, 2) or not given.size:
        raise InputError(
            f"is a {type(speedup).__name__}",
            where="speedup",
            allowed=_FORMS,
            remedy="leave it out when a cluster runs one task after the other",
        )
    last = given.shape[-1] - 1
    held = np.minimum(counts - 1, last)
    return _shaped(np.asarray(given, dtype=np.float64)[..., held], clusters, len(counts))


def _shaped(ratios: Floats, clusters: int, counts: int) -> Floats:
    rows = 1 if ratios.ndim == 1 else len(ratios)
    if rows not in (1, clusters):
        raise InputError(
            f"has {rows} curves",
            where="speedup",
            allowed=f"1 or {clusters}, one a cluster",
            remedy="give one curve for all clusters, or one each",
        )
    return np.broadcast_to(ratios, (clusters, counts))
