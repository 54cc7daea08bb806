"""Many rounds at once: solved exactly by branch and bound, or decoded from a relaxed matching."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from walras import checks
from walras.kernels.matching.rounds import HARD, improve_rounds, solve_rounds
from walras.machine import cores
from walras.matching.metrics import Outcome, evaluate
from walras.matching.round import Round, check_rounds, matrix, success_wanted
from walras.matching.speedup import Speedup, zeta_table
from walras.short_repr import short_repr
from walras.types import Bools, Floats, Ints, Longs

NODES = 2_000_000  # nodes a round; about half a second
_ROUNDING = 1e-9  # of a bound, relative


@short_repr
@dataclass(frozen=True, eq=False)
class Matches:
    """Assignments of many rounds, with a proved bound for each.

    Attributes:
        assignment: (rounds, tasks) cluster of each task.
        outcome: Loads, makespan and mean success of the assignments.
        objective: (rounds,) makespan, plus the price of missing success where there is one.
        bound: (rounds,) lower bound on the objective of every placement.
        feasible: (rounds,) whether the floor is met; where no placement meets a hard floor the
            assignment is the safest one.
        nodes: (rounds,) nodes of the search tree that were visited.

    Example:
        >>> from walras.matching import match_rounds
        >>> times = [[[3, 2, 4], [2, 3, 3]]]
        >>> found = match_rounds(times, [[[0.9, 0.9, 0.9], [0.8, 0.9, 0.7]]])
        >>> found.objective, found.gap < 1e-9
        (array([5.]), array([ True]))
    """

    assignment: Ints
    outcome: Outcome
    objective: Floats
    bound: Floats
    feasible: Bools
    nodes: Longs

    @property
    def gap(self) -> Floats:
        """(rounds,) relative distance of objective and bound."""
        return np.maximum(self.objective - self.bound, 0.0) / self.objective

    @property
    def value(self) -> Floats:
        """(rounds,) the objective, as :attr:`Plan.value` of one round."""
        return self.objective

    def frame(self) -> pd.DataFrame:
        """One row a round: value, bound, gap, whether the floor is met, makespan, mean success."""
        columns = {name: getattr(self, name) for name in ("value", "bound", "gap", "feasible")}
        columns |= {"makespan": self.outcome.makespan, "mean_success": self.outcome.mean_success}
        return pd.DataFrame(columns).rename_axis("round")


@dataclass(frozen=True, eq=False)
class Arrays:
    """Rounds as the kernels take them.

    Attributes:
        t: (rounds, tasks, clusters) times; a large number where a cluster cannot run a task.
        a: (rounds, tasks, clusters) chances; 0 there.
        zeta: (clusters, tasks + 1).
        goal: (rounds,) success wanted in all.
        price: (rounds,) of a unit of missing success in all.
    """

    t: Floats
    a: Floats
    zeta: Floats
    goal: Floats
    price: Floats

    @classmethod
    def of(
        cls, times: Floats, success: Floats, zeta: Floats, floor: Floats, price: Floats | None
    ) -> Arrays:
        """From (rounds, clusters, tasks) arrays, (rounds,) floors and prices of mean success."""
        rounds, n = times.shape[0], times.shape[-1]
        usable = np.isfinite(times)
        longest = np.where(usable, times, 0.0).max(axis=(1, 2))
        # More than any placement on usable pairs takes: none is ever worth it.
        barred = 10.0 * n * longest * max(1.0, 1.0 / zeta.min()) * zeta.max()
        t = np.where(usable, times, barred[:, None, None]).transpose(0, 2, 1)
        a = np.where(usable, success, 0.0).transpose(0, 2, 1)
        whole = np.full(rounds, HARD) if price is None else price / n
        goal = success_wanted(floor, n, is_hard=price is None)
        return cls(np.ascontiguousarray(t), np.ascontiguousarray(a), zeta, goal, whole)

    @classmethod
    def of_round(cls, round_: Round) -> Arrays:
        """One round."""
        price = round_.shortfall_price
        return cls.of(
            round_.times[None],
            round_.success[None],
            round_.zeta,
            np.array([round_.min_success]),
            None if price is None else np.array([price]),
        )


def no_higher(bound: Floats | float, objective: Floats | float, feasible: Bools | bool) -> Floats:
    """Bounds that are at most the objectives; 0 for one that is above by more than rounding.

    Args:
        bound: What was found.
        objective: Of placements.
        feasible: Whether they are among those that the bound is of.
    """
    wrong = np.asarray(feasible) & (np.asarray(bound) > objective * (1.0 + _ROUNDING))
    return np.asarray(np.where(wrong, 0.0, np.minimum(bound, objective)))


def match_rounds(
    times: npt.ArrayLike,
    success: npt.ArrayLike,
    min_success: npt.ArrayLike = 0.8,
    speedup: Speedup | None = None,
    *,
    shortfall_price: npt.ArrayLike | None = None,
    tolerance: float = 0.0,
    node_limit: int = NODES,
    threads: int | None = None,
) -> Matches:
    """Solve many rounds of one size exactly, in parallel; meant for up to about 30 tasks.

    The answer does not depend on the number of threads. A round that reaches the node limit comes
    back with its best placement and a bound that holds for the rest.

    Args:
        times: (rounds, clusters, tasks), > 0, ``inf`` where a cluster cannot run a task.
        success: (rounds, clusters, tasks) chances, 0 to 1.
        min_success: Floor of the mean success over tasks, one or (rounds,).
        speedup: See :data:`walras.matching.Speedup`.
        shortfall_price: None for a hard floor; else the price of a unit of missing mean success in
            the unit of the times, one or (rounds,).
        tolerance: Relative gap at which a round counts as solved.
        node_limit: Most nodes of the search tree per round.
        threads: Number of threads, or None for all cores.

    Returns:
        The assignments, with objective and bound of each round.

    Raises:
        InputError: A shape, number or setting cannot be used.

    Example:
        >>> import numpy as np
        >>> from walras.matching import match_rounds
        >>> times = np.random.default_rng(0).uniform(1, 5, (3, 2, 4))
        >>> found = match_rounds(times, np.full((3, 2, 4), 0.9))
        >>> print(found.objective.round(2), found.gap < 1e-9)
        [4.31 5.05 4.89] [ True  True  True]
    """
    t, a, floor, price = _checked(times, success, min_success, shortfall_price)
    tolerance = checks.number(tolerance, "setting tolerance", 0.0, 1.0)
    node_limit = checks.whole(node_limit, "setting node_limit", 1, 10**15)
    zeta = zeta_table(speedup, *t.shape[1:])
    given = Arrays.of(t, a, zeta, floor, price)
    found = solve_rounds(
        given.t, given.a, zeta, given.goal, given.price, tolerance, node_limit, _workers(threads)
    )
    outcome = evaluate(t, a, found.x, floor, speedup)
    objective = outcome.makespan if price is None else outcome.elastic_cost(price)
    return Matches(
        found.x,
        outcome,
        objective,
        no_higher(found.bound, objective, ~outcome.violated),
        ~outcome.violated,
        found.nodes,
    )


def decode(
    relaxed: npt.ArrayLike,
    times: npt.ArrayLike,
    success: npt.ArrayLike,
    min_success: npt.ArrayLike = 0.8,
    speedup: Speedup | None = None,
    *,
    shortfall_price: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Ints:
    """Turn relaxed matchings into placements: largest shares, then repair and local search.

    The result is never worse than the largest shares alone: it misses no floor that they meet, and
    its makespan is not longer where they meet it.

    Args:
        relaxed: (rounds, clusters, tasks) shares, such as those of
            :func:`walras.matching.relaxed_match`.
        times: (rounds, clusters, tasks), > 0, ``inf`` where a cluster cannot run a task.
        success: (rounds, clusters, tasks) chances, 0 to 1.
        min_success: Floor of the mean success over tasks, one or (rounds,).
        speedup: Gain from running tasks together; see :data:`walras.matching.Speedup`.
        shortfall_price: None for a hard floor; else the price of a unit of missing mean success,
            in the unit of the times, one or (rounds,).
        threads: Number of threads, or None for all cores.

    Returns:
        (rounds, tasks) cluster of each task.

    Raises:
        InputError: A shape or number cannot be used.

    Example:
        >>> from walras.matching import decode
        >>> shares = [[[0.6, 0.7, 0.4], [0.4, 0.3, 0.6]]]
        >>> decode(shares, [[[3, 2, 4], [2, 3, 3]]], [[[0.9, 0.9, 0.9], [0.8, 0.9, 0.7]]])
        array([[0, 0, 1]], dtype=int32)
    """
    t, a, floor, price = _checked(times, success, min_success, shortfall_price)
    shares = matrix(relaxed, "relaxed", dimensions=3)
    remedy = "decode a matching of the same rounds"
    checks.shaped(shares, t.shape, "relaxed", "as times", remedy=remedy)
    given = Arrays.of(t, a, zeta_table(speedup, *t.shape[1:]), floor, price)
    x: Ints = np.where(np.isfinite(t), shares, -np.inf).argmax(axis=1).astype(np.int32)
    improve_rounds(given.t, given.a, given.zeta, given.goal, given.price, x, _workers(threads))
    return x


def _checked(
    times: npt.ArrayLike,
    success: npt.ArrayLike,
    min_success: npt.ArrayLike,
    shortfall_price: npt.ArrayLike | None,
) -> tuple[Floats, Floats, Floats, Floats | None]:
    t = matrix(times, "times", dimensions=3)
    a = matrix(success, "success", dimensions=3)
    check_rounds(t, a)
    floor = checks.one_each(min_success, "min_success", len(t), "round", 0.0, 1.0)
    if shortfall_price is None:
        return t, a, floor, None
    most = checks.LARGEST
    price = checks.one_each(shortfall_price, "shortfall_price", len(t), "round", 0.0, most)
    return t, a, floor, price


def _workers(threads: int | None) -> int:
    if threads is None:
        return cores()
    return checks.whole(threads, "setting threads", 1, 4096)
