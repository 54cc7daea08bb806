"""Cells of a comparison: what is asked for, checked before anything is trained."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import product
from typing import Any, Final

import numpy as np

from walras import checks
from walras.errors import InputError
from walras.learn.settings import LearnSettings, named
from walras.learn.training_problem import complete, draw
from walras.predict import SETTINGS, Recipe, Tasks, recipe
from walras.predict.recipes.recipes import DEFAULTS


@dataclass(frozen=True)
class RunConfig:
    """What a row of a comparison shares with the other methods' rows.

    Attributes:
        recipe: Name of the recipe.
        clusters: Its clusters.
        train_tasks: Tasks to train on.
        tasks_per_round: N.
        seed: Of split, rounds and training.
        test_rounds: Rounds judged.
        min_success: The floor, or None for one that binds in half of the rounds.
        options: Other options of the recipe.
    """

    recipe: str
    clusters: tuple[str, ...]
    train_tasks: int
    tasks_per_round: int
    seed: int
    test_rounds: int
    min_success: float | None
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def setting(self) -> str:
        """The letter of a known setting, else the clusters."""
        known = [name for name, own in SETTINGS.items() if own == self.clusters]
        return known[0] if known else "+".join(self.clusters)

    @property
    def name(self) -> str:
        """Of its file."""
        digest = hashlib.sha256(repr(self).encode()).hexdigest()[:8]
        sizes = f"{self.train_tasks}-n{self.tasks_per_round}-s{self.seed}"
        return f"{self.recipe}-{self.setting[:24]}-{sizes}-{digest}"

    def load(self, tasks: Tasks | None = None) -> Recipe:
        """The recipe with this cell's split, or the user's own tasks split by its seed."""
        if tasks is not None:
            return split_log(tasks, self.train_tasks, self.seed)
        return recipe(
            self.recipe,
            clusters=self.clusters,
            train_tasks=self.train_tasks,
            seed=self.seed,
            **dict(self.options),
        )


LOG: Final = "log"  # the name of the user's own tasks in a comparison
_PART = 0.25  # of a log's tasks that validate, and as many that judge


def split_log(tasks: Tasks, train_tasks: int, seed: int) -> Recipe:
    """Split a log's tasks: a quarter judges, a quarter validates, of the rest some train.

    Args:
        tasks: The tasks.
        train_tasks: How many train.
        seed: Of the split.

    Raises:
        InputError: Fewer tasks are left to train on.
    """
    order = np.random.default_rng((seed, 28)).permutation(len(tasks))
    held = round(_PART * len(tasks))
    test, validation, rest = np.split(order, [held, 2 * held])
    if len(rest) < train_tasks:
        raise InputError(
            f"asks for {train_tasks}, and half of the log's {len(tasks)} tasks is held out",
            where="train_tasks",
            allowed=f"at most {len(rest)}",
            remedy="lower it, or log more tasks",
        )
    parts = [tasks.take(np.sort(part)) for part in (rest[:train_tasks], validation, test)]
    return Recipe(
        name=LOG,
        train=parts[0],
        validation=parts[1],
        test=parts[2],
        fail=np.full(len(tasks.clusters), np.nan),
        speedup=None,
        measured="times and outcomes of the log",
        composed="",
        source=LOG,
        origin="the user's log",
    )


def grid(
    settings: Sequence[Sequence[str] | str] | None,
    train_tasks: Sequence[int],
    tasks_per_round: Sequence[int],
    seeds: int | Sequence[int],
    rest: Mapping[str, Any],
    tasks: Tasks | None = None,
) -> list[RunConfig]:
    """Every setting with every size and seed, each once; see :func:`walras.learn.compare`.

    Args:
        settings: Lists of clusters, or letters; the recipe's own clusters if None.
        train_tasks: Sizes.
        tasks_per_round: Sizes of rounds.
        seeds: How many, or which.
        rest: The cell's other fields.
        tasks: The user's own, in place of a recipe's.

    Raises:
        InputError: Nothing is asked for, a size or seed is out of range, clusters are unknown, or
            tasks are too few: checked before anything is trained.
    """
    sizes = {"train_tasks": train_tasks, "tasks_per_round": tasks_per_round}
    asked: Mapping[str, object] = sizes
    for name, given in asked.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InputError(
                f"is {given!r}",
                where=name,
                allowed="a list of whole numbers",
                remedy=f"write {name}=[{given}]",
            )
    _check_options(rest["options"])
    trained, per_round, (test_rounds,) = (
        [checks.whole(value, f"setting {name}", 1, 10**9) for value in values]
        for name, values in (*sizes.items(), ("test_rounds", [rest["test_rounds"]]))
    )
    rest = {**rest, "test_rounds": test_rounds}
    drawn = range(seeds) if isinstance(seeds, int) else seeds
    drawn = [checks.whole(seed, "setting seeds") for seed in drawn]
    known = DEFAULTS.get(rest["recipe"], ()) if tasks is None else tasks.clusters
    own = [known] if settings is None else map(_clusters, settings)
    cells = [
        RunConfig(clusters=clusters, train_tasks=train, tasks_per_round=size, seed=seed, **rest)
        for clusters, train, size, seed in product(own, trained, per_round, drawn)
    ]
    if not cells:
        _refuse_nothing()
    for cell in {(c.clusters, c.train_tasks, c.tasks_per_round): c for c in cells[::-1]}.values():
        data = cell.load(tasks)
        for name in ("train", "validation", "test"):
            pool, part = (
                complete(getattr(data, name)),
                f"the {'recipe' if tasks is None else LOG}'s {name} set",
            )
            draw(pool, 1, cell.tasks_per_round, (0,), part)  # raises where tasks are too few
    return list(dict.fromkeys(cells))


def _check_options(options: Sequence[tuple[str, Any]]) -> None:
    fields = {"name", "clusters", "train_tasks", "seed"}  # the cell's own
    known = sorted(set(signature(recipe).parameters) - fields)
    checks.known_keys([name for name, _ in options], known, "recipe_options")


def _refuse_nothing() -> None:
    raise InputError(
        "asks for nothing",
        where="compare",
        allowed="a method, a setting, a size and a seed",
        remedy="give at least one of each",
    )


def _clusters(given: Sequence[str] | str) -> tuple[str, ...]:
    if not isinstance(given, str):
        return tuple(given)
    return SETTINGS[checks.one_of(given, "settings", SETTINGS, "setting")]


def by_name(
    methods: Sequence[str | LearnSettings] | Mapping[str, LearnSettings], changes: Mapping[str, Any]
) -> dict[str, LearnSettings]:
    """Methods with their settings, all judged under the same terms.

    Raises:
        InputError: There is none, a name is unknown or there twice, or their terms differ.
    """
    found = _named([methods] if isinstance(methods, str) else methods, changes)
    if not found:
        _refuse_nothing()
    first, *others = found.items()
    for name, own in others:
        for term in ("objective", "price", "speedup"):
            mine, theirs = getattr(own, term), getattr(first[1], term)
            if mine != theirs:
                raise InputError(
                    f"'{name}' has {term} {mine!r}, '{first[0]}' has {theirs!r}",
                    where="methods",
                    allowed="the same objective, price and speedup: they enter the regret",
                    remedy=f"give {term}={mine!r} to all, or compare them apart",
                )
    return found


def _named(
    methods: Sequence[str | LearnSettings] | Mapping[str, LearnSettings], changes: Mapping[str, Any]
) -> dict[str, LearnSettings]:
    if isinstance(methods, Mapping):
        return {name: own.with_(**changes) for name, own in methods.items()}
    made = [m if isinstance(m, LearnSettings) else named(m) for m in methods]
    names = [m.method for m in made]
    remedy = "give a mapping from names of your own to settings"
    checks.distinct(names, "methods", "method", remedy=remedy)
    return {m.method: m.with_(**changes) for m in made}
