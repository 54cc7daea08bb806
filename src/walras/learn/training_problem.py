"""What is trained on, and how predictions are judged: rounds, floor, price, oracle."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from walras import checks
from walras.errors import InputError
from walras.learn.linear import place_linear
from walras.learn.settings import LearnSettings
from walras.matching import (
    Decay,
    Outcome,
    Scores,
    elastic_regret,
    evaluate,
    match_rounds,
    scores,
)
from walras.matching.round import FLOOR_ROUNDING
from walras.predict import Recipe, Tasks, in_rounds
from walras.types import Floats, Ints, Longs

NODES = 100_000  # nodes a round; about 50 ms. Rounds of 25 tasks may stop at it
MARGINS = np.array([-0.06, -0.04, -0.02, -0.01, 0.0, 0.01, 0.02, 0.04, 0.06, 0.1])
_HELD_OUT = 0.25  # of a log's tasks, to validate on


@dataclass(frozen=True, eq=False)
class PlacementRule:
    """What rounds are placed under.

    Attributes:
        floor: Least mean success.
        price: Seconds that a unit of missing mean success costs.
        scale: Seconds of an even load, the unit of training.
        objective: ``makespan`` or ``sum``.
        speedup: Of tasks that run together, or None.
    """

    floor: float
    price: float
    scale: float
    objective: str = "makespan"
    speedup: Decay | None = None

    def place(
        self, times: Floats, success: Floats, decoder: str = "elastic", margin: float = 0.0
    ) -> Ints:
        """(rounds, tasks) clusters of the exact placements on (rounds, clusters, tasks) numbers.

        Args:
            times: Seconds.
            success: Chances.
            decoder: ``elastic`` or ``hard``.
            margin: Added to the floor.
        """
        if self.objective == "sum":
            return place_linear(times, success, self.floor)
        return match_rounds(
            times,
            success,
            min(max(self.floor + margin, 0.0), 1.0),
            self.speedup,
            shortfall_price=self.price if decoder == "elastic" else None,
            node_limit=NODES,
            threads=1,
        ).assignment


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Rounds whose true times and success are known, with their oracles.

    Attributes:
        tasks: The tasks.
        rounds: (K, N) positions of each round's tasks.
        terms: Floor, price and the rest.
    """

    tasks: Tasks
    rounds: Longs
    terms: PlacementRule

    @cached_property
    def truth(self) -> tuple[Floats, Floats]:
        """(K, M, N) true times and chances."""
        return self.of(self.tasks.times), self.of(self.tasks.success)

    def of(self, values: Floats) -> Floats:
        """(K, M, N) values of the rounds' tasks, from (M, tasks)."""
        return in_rounds(values, self.rounds)

    def outcome(self, placed: Ints) -> Outcome:
        """What placements do in truth."""
        return evaluate(*self.truth, placed, self.terms.floor, self.terms.speedup)

    @cached_property
    def best(self) -> Outcome:
        """Of the oracle that minimises makespan + price x shortfall."""
        return self.outcome(self.terms.place(*self.truth))

    @cached_property
    def best_hard(self) -> Outcome:
        """Of the oracle under the floor."""
        return self.outcome(self.terms.place(*self.truth, "hard"))

    def elastic(self, placed: Ints) -> Floats:
        """(K,) relative excess of makespan + price x shortfall; of the sum of the times for
        ``objective="sum"``, where a placement that misses the floor in truth is infeasible: inf.

        Never negative: a placement below the oracle's cost shows that the oracle, which stops
        after ``NODES`` nodes, is not the best.
        """
        chosen = self.outcome(placed)
        if self.terms.objective != "sum":
            return np.maximum(elastic_regret(chosen, self.best, self.terms.price), 0.0)
        excess = chosen.loads.sum(axis=-1) / self.best.loads.sum(axis=-1) - 1.0
        missed = chosen.shortfall > self.best.shortfall + FLOOR_ROUNDING
        return np.where(missed, np.inf, np.maximum(excess, 0.0))

    def hard(self, placed: Ints) -> dict[str, float]:
        """Means over the rounds of the metrics under a hard floor."""
        return self._scores(placed).means()

    def _scores(self, placed: Ints) -> Scores:
        rho = self.terms.price / self.terms.scale
        return scores(self.outcome(placed), self.best_hard, self.rounds.shape[1], rho)

    def regret(self, placed: Ints, decoder: str) -> float:
        """The mean that training is stopped and tuned by: elastic, or penalised for ``hard``.

        Never negative in any round: what a missed floor saves does not offset another round.
        """
        if decoder == "hard" and self.terms.objective == "makespan":
            return float(np.maximum(self._scores(placed).penalised_regret, 0.0).mean())
        return float(self.elastic(placed).mean())


@dataclass(frozen=True, eq=False)
class TrainingProblem:
    """Tasks to train on, an evaluator of validation rounds, and the terms of both.

    Attributes:
        train: Tasks to train on.
        validation: Its tasks tune and calibrate, its rounds stop the training.
        tasks_per_round: N.
    """

    train: Tasks
    validation: Evaluator
    tasks_per_round: int

    @property
    def terms(self) -> PlacementRule:
        """Floor, price and the rest."""
        return self.validation.terms

    @cached_property
    def complete(self) -> Longs:
        """Training tasks that were measured on every cluster: rounds are drawn from these."""
        return complete(self.train)

    def draw(self, count: int, key: tuple[int, ...]) -> Longs:
        """(count, N) training rounds; the same key draws the same."""
        return draw(self.complete, count, self.tasks_per_round, key, "the training set")

    @cached_property
    def fingerprint(self) -> str:
        """Of the data and terms."""
        found = hashlib.sha256(repr((self.terms, self.tasks_per_round)).encode())
        for tasks in (self.train, self.validation.tasks):
            for name in ("features", "times", "success"):
                found.update(np.ascontiguousarray(getattr(tasks, name)).tobytes())
        return found.hexdigest()[:16]


