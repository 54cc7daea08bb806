"""Predictors: trained models with calibrated intervals and probabilities; saved without pickle."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from walras import checks
from walras.errors import DataError, InputError
from walras.files import reason_of, replacing
from walras.predict.models.calibration import apply_logistic, logit
from walras.predict.models.glm import inverse_link
from walras.predict.models.model import Arrays, AverageModel, LinearModel, Model
from walras.predict.tasks import Tasks, tasks_of
from walras.predict.unseen import unseen
from walras.saving import saved_fields
from walras.short_repr import short_repr
from walras.types import Bools, Floats

_FORMAT = 1
_ARRAYS = ("times", "success", "low", "high", "success_low", "success_high", "spread")
_TILT = {"ucb-optimistic": -1.0, "ucb-pessimistic": 1.0}


@short_repr
@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted time and success of tasks on clusters, with intervals.

    Attributes:
        names: Name of each task; length N.
        clusters: Name of each cluster; length M.
        times: (M, N) seconds, > 0; the numbers to pass to a matching.
        success: (M, N) probability of success.
        low: (M, N) seconds: lower end of the interval; 0 where too few tasks were measured to
            promise the level.
        high: (M, N) seconds: its upper end; infinite there.
        success_low: (M, N) lower end of the interval of the probability.
        success_high: (M, N) its upper end.
        spread: (M, N) standard deviation of log time among the models of an ensemble; 0 for one.
        level: Probability that an interval holds.
        known: (M,) whether the predictor was trained on the cluster; else its numbers are a prior
            from the other clusters, with intervals as wide as these differ.

    Example:
        >>> from walras.predict import fit, recipe
        >>> jobs = recipe("gavel", train_tasks=12, synthetic=True)
        >>> found = fit(jobs.train, jobs.validation).predict(jobs.test)
        >>> found.clusters, found.times.shape
        (('v100', 'p100', 'k80'), (3, 34))
        >>> list(found.frame().columns)[:4]
        ['task', 'cluster', 'times', 'low']
    """

    names: tuple[str, ...]
    clusters: tuple[str, ...]
    times: Floats
    success: Floats
    low: Floats
    high: Floats
    success_low: Floats
    success_high: Floats
    spread: Floats
    level: float
    known: Bools = field(default_factory=lambda: np.ones(0, np.bool_))

    def __post_init__(self) -> None:
        if not self.known.size:
            object.__setattr__(self, "known", np.ones(len(self.clusters), np.bool_))

    def frame(self) -> pd.DataFrame:
        """One row a task and cluster: ``task``, ``cluster``, the arrays, and ``known``."""
        arrays = ("times", "low", "high", "success", "success_low", "success_high", "spread")
        columns = {name: getattr(self, name).T.ravel() for name in arrays}
        return pd.DataFrame(
            {
                "task": np.repeat(self.names, len(self.clusters)),
                "cluster": np.tile(self.clusters, len(self.names)),
                **columns,
                "known": np.tile(self.known, len(self.names)),
            }
        )


