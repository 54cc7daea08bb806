"""What a comparison says: ratios to the better two-stage, with intervals and paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from walras.errors import InputError
from walras.predict import SETTINGS
from walras.short_repr import short_repr
from walras.types import Floats

CELL = ["setting", "train_tasks", "tasks_per_round"]
BASELINES = ("tsm-raw", "tsm-log")
_DRAWS = 2000
_ALONE = (
    2e-6  # relative, of a utilisation of one over the number of clusters: tables keep six digits
)
_LEVEL = 0.05


def on_one_cluster(frame: pd.DataFrame) -> tuple[str, ...]:
    """Methods that put all tasks of every round on one cluster, which no comparison is meant for.

    Their utilisation is one over the number of clusters. The largest shares of a relaxed matching
    do so where the predictions of all tasks are the same, as those of ``tam`` are.

    Args:
        frame: Rows of :func:`walras.learn.compare` that have numbers.
    """
    several = frame[frame["tasks_per_round"] > 1]
    clusters = several["setting"].map(lambda name: len(SETTINGS.get(name, str(name).split("+"))))
    alone = (several["utilisation"] * clusters - 1.0).abs() <= _ALONE
    every = alone.groupby(several["method"], sort=False).all()
    return tuple(str(name) for name in every.index[every])


@short_repr
@dataclass(frozen=True, eq=False)
class Paired:
    """A method and its baseline, cell by cell on the same seeds.

    Attributes:
        own: (cells, seeds) of the method.
        base: (cells, seeds) of the baseline that is better in the cell, by its mean.

    Example:
        >>> import numpy as np
        >>> from walras.learn import Paired
        >>> pair = Paired(np.array([[0.9, 1.1, 1.0]]), np.array([[1.2, 1.3, 1.25]]))
        >>> round(float(pair.ratio), 2), pair.by_cell.round(2)
        (0.8, array([0.8]))
    """

    own: Floats
    base: Floats

    @property
    def ratio(self) -> float:
        """Sum over sum."""
        return float(self.own.sum() / self.base.sum())

    @property
    def by_cell(self) -> Floats:
        """(cells,) ratio of the means."""
        return np.asarray(self.own.mean(axis=1) / self.base.mean(axis=1))

    def interval(self, seed: int = 0) -> tuple[float, float]:
        """Bootstrap 95 % interval of the ratio: seeds drawn anew, the same in every cell.

        Args:
            seed: Seed of the bootstrap.

        Returns:
            The lower and the upper end.
        """
        count = self.own.shape[1]
        drawn = np.random.default_rng(seed).integers(count, size=(_DRAWS, count))
        totals = self.own.sum(axis=0)[drawn].sum(axis=1) / self.base.sum(axis=0)[drawn].sum(axis=1)
        low, high = np.quantile(totals, [0.025, 0.975])
        return float(low), float(high)

    def tests(self) -> Floats:
        """(cells,) p-values of two-sided paired t-tests; 1 where there are fewer than 3 seeds."""
        if self.own.shape[1] < 3:
            return np.ones(len(self.own))
        apart = self.own - self.base
        same = np.ptp(apart, axis=1) == 0
        varied = np.where(same[:, None], np.eye(1, apart.shape[1]), apart)
        found = scipy.stats.ttest_rel(varied, np.zeros_like(apart), axis=1).pvalue
        return np.where(same, np.where(apart[:, 0] == 0, 1.0, 0.0), found)


def holm(p: Floats) -> Floats:
    """Adjusted p-values that bound the chance of any false one among them (Holm, 1979).

    Args:
        p: (tests,) p-values.

    Returns:
        (tests,) adjusted p-values.

    Example:
        >>> import numpy as np
        >>> from walras.learn import holm
        >>> holm(np.array([0.01, 0.04, 0.03])).round(2)
        array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p)
    rising = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    out = np.empty_like(p)
    out[order] = np.minimum(rising, 1.0)
    return out


