"""Linear predictors of logs in which a task ran on few of the clusters: cluster by cluster.

The work grows with the runs, not with tasks times clusters. A task belongs to a fold by its name,
so that a choice made without a fold stays a choice without it when rows are added: a refit keeps
link and ridges, begins at the old weights, and takes intervals from rows that neither the weights
nor the choice have seen.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from walras.errors import InputError
from walras.predict.models.calibration import conformal_radius, logit
from walras.predict.models.folds import FOLDS, FoldRows, cold, solve, with_units
from walras.predict.models.glm import Link, Loss, centre_and_spread, inverse_link
from walras.predict.models.linear import LINKS, RIDGES, LinearLosses
from walras.predict.models.model import LinearModel
from walras.predict.predictor import Predictor
from walras.predict.settings import Training
from walras.predict.tasks import Tasks
from walras.types import Bools, Floats, Longs

_DENSE = 3e7  # numbers that the models of all tasks at once would hold
_ROUGH = 1e-4  # of weights that are compared alone


@dataclass(frozen=True, eq=False)
class Runs:
    """What was measured of N tasks on M clusters, a row for each task and cluster it ran on.

    Attributes:
        names: Name of each task; length N.
        clusters: Name of each cluster; length M.
        features: (N, d) numbers known at submission.
        task: (R,) which task.
        cluster: (R,) which cluster.
        seconds: (R,) NaN where not known.
        success: (R,) share of runs that succeeded; NaN where not known.
        runs: (R,) number of runs behind it.
        feature_names: Name of each feature, or none.
    """

    names: Sequence[str]
    clusters: tuple[str, ...]
    features: Floats
    task: Longs
    cluster: Longs
    seconds: Floats
    success: Floats
    runs: Floats
    feature_names: tuple[str, ...] = ()

    @classmethod
    def of(cls, tasks: Tasks) -> Runs:
        """The measured pairs of tasks and clusters."""
        found = ~(np.isnan(tasks.times) & np.isnan(tasks.success))
        cluster, task = np.nonzero(found)
        return cls(
            tasks.names,
            tasks.clusters,
            tasks.features,
            task,
            cluster,
            tasks.times[found],
            tasks.success[found],
            tasks.runs[found],
            tasks.feature_names,
        )

    def folds(self, seed: int) -> Longs:
        """(N,) fold of each task, by its name."""
        start = zlib.crc32(seed.to_bytes(8, "little", signed=True))
        found = [zlib.crc32(name.encode(), start) for name in self.names]
        return (np.array(found, np.int64) * 2654435761 % 2**32 >> 7) % FOLDS


def is_sparse(tasks: Tasks, settings: Training) -> bool:
    """Whether tasks are fitted cluster by cluster: all models at once would not fit, or most of
    the pairs were never run.
    """
    if settings.method != "tsm" or settings.model != "linear":
        return False
    cells = len(RIDGES) * tasks.times.size * (tasks.features.shape[1] + 1)
    if cells > _DENSE:
        return True
    return len(tasks) >= 10 * FOLDS and bool(np.isnan(tasks.times).mean() > 0.5)


@dataclass(frozen=True, eq=False)
class _Choices:
    """Link and ridges without each fold, and of all rows last.

    Attributes:
        links: F + 1 links.
        ridges: (F + 1, 2, M) λ of time and success.
    """

    links: tuple[Link, ...]
    ridges: Floats


@dataclass(frozen=True, eq=False)
class _Fitted:
    """What one cluster's rows give.

    Attributes:
        scale: Mean seconds.
        time: (p,) weights.
        success: (p,) weights.
        scaling: (2,) of the chances.
        radius: Of log time.
        success_radius: Of the chance.
    """

    scale: float
    time: Floats
    success: Floats
    scaling: Floats
    radius: float
    success_radius: float


def fit_runs(runs: Runs, settings: Training, start: Predictor | None = None) -> Predictor:
    """Train a linear predictor, one model a cluster; intervals are of rows held out in turn.

    Args:
        runs: What was measured; each cluster has a measured time.
        settings: ``loss``, ``link``, ``level`` and ``seed`` are read.
        start: A predictor that was fitted so: its link and ridges are kept, and Newton's steps
            begin at its weights. Clusters that it does not know are tuned.

    Raises:
        InputError: A cluster has no measured time, or the features are not those of ``start``.
    """
    log = _Log(runs, settings)
    before = _usable(start, runs)
    kept = None if before is None else _kept(before, log)
    choices = _tuned(log) if kept is None else kept
    # Weights of another link would not be near by.
    if before is not None and _model_of(before).link != choices.links[-1]:
        before = None
    fitted = [_fit_cluster(log, i, choices, before) for i in range(len(runs.clusters))]
    model = LinearModel(
        choices.links[-1],
        np.array([f.scale for f in fitted]),
        _raw(np.array([f.time for f in fitted]), log),
        _raw(np.array([f.success for f in fitted]), log),
    )
    return Predictor(
        runs.clusters,
        (model,),
        settings.method,
        settings.confidence,
        settings.level,
        np.array([f.radius for f in fitted]),
        np.array([f.success_radius for f in fitted]),
        np.array([f.scaling for f in fitted]),
        len(runs.names),
        runs.feature_names,
        choices.links,
        choices.ridges,
    )


@dataclass(frozen=True, eq=False)
class _Log:
    """Runs with their standard features, ordered by cluster and fold."""

    runs: Runs
    settings: Training
    centre: Floats = field(init=False)
    spread: Floats = field(init=False)

    def __post_init__(self) -> None:
        centre, spread = centre_and_spread(self.runs.features)
        object.__setattr__(self, "centre", centre)
        object.__setattr__(self, "spread", spread)

    @property
    def loss(self) -> Loss:
        return self.settings.loss

    @cached_property
    def _fold(self) -> Longs:
        return self.runs.folds(self.settings.seed)[self.runs.task]

    @cached_property
    def _order(self) -> tuple[Longs, Longs]:
        runs = self.runs
        order = np.lexsort((self._fold, runs.cluster))
        return order, np.searchsorted(runs.cluster[order], np.arange(len(runs.clusters) + 1))

    def _design(self, rows: Longs) -> Floats:
        x = self.runs.features[self.runs.task[rows]]
        return np.column_stack([(x - self.centre) / self.spread, np.ones(len(rows))])

    def times(self, i: int) -> FoldRows:
        """A cluster's measured times."""
        order, ends = self._order
        mine = order[ends[i] : ends[i + 1]]
        mine = mine[~np.isnan(self.runs.seconds[mine])]
        if not len(mine):
            raise InputError(
                "no task was measured on it",
                where=f"cluster {self.runs.clusters[i]}",
                allowed="at least one measured time a cluster",
                remedy="measure some tasks there, or leave the cluster out",
            )
        seconds = self.runs.seconds[mine]
        return with_units(self._design(mine), seconds, self._fold[mine], np.ones(len(mine)))

    def outcomes(self, i: int) -> FoldRows:
        """A cluster's known outcomes."""
        order, ends = self._order
        mine = order[ends[i] : ends[i + 1]]
        mine = mine[~np.isnan(self.runs.success[mine]) & (self.runs.runs[mine] > 0)]
        return FoldRows(
            self._design(mine),
            self.runs.success[mine],
            self.runs.runs[mine],
            self._fold[mine],
            np.ones(FOLDS + 1),
        )