@short_repr
@dataclass(frozen=True, eq=False)
class Predictor:
    """A trained predictor of time and success on each cluster; :func:`fit` makes one.

    Attributes:
        clusters: Name of each cluster; length M.
        models: The models of the ensemble; one for ``tam`` and ``tsm``.
        method: As in :class:`~walras.predict.Training`.
        confidence: Standard deviations by which ``ucb`` moves.
        level: Probability that an interval holds.
        radius: (M,) half the interval of log time; infinite where too few tasks were held out to
            promise the level.
        success_radius: (M,) half the interval of the probability; infinite likewise.
        scaling: (M, 2) logistic scaling of the probabilities.
        trained_on: Number of tasks it was trained on.
        feature_names: Names of the features that it was trained on, where they had any.
        links: Links that were chosen without each fold of the tasks, and with all; of predictors
            that ``fit(tasks, start=predictor)`` refits quickly.
        ridges: (folds + 1, 2, M) ridges of time and success that were chosen likewise.

    Example:
        >>> from walras.predict import fit, load, recipe
        >>> jobs = recipe("gavel", train_tasks=12, synthetic=True)
        >>> predictor = fit(jobs.train, jobs.validation)
        >>> predictor.save("predictor.npz")
        >>> load("predictor.npz").predict(jobs.test).times.shape
        (3, 34)
    """

    clusters: tuple[str, ...]
    models: tuple[Model, ...]
    method: str
    confidence: float
    level: float
    radius: Floats
    success_radius: Floats
    scaling: Floats
    trained_on: int
    feature_names: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    ridges: Floats = field(default_factory=lambda: np.empty((0, 2, 0)))

    def predict(
        self, tasks: Tasks | pd.DataFrame, clusters: Sequence[str] | None = None
    ) -> Prediction:
        """Predict tasks that need not have run anywhere.

        Args:
            tasks: N tasks; their names, features and graphs are read, and where no clusters are
                given, theirs must be the predictor's. Or a frame of features, one row per task,
                whose index names the tasks. Columns are taken by name where the predictor knows the
                features' names, else in order.
            clusters: Names of M clusters, in any order; the predictor's if None. For one that it
                was not trained on, the prediction is a prior from the others: the geometric mean of
                their times, the mean logit of their chances, and an interval as wide as they
                differ. Of one known cluster, the interval is infinite.

        Returns:
            Times, success and intervals, (M, N) each.

        Raises:
            InputError: The features differ from those trained on, or the clusters of the tasks do,
                or a cluster is named twice.

        Example:
            >>> from walras.predict import fit, recipe
            >>> jobs = recipe("gavel", train_tasks=12, synthetic=True)
            >>> predictor = fit(jobs.train, jobs.validation)
            >>> found = predictor.predict(jobs.test, clusters=["k80", "h100"])
            >>> found.times.shape, found.known.tolist()
            ((2, 34), [True, False])
        """
        asked = None if clusters is None else _named(clusters)
        tasks = tasks_of(tasks, self.clusters, self.feature_names)
        if asked is None and tasks.clusters != self.clusters:
            raise InputError(
                f"are {', '.join(tasks.clusters)}",
                where="clusters of the tasks",
                allowed=", ".join(self.clusters),
                remedy="use the clusters trained on, in order",
            )
        times, success, spread, doubt = combined(self.models, tasks)
        success = apply_logistic(self.scaling, success)
        tilt = _TILT.get(self.method, 0.0) * self.confidence
        reach, gap = np.exp(self.radius)[:, None], self.success_radius[:, None]
        found = Prediction(
            tasks.names,
            self.clusters,
            times * np.exp(tilt * spread),
            _moved(success, -tilt * doubt),
            times / reach,
            times * reach,
            np.maximum(success - gap, 0.0),
            np.minimum(success + gap, 1.0),
            spread,
            self.level,
        )
        if asked is None or asked == self.clusters:
            return found
        return self._on(asked, found, times, success)

    def _on(
        self, clusters: tuple[str, ...], found: Prediction, times: Floats, success: Floats
    ) -> Prediction:
        """The prediction on other clusters; those that are not known have the prior."""
        place = {name: i for i, name in enumerate(self.clusters)}
        known = np.array([name in place for name in clusters], np.bool_)
        rows = [place.get(name, 0) for name in clusters]
        arrays = {name: getattr(found, name)[rows] for name in _ARRAYS}
        if not known.all():
            radii = self.radius, self.success_radius
            prior = vars(unseen(times, success, self.level, *radii))
            tilted = unseen(found.times, found.success, self.level, *radii)
            prior |= {"times": tilted.times, "success": tilted.success}
            prior["spread"] = found.spread.mean(axis=0)
            for name, array in arrays.items():
                array[~known] = prior[name]
        return Prediction(found.names, clusters, **arrays, level=self.level, known=known)

    @staticmethod
    def load(path: str | Path, module: Callable[[], Any] | None = None) -> Predictor:
        """Read a predictor that :meth:`save` wrote; see :func:`walras.predict.load`.

        Args:
            path: The file.
            module: For a torch module of your own: a function that makes it; the weights go into
                it.

        Returns:
            The predictor.
        """
        return load(path, module)

    def to_saved(self) -> dict[str, Any]:
        """Its fields, the models by their states."""
        states = [model.state() for model in self.models]
        return saved_fields(self, "models") | {"states": states}

    @classmethod
    def from_saved(cls, parts: Mapping[str, Any]) -> Predictor:
        """The predictor of what :meth:`to_saved` gave."""
        given = dict(parts)
        models = tuple(_model(state, arrays, None) for state, arrays in given.pop("states"))
        return cls(models=models, **given)

    def save(self, path: str | Path) -> None:
        """Write the predictor to an ``.npz`` file: arrays and JSON, no pickle.

        Args:
            path: The file to write.

        Raises:
            DataError: The file cannot be written.
        """
        with replacing(path) as fresh, fresh.open("wb") as stream:
            np.savez(stream, **self._arrays())

    def _arrays(self) -> dict[str, Any]:
        """What its file holds."""
        settings: list[dict[str, Any]] = []
        arrays: dict[str, Any] = {}
        for k, model in enumerate(self.models):
            state, found = model.state()
            settings.append(state)
            arrays |= {f"model{k}.{name}": array for name, array in found.items()}
        header = {
            "format": _FORMAT,
            "clusters": self.clusters,
            "method": self.method,
            "confidence": self.confidence,
            "level": self.level,
            "trained_on": self.trained_on,
            "feature_names": self.feature_names,
            "links": self.links,
            "models": settings,
        }
        if self.links:
            arrays["ridges"] = self.ridges
        arrays |= {"radius": self.radius, "success_radius": self.success_radius}
        arrays |= {"scaling": self.scaling, "header": np.array(json.dumps(header))}
        return arrays

    def to_bytes(self) -> bytes:
        """The bytes of the file that :meth:`save` writes.

        Returns:
            They are the same for the same predictor.
        """
        stream = io.BytesIO()
        np.savez(stream, **self._arrays())
        return stream.getvalue()

    @staticmethod
    def from_bytes(data: bytes) -> Predictor:
        """The predictor of what :meth:`to_bytes` gave.

        Args:
            data: The bytes.

        Returns:
            The predictor.

        Raises:
            DataError: They are damaged.
        """
        return _read(io.BytesIO(data), "the bytes", None)


