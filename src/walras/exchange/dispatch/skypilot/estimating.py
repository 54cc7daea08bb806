"""Run times for SkyPilot's optimizer, from a predictor of Walras."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from walras import checks
from walras.errors import InaccuracyWarning, InputError
from walras.exchange.client import Client
from walras.exchange.dispatch.skypilot.resources import Labels, Resources, asked, matching
from walras.predict import Predictor
from walras.predict import load as load_predictor

_UNSEEN = "of-no-cluster"  # asked for beside the clusters: the answer is the prior
_ASKED = 199  # clusters that one request asks for, beside the one above
_WAYS = ("prior", "refuse")
_LONGEST = 1e9  # seconds; as long as a run that the exchange learns from may take


@dataclass(frozen=True)
class Estimator:
    """Seconds that a task takes on resources; :func:`estimator` makes one.

    Attributes:
        clusters: Name -> labels of each cluster that is predicted.
        seconds: Name -> seconds predicted for the task.
        prior: Seconds for resources that match no cluster.
        unknown: What happens for those: ``prior`` or ``refuse``.

    Example:
        >>> from types import SimpleNamespace
        >>> from walras.exchange.dispatch.skypilot import Estimator
        >>> estimate = Estimator({"a": {"gpu": "A100", "gpus": "8"}}, {"a": 90.4}, prior=300.0)
        >>> estimate(SimpleNamespace(accelerators={"A100": 8}))
        90
    """

    clusters: Mapping[str, Labels]
    seconds: Mapping[str, float]
    prior: float
    unknown: str = "prior"
    _warned: set[str] = field(default_factory=set, repr=False, compare=False)

    def __call__(self, resources: Resources) -> int:
        """Seconds that the task takes on resources, a whole number of at least 1.

        Args:
            resources: As SkyPilot gives them: with what the user wrote, and nothing else.

        Returns:
            The mean of the clusters that the resources may become.

        Raises:
            InputError: No cluster matches, and ``unknown`` is ``refuse``.
        """
        wanted = asked(resources)
        found = matching(wanted, self.clusters)
        if found:
            return _whole(math.fsum(self.seconds[name] for name in found) / len(found))
        if self.unknown == "refuse":
            raise InputError(
                f"no cluster of the predictor matches {wanted.words}",
                where="resources",
                allowed="resources that become one of " + ", ".join(list(self.clusters)[:5]),
                remedy="import such a cluster and run tasks there, or make the estimator "
                "with unknown='prior'",
            )
        if wanted.words not in self._warned:
            self._warned.add(wanted.words)
            warnings.warn(
                f"no cluster of the predictor matches {wanted.words}: the time is that of the "
                "others, their geometric mean",
                InaccuracyWarning,
                stacklevel=2,
            )
        return _whole(self.prior)


def estimator(
    model: str | Path | Predictor | Client,
    features: Mapping[str, float],
    clusters: Mapping[str, Labels] | None = None,
    *,
    unknown: Literal["prior", "refuse"] = "prior",
    retries: bool = False,
) -> Estimator:
    """Make a time estimator for ``sky.Task.set_time_estimator``.

    The task is predicted once, here, on every cluster; the estimator looks its answer up. Resources
    match a cluster by its labels ``cloud``, ``region``, ``zone``, ``instance``, ``gpu``, ``gpus``,
    ``vcpus``, ``memory`` and ``spot``. Those that are not given match all.

    SkyPilot calls it with the resources that the user wrote, before it has chosen a machine, and
    takes the answer for every machine that those resources may become. So it sees a cloud only
    where the user lists one, such as by several ``resources``. It sees no number of nodes, no
    set-up, no transfer of data, and no queue. Chances of success play no part in SkyPilot. Call
    SkyPilot's ``Optimizer`` in the same process: its client sends tasks as YAML, which holds no
    estimator.

    Args:
        model: A file that ``Predictor.save`` wrote, a predictor, or a client of an exchange, whose
            predictor in force answers.
        features: Of the task, by name.
        clusters: Name -> labels of the predictor's clusters, such as those of ``read_catalog``. Of
            an exchange, its own clusters and labels if None.
        unknown: What to return for resources that match no cluster that the predictor knows.
            ``prior``: the geometric mean of its clusters, as rounds take it, with an
            :class:`~walras.InaccuracyWarning` the first time. ``refuse``: raise an error.
        retries: Whether to divide the seconds by the chance of success: the time until a run
            succeeds, if failed runs take as long.

    Returns:
        The estimator: ``Callable[[Resources], int]``, seconds of at least 1.

    Raises:
        InputError: The predictor knows none of the clusters, or a feature is missing.
        DataError: The file cannot be read.
        ExchangeError: The exchange refuses the request, or does not answer.

    Example:
        >>> from types import SimpleNamespace
        >>> import numpy as np
        >>> from walras import predict
        >>> from walras.exchange.dispatch.skypilot import estimator
        >>> layers = np.linspace(10.0, 120.0, 12)
        >>> runs = predict.Tasks(
        ...     names=tuple(f"run{k}" for k in range(12)),
        ...     clusters=("fast", "slow"),
        ...     features=layers[:, None],
        ...     times=np.array([20.0 * layers, 55.0 * layers]),
        ...     success=np.ones((2, 12)),
        ...     feature_names=("layers",),
        ... )
        >>> labels = {"fast": {"gpu": "A100", "gpus": "8"}, "slow": {"gpu": "V100", "gpus": "8"}}
        >>> estimate = estimator(predict.fit(runs), {"layers": 50.0}, labels)
        >>> fast, slow = (
        ...     estimate(SimpleNamespace(accelerators={gpu: 8}))  # as sky.Resources
        ...     for gpu in ("A100", "V100")
        ... )
        >>> round(slow / fast, 2)  # 55 / 20
        2.75
    """
    checks.one_of(unknown, "unknown", _WAYS)
    if isinstance(model, Client):
        labels, seconds, prior = _asked_of(model, features, clusters, retries)
    else:
        known = model if isinstance(model, Predictor) else load_predictor(model)
        labels, seconds, prior = _predicted(known, features, clusters, retries)
    return Estimator(labels, seconds, prior, unknown)


_Times = tuple[dict[str, Labels], dict[str, float], float]
"""Labels and seconds of the clusters, and the seconds of one that is not known."""


def _predicted(
    predictor: Predictor,
    features: Mapping[str, float],
    clusters: Mapping[str, Labels] | None,
    retries: bool,
) -> _Times:
    """What a predictor says."""
    if clusters is None:
        raise InputError(
            "are missing",
            where="clusters",
            allowed="the labels of the predictor's clusters: " + ", ".join(predictor.clusters[:5]),
            remedy="give name -> labels, such as those of read_catalog(FILE).clusters",
        )
    names = [name for name in clusters if name in predictor.clusters]
    _check_known(names, clusters, predictor.clusters)
    row = {name: checks.number(value, f"feature {name}") for name, value in features.items()}
    missing = [name for name in predictor.feature_names if name not in row]
    if missing:
        raise InputError(
            f"feature '{missing[0]}' is missing",
            where="features",
            allowed=", ".join(predictor.feature_names),
            remedy="give every feature that the predictor was trained on",
        )
    read = {name: row[name] for name in predictor.feature_names} or row
    unseen = next(f"{_UNSEEN}{k}" for k in range(len(names) + 1) if f"{_UNSEEN}{k}" not in clusters)
    found = predictor.predict(pd.DataFrame([read]), [*names, unseen])
    chances = found.success[:, 0] if retries else np.ones(len(found.clusters))
    *times, prior = map(_until_success, found.times[:, 0].tolist(), chances.tolist())
    return (
        {name: clusters[name] for name in names},
        dict(zip(names, times, strict=True)),
        prior,
    )


def _asked_of(
    client: Client,
    features: Mapping[str, float],
    clusters: Mapping[str, Labels] | None,
    retries: bool,
) -> _Times:
    """What an exchange says."""
    if clusters is None:
        clusters = {one.uid: one.labels for one in client.clusters.list()}
    names, seconds, prior = list(clusters), dict[str, float](), math.nan
    for begin in range(0, len(names), _ASKED):
        part = [*names[begin : begin + _ASKED], _UNSEEN]
        for one in client.predictors.predict(features, part).items:
            time = _until_success(one.seconds, one.chance if retries else 1.0)
            if one.known and one.cluster in clusters:
                seconds[one.cluster] = time
            elif one.cluster == _UNSEEN:
                prior = time
    _check_known(list(seconds), clusters, ())
    return {name: clusters[name] for name in seconds}, seconds, prior


def _check_known(
    found: Sequence[str], clusters: Mapping[str, Labels], known: Sequence[str]
) -> None:
    """Refuse a predictor that knows none of the clusters: every answer would be its prior.

    Raises:
        InputError: It knows none.
    """
    if found:
        return
    named = ", ".join(list(clusters)[:5]) or "there is none"
    raise InputError(
        f"the predictor knows none of them with these features ({named})",
        where="clusters",
        allowed=", ".join(known[:5]) or "clusters on which tasks with these features have run",
        remedy="name the clusters as the predictor does; walras predictor list shows whether there "
        "is one in force",
    )


def _until_success(seconds: float, chance: float) -> float:
    """Seconds until a run succeeds, if runs of the same length follow each other."""
    return seconds / chance if chance > 0.0 else math.inf


def _whole(seconds: float) -> int:
    """Seconds as SkyPilot takes them."""
    return max(round(min(seconds, _LONGEST)), 1)