def _raw(beta: Floats, log: _Log) -> Floats:
    """Weights of the features as given."""
    slope = beta[:, :-1] / log.spread
    return np.column_stack([slope, beta[:, -1] - slope @ log.centre])


def _standard(beta: Floats, log: _Log) -> Floats:
    """Weights of the standard features."""
    return np.append(beta[:-1] * log.spread, beta[-1] + beta[:-1] @ log.centre)


def _usable(start: Predictor | None, runs: Runs) -> Predictor | None:
    """The predictor to begin at, if it was fitted by this module."""
    if start is None or not start.links:
        return None
    wanted = _model_of(start).time.shape[1] - 1
    if runs.features.shape[1] != wanted or runs.feature_names != start.feature_names:
        raise InputError(
            f"have {runs.features.shape[1]} columns, or other names",
            where="features",
            allowed=f"the {wanted} columns that the predictor to start from was trained on",
            remedy="make the features as for its training, or leave start out",
        )
    return start


def _model_of(predictor: Predictor) -> LinearModel:
    (model,) = predictor.models
    if not isinstance(model, LinearModel):
        raise TypeError("a predictor with ridges is linear")  # see fit_runs
    return model


# ---- choices ----------------------------------------------------------------------------------


def _tuned(log: _Log) -> _Choices:
    """Link and ridges of the least loss on the rows that are held out."""
    links = LINKS if log.settings.link == "auto" else (log.settings.link,)
    found = [_cluster_losses(log, i, links) for i in range(len(log.runs.clusters))]
    time: dict[Link, Floats] = {
        link: np.stack([losses.time[link][..., 0] for losses in found], axis=2) for link in links
    }
    success = np.stack([losses.success[..., 0] for losses in found], axis=2)
    losses = LinearLosses(time, success)
    every = [losses.choice(k) for k in range(FOLDS)] + [losses.choice()]
    ridges = np.array([[choice.time, choice.success] for choice in every])
    return _Choices(tuple(choice.link for choice in every), ridges)