def combined(models: tuple[Model, ...], tasks: Tasks) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean time and probability of an ensemble, with its spread in log time and in logits."""
    found = [model.predict(tasks) for model in models]
    times = np.array([time for time, _ in found])
    success = np.array([chance for _, chance in found])
    if len(models) == 1:
        none = np.zeros(times.shape[1:])
        return times[0], success[0], none, none
    return (
        times.mean(axis=0),
        success.mean(axis=0),
        np.log(times).std(axis=0, ddof=1),
        logit(success).std(axis=0, ddof=1),
    )


def _named(clusters: Sequence[str]) -> tuple[str, ...]:
    return checks.distinct(clusters, "clusters", "cluster", remedy="name each cluster once")


def _moved(probability: Floats, by: Floats) -> Floats:
    return probability if not by.any() else inverse_link("logistic", logit(probability) + by)[0]


def load(path: str | Path, module: Callable[[], Any] | None = None) -> Predictor:
    """Read a predictor that :meth:`Predictor.save` wrote.

    Args:
        path: The file.
        module: For a torch module of your own: a function that makes it; the weights go into it.

    Returns:
        The predictor.

    Raises:
        DataError: The file is missing, damaged, or was not written by Walras.
        InputError: A module of your own is needed, or does not fit the weights.

    Example:
        >>> from walras.predict import fit, load, recipe
        >>> jobs = recipe("gavel", train_tasks=12, synthetic=True)
        >>> fit(jobs.train, jobs.validation).save("predictor.npz")
        >>> load("predictor.npz").clusters
        ('v100', 'p100', 'k80')
    """
    try:
        with Path(path).open("rb") as stream:
            return _read(stream, str(path), module)
    except OSError as error:
        raise _damaged(error, str(path)) from error


def _damaged(error: Exception, where: str) -> DataError:
    return DataError(
        f"cannot be read as a predictor: {reason_of(error)}",
        where=where,
        allowed="a file written by Predictor.save",
        remedy="train and save it again",
    )


def _read(stream: IO[bytes], where: str, module: Callable[[], Any] | None) -> Predictor:
    try:
        with np.load(stream, allow_pickle=False) as stored:
            arrays = dict(stored)
        header = json.loads(str(arrays.pop("header")))
        if header["format"] != _FORMAT:
            raise ValueError(f"it has format {header['format']}, not {_FORMAT}")
        models = tuple(
            _model(state, _under(arrays, f"model{k}."), module)
            for k, state in enumerate(header["models"])
        )
        return Predictor(
            tuple(header["clusters"]),
            models,
            header["method"],
            header["confidence"],
            header["level"],
            arrays["radius"],
            arrays["success_radius"],
            arrays["scaling"],
            header["trained_on"],
            tuple(header.get("feature_names", ())),
            tuple(header.get("links", ())),
            arrays.get("ridges", np.empty((0, 2, 0))),
        )
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise _damaged(error, where) from error


def _under(arrays: Arrays, prefix: str) -> dict[str, Any]:
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}


def _model(state: dict[str, Any], arrays: Arrays, module: Callable[[], Any] | None) -> Model:
    if state["kind"] == "average":
        return AverageModel(arrays["time"], arrays["success"])
    if state["kind"] == "linear":
        return LinearModel(state["link"], arrays["scale"], arrays["time"], arrays["success"])
    # Imported here: torch is an optional extra.
    from walras.predict.models.networks import restore  # noqa: PLC0415

    return restore(state, arrays, module)
