"""What a placement is worth when the true times and chances are known, and what it lost.

Everything works on one round or on many: leading axes are those of the assignment.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from walras.errors import InputError
from walras.matching.round import Round, missing_success
from walras.matching.speedup import Speedup, zeta_table
from walras.short_repr import short_repr
from walras.types import Bools, Floats, Ints


@short_repr
@dataclass(frozen=True, eq=False)
class Outcome:
    """What assignments achieve: one number per round, and the loads per cluster.

    Attributes:
        loads: (..., clusters) time each cluster takes.
        makespan: (...,) time of the slowest cluster (equations 3 and 16).
        mean_success: (...,) mean chance of success over the tasks, "reliability".
        utilisation: (...,) time that clusters work over clusters times makespan.
        shortfall: (...,) how far the mean success is below the floor; 0 if it is met.

    Example:
        >>> from walras.matching import evaluate
        >>> times, success = [[3, 2, 4], [2, 3, 3]], [[0.9] * 3, [0.7] * 3]
        >>> found = evaluate(times, success, assignment=[1, 0, 1], min_success=0.8)
        >>> print(found.loads, found.makespan, found.shortfall.round(3))
        [2. 5.] 5.0 0.033
    """

    loads: Floats
    makespan: Floats
    mean_success: Floats
    utilisation: Floats
    shortfall: Floats

    @property
    def violated(self) -> Bools:
        """(...,) whether the floor is missed."""
        return self.shortfall > 0

    def elastic_cost(self, price: npt.ArrayLike) -> Floats:
        """Makespan plus the price of the shortfall.

        Args:
            price: One price or (...,), of a unit of mean success, in the unit of the times.

        Returns:
            (...,) ``makespan + price * shortfall``.
        """
        return self.makespan + np.asarray(price, dtype=np.float64) * self.shortfall


def evaluate(
    times: npt.ArrayLike,
    success: npt.ArrayLike,
    assignment: npt.ArrayLike,
    min_success: npt.ArrayLike = 0.0,
    speedup: Speedup | None = None,
) -> Outcome:
    """Evaluate assignments with given times and chances, such as the true ones.

    Args:
        times: (..., clusters, tasks) time of each task on each cluster.
        success: (..., clusters, tasks) chances, 0 to 1.
        assignment: (..., tasks) cluster of each task.
        min_success: (...,) floor of the mean success over tasks.
        speedup: As in :func:`walras.matching.match`.

    Returns:
        Loads, makespan, mean success, utilisation and shortfall.

    Raises:
        InputError: Shapes that do not belong together, or a cluster that does not exist.

    Example:
        >>> from walras.matching import evaluate
        >>> found = evaluate([[3, 2, 4], [2, 3, 3]], [[0.9] * 3, [0.7] * 3], [1, 0, 1])
        >>> print(found.loads, found.makespan, found.mean_success.round(3))
        [2. 5.] 5.0 0.767
    """
    t, a = np.asarray(times, np.float64), np.asarray(success, np.float64)
    x = np.asarray(assignment)
    if t.ndim < 2 or a.shape != t.shape or x.shape != (*t.shape[:-2], t.shape[-1]):
        raise InputError(
            f"have shapes {t.shape}, {a.shape} and {x.shape}",
            where="times, success, assignment",
            allowed="(..., clusters, tasks) twice, then (..., tasks)",
            remedy="give one cluster number a task",
        )
    m, n = t.shape[-2:]
    if x.size and not (x.dtype.kind in "iu" and x.min() >= 0 and x.max() < m):
        raise InputError(
            "names a cluster that does not exist",
            where="assignment",
            allowed=f"0 to {m - 1}",
            remedy="give the number of each task's cluster",
        )
    here = x[..., None, :] == np.arange(m)[:, None]
    count = here.sum(axis=-1)
    zeta = zeta_table(speedup, m, n)[np.arange(m), count]
    loads = zeta * np.where(here, t, 0.0).sum(axis=-1)
    makespan = loads.max(axis=-1)
    mean = np.where(here, a, 0.0).sum(axis=(-2, -1)) / n
    return Outcome(
        loads,
        makespan,
        mean,
        loads.sum(axis=-1) / (m * makespan),
        missing_success(np.asarray(min_success, np.float64), mean, n),
    )


def outcome_of(round_: Round, assignment: Ints) -> Outcome:
    """What a placement of a round achieves; the loads are the ends of its clusters.

    Args:
        round_: The round; its terms say when clusters end.
        assignment: (tasks,) cluster of each task.
    """
    terms = round_.terms
    if terms is None:
        return evaluate(
            round_.times, round_.success, assignment, round_.min_success, round_.zeta[:, 1:]
        )
    x, task = assignment.astype(np.int64), np.arange(len(assignment))
    ends = terms.cluster_ends(round_.times, x)
    mean = np.asarray(round_.success[x, task].sum() / len(task))
    work = float((terms.sizes * round_.times[x, task]).sum())
    return Outcome(
        ends,
        np.asarray(ends.max()),
        mean,
        np.asarray(work / (terms.slots.sum() * ends.max())),
        missing_success(round_.min_success, mean, len(task)),
    )


def value_of(round_: Round, assignment: Ints, outcome: Outcome) -> float:
    """What is minimised: the makespan, and what missing success and moves cost where they do.

    Args:
        round_: The round.
        assignment: (tasks,) cluster of each task.
        outcome: What it achieves.
    """
    price, terms = round_.shortfall_price, round_.terms
    value = float(outcome.makespan if price is None else outcome.elastic_cost(price))
    if terms is not None and terms.move_price:
        value += terms.move_price * int(terms.moved(assignment.astype(np.int64)).sum())
    return value


@short_repr
@dataclass(frozen=True, eq=False)
class Scores:
    """How the rounds of a method compare with the oracle's, one number per round.

    Attributes:
        regret: (...,) makespan over the oracle's, minus 1. It is negative where missing the floor
            made the round shorter.
        paper_regret: (...,) ``(makespan - oracle's) / tasks`` (equation 6), in the unit of the
            times.
        mean_success: (...,) mean chance of success over tasks.
        utilisation: (...,) mean of the clusters' loads over the makespan.
        violated: (...,) 1 where the floor is missed, else 0; its mean is the violation rate.
        shortfall: (...,) how far the mean success is below the floor.
        penalised_regret: (...,) ``regret + shortfall_price * shortfall``, the price in makespans.

    Example:
        >>> from walras.matching import evaluate, scores
        >>> times, success = [[3, 2, 4], [2, 3, 3]], [[0.9] * 3, [0.7] * 3]
        >>> chosen, oracle = (evaluate(times, success, x, 0.7) for x in ([0, 0, 0], [1, 0, 1]))
        >>> found = scores(chosen, oracle, tasks=3)
        >>> float(found.regret), found.means()["violated"]
        (0.8, 0.0)
    """

    regret: Floats
    paper_regret: Floats
    mean_success: Floats
    utilisation: Floats
    violated: Floats
    shortfall: Floats
    penalised_regret: Floats

    def means(self) -> dict[str, float]:
        """The mean over rounds of every score, by name."""
        return {f.name: float(np.mean(getattr(self, f.name))) for f in fields(self)}


def scores(chosen: Outcome, oracle: Outcome, tasks: int, shortfall_price: float = 10.0) -> Scores:
    """Compare assignments with the best possible ones, under a hard floor.

    Args:
        chosen: The chosen assignments, evaluated with the true times and chances.
        oracle: The best assignments for the true times and chances.
        tasks: Number of tasks per round.
        shortfall_price: Price of a unit of missing mean success, in makespans of the oracle.

    Returns:
        The scores, one number per round each.

    Example:
        >>> from walras.matching import evaluate, scores
        >>> times, success = [[3, 2, 4], [2, 3, 3]], [[0.9] * 3, [0.7] * 3]
        >>> chosen, oracle = (evaluate(times, success, x, 0.7) for x in ([0, 0, 0], [1, 0, 1]))
        >>> float(scores(chosen, oracle, tasks=3).regret)
        0.8
    """
    regret = chosen.makespan / oracle.makespan - 1.0
    return Scores(
        regret,
        (chosen.makespan - oracle.makespan) / tasks,
        chosen.mean_success,
        chosen.utilisation,
        chosen.violated.astype(np.float64),
        chosen.shortfall,
        regret + shortfall_price * chosen.shortfall,
    )


def elastic_regret(chosen: Outcome, oracle: Outcome, price: npt.ArrayLike) -> Floats:
    """Relative excess of ``makespan + price * shortfall`` over the least possible.

    Args:
        chosen: The chosen assignments, evaluated with the true times and chances.
        oracle: Assignments of least elastic cost for the truth (``shortfall_price=price``).
        price: One price or (rounds,), of a unit of mean success, in the unit of the times.

    Returns:
        (...,) relative excess, >= 0 up to rounding.

    Example:
        >>> from walras.matching import elastic_regret, evaluate
        >>> times, success = [[3, 2, 4], [2, 3, 3]], [[0.9] * 3, [0.7] * 3]
        >>> chosen, oracle = (evaluate(times, success, x, 0.8) for x in ([0, 0, 0], [1, 0, 1]))
        >>> print(elastic_regret(chosen, oracle, price=10.0).round(3))
        0.687
    """
    return np.asarray(chosen.elastic_cost(price) / oracle.elastic_cost(price) - 1.0)