def _kept(start: Predictor, log: _Log) -> _Choices:
    """The choices of a predictor; clusters that it does not know have their own ridges."""
    links: tuple[Link, ...] = start.links  # type: ignore[assignment]
    ridges = np.empty((FOLDS + 1, 2, len(log.runs.clusters)))
    place = {name: i for i, name in enumerate(start.clusters)}
    for i, name in enumerate(log.runs.clusters):
        if name in place:
            ridges[:, :, i] = start.ridges[:, :, place[name]]
            continue
        losses = _cluster_losses(log, i, tuple(dict.fromkeys(links)))
        for c, link in enumerate(links):
            one = LinearLosses({link: losses.time[link]}, losses.success)
            choice = one.choice(None if c == FOLDS else c)
            ridges[c, :, i] = choice.time[0], choice.success[0]
    return _Choices(links, ridges)


def _cluster_losses(log: _Log, i: int, links: Sequence[Link]) -> LinearLosses:
    rows = log.times(i)
    time = {link: _path(rows, link, log.loss)[..., None] for link in links}
    return LinearLosses(time, _path(log.outcomes(i), "logistic", "raw")[..., None])


def _path(rows: FoldRows, link: Link, loss: Loss) -> Floats:
    """(F, ridges) loss on the rows held out, from the largest ridge to the least."""
    found = np.zeros((FOLDS, len(RIDGES)))
    if not len(rows.fold):
        return found
    beta = cold(rows, RIDGES[-1], link, loss)
    seen = rows.able[rows.fold]
    for r in range(len(RIDGES))[::-1]:
        beta = solve(rows, np.full(FOLDS + 1, RIDGES[r]), link, loss, beta, _ROUGH)
        mean = rows.mean(link, beta) / rows.unit[-1]
        target = rows.target / rows.unit[-1]
        error = np.log(mean) - np.log(target) if loss == "log" else mean - target
        squares = np.where(seen, rows.weight * error**2, 0.0)
        found[:, r] = np.bincount(rows.fold, squares, FOLDS)
    return found


# ---- one cluster ------------------------------------------------------------------------------