def complete(tasks: Tasks) -> Longs:
    """Positions of the tasks whose time and success are known on every cluster."""
    return np.flatnonzero(~np.isnan(tasks.times + tasks.success).any(axis=0))


def draw(pool: Longs, count: int, size: int, key: tuple[int, ...], part: str = "the data") -> Longs:
    """(count, size) of a pool, each row without repeats.

    Args:
        pool: Positions of tasks.
        count: Rounds.
        size: Tasks a round.
        key: Of the random numbers.
        part: What the pool is, for the error.

    Raises:
        InputError: The pool is smaller than a round.
    """
    if len(pool) < size:
        raise InputError(
            f"{len(pool)} tasks of {part} were measured on every cluster, and a round takes {size}",
            where="tasks_per_round",
            allowed=f"at most {len(pool)} here",
            remedy="lower tasks_per_round, or measure more tasks on every cluster",
        )
    order = np.random.default_rng(key).random((count, len(pool))).argpartition(size - 1, axis=1)
    return np.asarray(pool[order[:, :size]])


def data_of(given: object) -> Recipe | Tasks:
    """What is learned from, if it is that.

    Raises:
        InputError: It is neither a recipe nor tasks.
    """
    allowed = "a recipe, or the tasks of a log"
    remedy = "make it with walras.predict.recipe, or read_log(path).tasks(features)"
    return checks.of_kind(given, (Recipe, Tasks), "data", allowed, remedy=remedy)


def training_problem(
    data: Recipe | Tasks,
    settings: LearnSettings,
    *,
    tasks_per_round: int,
    min_success: float | None = None,
) -> TrainingProblem:
    """Make a training problem of a recipe or of a log's tasks, without a recipe's test set.

    Args:
        data: A recipe; or tasks, of which a quarter is held out to validate on.
        settings: Price, seed, number of rounds.
        tasks_per_round: N.
        min_success: The floor; if None the median, over training rounds, of the mean success of
            the quickest placements: it binds in about half of the rounds.

    Raises:
        InputError: There are too few tasks.
    """
    data = data_of(data)
    tasks_per_round = checks.whole(tasks_per_round, "setting tasks_per_round", 1, 10**6)
    if isinstance(data, Tasks):
        train, held = _held_out(data, settings.seed, tasks_per_round)
    else:
        train, held = data.train, data.validation
    return problem_of_tasks(train, held, settings, tasks_per_round, min_success)


def _held_out(data: Tasks, seed: int, tasks_per_round: int) -> tuple[Tasks, Tasks]:
    """Tasks to train on, and a quarter to validate on.

    Raises:
        InputError: A part has fewer tasks that were measured on every cluster than a round takes.
    """
    order = np.random.default_rng((seed, 21)).permutation(len(data))
    cut = round(_HELD_OUT * len(data))
    train, held = data.take(np.sort(order[cut:])), data.take(np.sort(order[:cut]))
    usable, least = len(complete(data)), min(len(complete(part)) for part in (train, held))
    if least < tasks_per_round:
        fits = f"at most {least} with these tasks" if least else "more tasks than these"
        raise InputError(
            f"is {tasks_per_round}; {usable} of {len(data)} tasks were measured on every cluster, "
            f"of which {len(complete(held))} are in the quarter that is held out to validate on",
            where="tasks_per_round",
            allowed=fits,
            remedy=f"lower tasks_per_round, or measure about {4 * tasks_per_round} tasks on every "
            "cluster",
        )
    return train, held


def problem_of_tasks(
    train: Tasks,
    held: Tasks,
    settings: LearnSettings,
    tasks_per_round: int,
    min_success: float | None,
) -> TrainingProblem:
    """Make a training problem of tasks to train on and others to validate on."""
    tasks_per_round = checks.whole(tasks_per_round, "setting tasks_per_round", 1, 10**6)
    if min_success is not None:
        words = ": a mean chance over the tasks"
        min_success = checks.number(min_success, "setting min_success", 0.0, 1.0, words=words)
    mean = np.nanmean(train.times, axis=1)
    scale = tasks_per_round / float((1.0 / mean).sum())
    free = PlacementRule(0.0, 0.0, scale, settings.objective, settings.speedup)
    floor = min_success
    if floor is None:
        rounds = draw(
            complete(train), 300, tasks_per_round, (settings.seed, 22), "the training set"
        )
        own = Evaluator(train, rounds, free)
        floor = float(np.median(own.outcome(own.terms.place(*own.truth, "hard")).mean_success))
    terms = PlacementRule(
        floor, settings.price * scale, scale, settings.objective, settings.speedup
    )
    rounds = draw(
        complete(held), settings.rounds, tasks_per_round, (settings.seed, 23), "the validation set"
    )
    found = TrainingProblem(train, Evaluator(held, rounds, terms), tasks_per_round)
    found.draw(1, (0,))  # raises where tasks are too few
    return found
