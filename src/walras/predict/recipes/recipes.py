"""Recipes: tasks, clusters and splits made of measured data, to train and compare on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.data.dataset import Source
from walras.data.gavel import CLUSTERS as GAVEL_CLUSTERS
from walras.data.zeus import GPUS
from walras.errors import InputError
from walras.predict.recipes.pools import SETTINGS, Pool, Requests, gavel_pool, nb201_pool, zeus_pool
from walras.predict.tasks import Tasks
from walras.short_repr import short_repr
from walras.types import Floats, Longs

Split = Literal["train", "validation", "test"]
Match = Callable[[Floats, Floats], npt.NDArray[np.integer[Any]]]
"""Places the tasks of rounds: (rounds, M, N) times and success to the (rounds, N) clusters."""

RECIPES = ("nb201", "gavel", "zeus")
DEFAULTS = {"nb201": SETTINGS["A"], "gavel": GAVEL_CLUSTERS, "zeus": GPUS}


@short_repr
@dataclass(frozen=True, eq=False)
class Recipe:
    """Tasks on clusters, split into training, validation and test sets.

    Attributes:
        name: ``nb201``, ``gavel`` or ``zeus``.
        train: Tasks to train on.
        validation: Tasks to tune and calibrate on.
        test: Tasks that no choice depends on.
        fail: (M,) failure rate given to each cluster.
        speedup: (M,) measured median time of two jobs at once over one after the other, or None.
        measured: What was measured, in words.
        composed: What was composed from measurements made elsewhere, in words.
        source: Whether the numbers are measured or a synthetic stand-in's.
        origin: Where they come from.

    Example:
        >>> from walras.predict import recipe
        >>> jobs = recipe("gavel", train_tasks=12, synthetic=True)
        >>> jobs.clusters, len(jobs.train), jobs.synthetic
        (('v100', 'p100', 'k80'), 12, True)
        >>> jobs.rounds(tasks=3, count=2).shape
        (2, 3)
    """

    name: str
    train: Tasks
    validation: Tasks
    test: Tasks
    fail: Floats
    speedup: Floats | None
    measured: str
    composed: str
    source: Source
    origin: str

    @property
    def clusters(self) -> tuple[str, ...]:
        """Name of each cluster."""
        return self.train.clusters

    @property
    def synthetic(self) -> bool:
        """Whether the numbers are drawn from a model instead of measured."""
        return self.source != "measured"

    @property
    def provenance(self) -> str:
        """What was measured, composed or drawn from a model, in one or two sentences."""
        if self.synthetic:
            return f"Synthetic, nothing here was measured: {self.origin}."
        return f"Measured: {self.measured}. Composed: {self.composed}."

    def rounds(
        self, split: Split = "test", *, tasks: int = 5, count: int = 300, seed: int = 0
    ) -> Longs:
        """Draw rounds of tasks from a split, without repeats within a round.

        Args:
            split: ``train``, ``validation`` or ``test``.
            tasks: Number of tasks per round.
            count: Number of rounds.
            seed: Seed of the draw.

        Returns:
            (count, tasks) positions in the split.

        Raises:
            InputError: A round asks for more tasks than the split has, or for none.
        """
        pool = len(getattr(self, split))
        words = f", the tasks of split '{split}'"
        tasks = checks.whole(tasks, "tasks", 1, pool, words=words, remedy="draw smaller rounds")
        random = np.random.default_rng((seed, ("train", "validation", "test").index(split)))
        return np.array([random.choice(pool, tasks, replace=False) for _ in range(count)])

    def min_success(
        self, match: Match, *, tasks: int = 5, count: int = 200, seed: int = 0
    ) -> float:
        """The floor that binds in about half of the rounds.

        It is the median, over rounds of training tasks, of the mean success of the placement with
        the least makespan.

        Args:
            match: Places rounds without a floor, such as ``lambda t, a: match_rounds(t, a,
                0.0).assignment`` with :func:`walras.matching.match_rounds`.
            tasks: Number in a round.
            count: Number of rounds.
            seed: Seed of the draw.

        Returns:
            The floor, 0 to 1.
        """
        chosen = self.rounds("train", tasks=tasks, count=count, seed=seed)
        times, success = in_rounds(self.train.times, chosen), in_rounds(self.train.success, chosen)
        placed = match(times, success)
        reached = np.take_along_axis(success, placed[:, None, :].astype(np.int64), axis=1)
        return float(np.median(reached.mean(axis=(1, 2))))


def in_rounds(values: Floats, chosen: Longs) -> Floats:
    """Gather the values of the tasks of each round.

    Args:
        values: (M, tasks) times or success.
        chosen: (rounds, N) positions, as from :meth:`Recipe.rounds`.

    Returns:
        (rounds, M, N) values, as :func:`walras.matching.match_rounds` takes them.

    Example:
        >>> from walras.predict import in_rounds, recipe
        >>> jobs = recipe("gavel", train_tasks=12, synthetic=True)
        >>> in_rounds(jobs.test.times, jobs.rounds(tasks=3, count=5)).shape
        (5, 3, 3)
    """
    return np.ascontiguousarray(values[:, chosen].transpose(1, 0, 2))


def recipe(
    name: str,
    *,
    clusters: Sequence[str] | str | None = None,
    train_tasks: int = 100,
    validation_tasks: int = 1000,
    test_tasks: int = 2000,
    requests: Requests = "constant",
    seed: int = 0,
    synthetic: bool | None = None,
) -> Recipe:
    """Build tasks on clusters from measured data, or from their synthetic stand-in.

    Args:
        name: ``nb201`` (forward passes on GPUs, CPUs and phones), ``gavel`` (training jobs) or
            ``zeus`` (training configurations, with measured success).
        clusters: Columns of the data set, two or more, or one of the settings ``A`` to ``D`` of
            ``nb201``; a setting of three, or all GPUs, when left out.
        train_tasks: Number of tasks to train on.
        validation_tasks: Number of tasks to tune and calibrate on. ``gavel`` and ``zeus`` are
            small: they split the tasks that training leaves into two halves instead.
        test_tasks: Number of tasks to test on.
        requests: Forward passes of an ``nb201`` task: the same for all, or lognormal with their
            logarithm as one more feature.
        seed: Seed of the split.
        synthetic: True for the stand-in, False for the real set only; see
            :func:`walras.data.load`.

    Returns:
        The three sets of tasks, with the failure rates of the clusters.

    Raises:
        InputError: A name is unknown, or there are too few tasks.
        DataError: A data set cannot be read, or is wanted and not found.

    Example:
        >>> from walras.predict import recipe
        >>> jobs = recipe("gavel", train_tasks=12, synthetic=True)
        >>> len(jobs.train), len(jobs.validation), len(jobs.test)
        (12, 34, 34)
    """
    checks.one_of(name, "name", RECIPES, "recipe")
    names = _clusters(name, clusters)
    rng = np.random.default_rng(seed)
    if name == "nb201":
        pool = nb201_pool(names, requests, rng, synthetic)
        sizes = [train_tasks, validation_tasks, test_tasks]
    else:
        pool = (gavel_pool if name == "gavel" else zeus_pool)(names, synthetic)
        left = len(pool.tasks) - train_tasks
        sizes = [train_tasks, left // 2, left - left // 2]
    if min(sizes) < 1 or sum(sizes) > len(pool.tasks):
        others = f", {validation_tasks} to tune, {test_tasks} to judge" if name == "nb201" else ""
        raise InputError(
            f"asks for {train_tasks} tasks to train on{others}",
            where=f"recipe '{name}'",
            allowed=f"{len(pool.tasks)} in all, at least one each to train, tune and judge on",
            remedy="ask for fewer",
        )
    order = rng.permutation(len(pool.tasks))
    ends = np.cumsum(sizes)
    parts = [np.sort(order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
    return _assembled(name, pool, parts)


def _clusters(name: str, clusters: Sequence[str] | str | None) -> tuple[str, ...]:
    if isinstance(clusters, str):
        if name != "nb201" or clusters not in SETTINGS:
            raise InputError(
                f"there is no setting '{clusters}'",
                where="clusters",
                allowed=f"{', '.join(SETTINGS)} of 'nb201', or a list of clusters",
                remedy="name the clusters",
            )
        return SETTINGS[clusters]
    names = tuple(clusters or DEFAULTS[name])
    if len(set(names)) < len(names) or len(names) < 2:
        raise InputError(
            f"are {', '.join(names)}",
            where="clusters",
            allowed="two or more different ones",
            remedy="name each cluster once",
        )
    return names


def _assembled(name: str, pool: Pool, parts: Sequence[Longs]) -> Recipe:
    mean = pool.tasks.times[:, parts[0]].mean(axis=1)
    train, validation, test = (_with_success(pool, part, mean) for part in parts)
    return Recipe(
        name,
        train,
        validation,
        test,
        pool.fail,
        pool.speedup,
        pool.measured,
        pool.composed,
        pool.source,
        pool.origin,
    )


def _with_success(pool: Pool, part: Longs, mean: Floats) -> Tasks:
    """A = share exp(-f T / mean T), or share (1 - f) where failures do not grow with time."""
    tasks = pool.tasks.take(part)
    risk = pool.fail[:, None] * tasks.times / mean[:, None]
    kept = np.exp(-risk) if pool.hazard else np.broadcast_to(1.0 - pool.fail[:, None], risk.shape)
    success = pool.share[part] * kept
    return Tasks(
        tasks.names, tasks.clusters, tasks.features, tasks.times, success, graphs=pool.graphs(part)
    )