def paired(
    frame: pd.DataFrame, method: str, metric: str, baselines: Sequence[str] = BASELINES
) -> Paired:
    """Align a method with the better of its baselines, chosen in each cell by its mean.

    The choice looks at the judged rounds, which favours the baseline.

    Args:
        frame: A frame of :func:`walras.learn.compare`, one row a method, setting, size and seed.
        method: Name of the method.
        metric: Column to compare, such as ``elastic_regret``.
        baselines: Names of the baselines.

    Returns:
        The method's and the baseline's numbers, (cells, seeds) each.

    Raises:
        InputError: The frame lacks the method, a baseline or a common seed.

    Example:
        >>> import pandas as pd
        >>> from walras.learn import paired
        >>> rows = [(m, "A", 40, 5, s, r + 0.01 * s) for s in (0, 1)
        ...         for m, r in (("tsm-raw", 0.3), ("tsm-log", 0.2), ("mfcp-ad", 0.1))]
        >>> names = "method setting train_tasks tasks_per_round seed elastic_regret".split()
        >>> pair = paired(pd.DataFrame(rows, columns=names), "mfcp-ad", "elastic_regret")
        >>> pair.own, pair.base
        (array([[0.1 , 0.11]]), array([[0.2 , 0.21]]))
    """
    known = set(frame["method"])
    for name in (method, *baselines):
        if name not in known:
            raise InputError(
                f"has no method '{name}'",
                where="frame",
                allowed=", ".join(sorted(known)),
                remedy="compare it, too",
            )
    index = pd.MultiIndex.from_frame(frame[CELL].drop_duplicates().sort_values(CELL))
    columns = sorted(set(frame["seed"]))
    whole = np.stack(
        [
            frame[frame["method"] == name]
            .pivot_table(index=CELL, columns="seed", values=metric)
            .reindex(index=index, columns=columns)
            .to_numpy(dtype=np.float64)
            for name in (method, *baselines)
        ]
    )
    seeds = ~np.isnan(whole).any(axis=(0, 1))
    if not seeds.any():
        raise InputError(
            f"has no seed with '{method}' and its baselines in every cell",
            where="frame",
            allowed="at least one",
            remedy="finish the comparison",
        )
    whole = whole[:, :, seeds]
    best = whole[1:].mean(axis=2).argmin(axis=0)
    return Paired(whole[0], whole[1:][best, np.arange(whole.shape[1])])


def summary(
    frame: pd.DataFrame, metric: str = "elastic_regret", baselines: Sequence[str] = BASELINES
) -> pd.DataFrame:
    """One row a method: its mean, and its ratio to the better baseline.

    Columns: ``mean``; ``ratio`` (pooled) with ``low`` and ``high``, its bootstrap 95 % interval;
    ``median_cell``, ``least_cell``, ``largest_cell``; ``better`` and ``worse``, cells that differ
    at 5 % by paired tests with Holm's correction over the cells; ``cells``, ``seeds``; ``seconds``.

    Args:
        frame: A frame of :func:`walras.learn.compare`, one row a method, setting, size and seed.
        metric: Column to compare, such as ``elastic_regret``.
        baselines: Names of the baselines.

    Returns:
        The table, one row a method.

    Raises:
        InputError: See :func:`paired`.

    Example:
        >>> import pandas as pd
        >>> from walras.learn import summary
        >>> rows = [(m, "A", 40, 5, s, r + 0.01 * s, 1.0) for s in (0, 1)
        ...         for m, r in (("tsm-raw", 0.3), ("tsm-log", 0.2), ("mfcp-ad", 0.1))]
        >>> names = "method setting train_tasks tasks_per_round seed elastic_regret".split()
        >>> table = summary(pd.DataFrame(rows, columns=[*names, "seconds"]))
        >>> table[["method", "ratio", "cells", "seeds"]].round(3).values.tolist()
        [['tsm-raw', 1.488, 1, 2], ['tsm-log', 1.0, 1, 2], ['mfcp-ad', 0.512, 1, 2]]
    """
    rows = []
    for method in dict.fromkeys(frame["method"]):
        found, mine = paired(frame, method, metric, baselines), frame[frame["method"] == method]
        low, high = found.interval()
        sure = holm(found.tests()) < _LEVEL
        apart = (found.own - found.base).mean(axis=1)
        rows.append(
            {
                "method": method,
                "mean": float(found.own.mean()),
                "ratio": found.ratio,
                "low": low,
                "high": high,
                "median_cell": float(np.median(found.by_cell)),
                "least_cell": float(found.by_cell.min()),
                "largest_cell": float(found.by_cell.max()),
                "better": int((sure & (apart < 0)).sum()),
                "worse": int((sure & (apart > 0)).sum()),
                "cells": len(found.own),
                "seeds": found.own.shape[1],
                "seconds": float(mine["seconds"].median()),
            }
        )
    return pd.DataFrame(rows)