def _fit_cluster(log: _Log, i: int, choices: _Choices, before: Predictor | None) -> _Fitted:
    """The cluster's weights, and its intervals from the rows of each fold by the others' models."""
    name = log.runs.clusters[i]
    k = None if before is None or name not in before.clusters else before.clusters.index(name)
    rows, outcomes = log.times(i), log.outcomes(i)
    time, held = np.empty((FOLDS + 1, rows.design.shape[1])), np.empty(len(rows.fold))
    for link in dict.fromkeys(choices.links):
        mine = np.array([one == link for one in choices.links])
        begin = _begin(log, rows, choices.ridges[-1, 0, i], link, before, k)
        time[mine] = solve(rows, choices.ridges[:, 0, i], link, log.loss, begin)[mine]
        of_link = mine[rows.fold]
        held[of_link] = rows.mean(link, time)[of_link]
    error = np.abs(np.log(held) - np.log(rows.target))[rows.able[rows.fold]]
    success, scaling, gap = _chances(log, outcomes, choices.ridges[:, 1, i], before, k)
    return _Fitted(
        float(rows.unit[-1]),
        time[-1],
        success,
        scaling,
        float(conformal_radius(error[None], log.settings.level)[0]),
        gap,
    )


def _begin(
    log: _Log, rows: FoldRows, ridge: float, link: Link, before: Predictor | None, k: int | None
) -> Floats:
    """(F + 1, p) weights of times to begin at: the old ones in the new units, or a fit's."""
    if before is None or k is None or _model_of(before).link != link:
        return cold(rows, ridge, link, log.loss)
    model = _model_of(before)
    found = np.tile(_standard(model.time[k], log), (FOLDS + 1, 1))
    if link == "exp":
        found[:, -1] += np.log(model.scale[k] / rows.unit)
    return found


def _chances(
    log: _Log, rows: FoldRows, ridge: Floats, before: Predictor | None, k: int | None
) -> tuple[Floats, Floats, float]:
    """A cluster's weights of success, the scaling of its chances, and half its interval."""
    if not len(rows.fold):
        return np.zeros(rows.design.shape[1]), np.array([1.0, 0.0]), np.inf
    if before is None or k is None:
        begin = cold(rows, float(ridge[-1]), "logistic", "raw")
    else:
        begin = np.tile(_standard(_model_of(before).success[k], log), (FOLDS + 1, 1))
    beta = solve(rows, ridge, "logistic", "raw", begin)
    seen = rows.able[rows.fold]
    chance = np.where(seen, rows.mean("logistic", beta), 0.5)
    scaling = _scalings(rows, chance, seen)
    of = scaling[rows.fold]
    scaled = inverse_link("logistic", of[:, 0] * logit(chance) + of[:, 1])[0]
    miss = np.abs(scaled - rows.target)[seen]
    return beta[-1], scaling[-1], float(conformal_radius(miss[None], log.settings.level)[0])


def _scalings(rows: FoldRows, chance: Floats, seen: Bools) -> Floats:
    """(F + 1, 2) logistic scaling of the chances without each fold, and with all; see
    :func:`~walras.predict.models.calibration.fit_logistic`.
    """
    none = np.tile([1.0, 0.0], (FOLDS + 1, 1))
    score = logit(chance[seen])
    if not len(score) or np.ptp(score) < 1e-3:
        return none
    prior = np.full(len(score), 1.0 / len(score))
    fold = np.tile(rows.fold[seen], 2)
    order = np.argsort(fold, kind="stable")
    both = FoldRows(
        np.column_stack([np.tile(score, 2), np.ones(2 * len(score))])[order],
        np.concatenate([rows.target[seen], chance[seen]])[order],
        np.concatenate([rows.weight[seen], prior])[order],
        fold[order],
        np.ones(FOLDS + 1),
    )
    found = solve(both, np.full(FOLDS + 1, 1e-9), "logistic", "raw", none)
    return np.where(found[:, :1] > 0.0, found, none)  # an order upside down is noise
