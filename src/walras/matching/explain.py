"""What every single move of a task would do to a plan, and the reasons that follow."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from walras.matching.metrics import Outcome
from walras.matching.round import FLOOR_ROUNDING, Round
from walras.types import Bools, Floats, Ints

_SAME = 1e-9  # relative changes below this are none


@dataclass(frozen=True, eq=False)
class Moves:
    """The plan with one task moved, for every task and cluster.

    Attributes:
        makespan: (clusters, tasks) makespan with the task on the cluster; ``inf`` where it cannot
            run.
        mean_success: (clusters, tasks) mean success then.
        runner_up: (tasks,) the best other cluster, -1 where there is none.
        in_time: (clusters, tasks) whether deadlines are kept then.
    """

    makespan: Floats
    mean_success: Floats
    runner_up: Ints
    in_time: Bools


def moves_of(round_: Round, assignment: Ints, outcome: Outcome) -> Moves:
    """Evaluate every move of one task."""
    m, n = round_.shape
    task, here = np.arange(n), assignment
    times = np.where(round_.usable, round_.times, np.inf)
    left, arrived = (
        _ends_apart(round_, here)
        if round_.terms is None
        else (round_.terms.ends_if_moved(times, here.astype(np.int64)))
    )
    makespan = np.maximum(np.maximum(left, arrived), _longest_of_others(outcome.loads, here))
    makespan[here, task] = outcome.makespan
    gain = (round_.success - round_.success[here, task]) / n
    mean = outcome.mean_success + gain
    missing = np.maximum(round_.min_success - FLOOR_ROUNDING - mean, 0.0)
    missing = np.maximum(missing - outcome.shortfall, 0.0)  # what is missing now is not the move's
    price = round_.shortfall_price
    cost = makespan + (0.0 if price is None else price) * missing
    in_time = np.ones((m, n), np.bool_)
    if round_.terms is not None:
        cost = cost + round_.terms.move_price * round_.terms.moved_pairs(
            np.arange(m)[:, None], task
        )
        in_time = round_.terms.in_time_if_moved(times, here.astype(np.int64))
    late = missing if price is None else np.zeros_like(missing)
    late = np.where(np.isfinite(times) & in_time, late, np.inf)
    late[here, task] = np.inf
    best = np.lexsort((times, cost, late), axis=0)[0]
    alone = ~np.isfinite(late[best, task])
    return Moves(makespan, mean, np.where(alone, -1, best).astype(np.int32), in_time)


def _ends_apart(round_: Round, here: Ints) -> tuple[Floats, Floats]:
    """(tasks,) the load without each task, and (clusters, tasks) the load with it."""
    m, n = round_.shape
    count, own = np.bincount(here, minlength=m), round_.times[here, np.arange(n)]
    total = np.bincount(here, weights=own, minlength=m)
    times = np.where(round_.usable, round_.times, np.inf)
    left = round_.zeta[here, count[here] - 1] * (total[here] - own)
    ratio = round_.zeta[np.arange(m), np.minimum(count + 1, n)][:, None]
    return left, ratio * (total[:, None] + times)


def _longest_of_others(loads: Floats, here: Ints) -> Floats:
    """(clusters, tasks) largest load but those of the task's cluster and of the other one."""
    m = len(loads)
    if m <= 2:
        return np.zeros((m, len(here)))
    order = np.argsort(-loads, kind="stable")[:3]
    there = np.arange(m)[:, None]
    out = np.broadcast_to(loads[order[2]], (m, len(here))).copy()
    for k in (1, 0):
        out = np.where((order[k] != here) & (order[k] != there), loads[order[k]], out)
    return out


class Reason(enum.StrEnum):
    """Why a task is not elsewhere, as a code that fits a narrow column.

    Example:
        >>> from walras.matching import Reason
        >>> Reason("full").meaning
        'a quicker cluster is full'
    """

    ONLY = "only"
    BEST = "best"
    QUICKEST = "quickest"
    FULL = "full"
    FLOOR = "floor"
    NO_GAIN = "no gain"
    PINNED = "pinned"
    DEADLINE = "deadline"

    @property
    def meaning(self) -> str:
        """The code in words."""
        return _MEANINGS[self]


_MEANINGS = {
    Reason.ONLY: "no other cluster runs the task",
    Reason.BEST: "its quickest and safest cluster",
    Reason.QUICKEST: "its quickest cluster",
    Reason.FULL: "a quicker cluster is full",
    Reason.FLOOR: "on a quicker cluster it would break the floor of success",
    Reason.NO_GAIN: "a quicker cluster ends nothing sooner",
    Reason.PINNED: "the cluster that it is pinned to",
    Reason.DEADLINE: "on a quicker cluster a deadline would be missed",
}


def reason(round_: Round, moves: Moves, outcome: Outcome, i: int, j: int) -> tuple[Reason, str]:
    """Why task j is on cluster i and not where it would be quicker: the code, and in words."""
    times = np.where(round_.usable[:, j], round_.times[:, j], np.inf)
    if round_.terms is not None and round_.terms.pinned[j] >= 0:
        return Reason.PINNED, "the cluster that it is pinned to"
    if round_.usable[:, j].sum() == 1:
        return Reason.ONLY, "the only cluster that runs it"
    q = int(np.argmin(times))
    if times[q] >= times[i] * (1.0 - _SAME):
        if round_.success[i, j] >= round_.success[round_.usable[:, j], j].max() - _SAME:
            return Reason.BEST, "its quickest and safest cluster"
        return Reason.QUICKEST, "its quickest cluster"
    name = round_.cluster_name(q)
    if not moves.in_time[q, j]:
        return Reason.DEADLINE, f"{name} is quicker, but a deadline would be missed there"
    rise = moves.makespan[q, j] - outcome.makespan
    if rise > _SAME * outcome.makespan:
        return Reason.FULL, f"{name} is quicker but full: the makespan would rise by {rise:.4g}"
    mean = moves.mean_success[q, j]
    if below_floor(round_, float(mean), outcome):
        words = f"{name} is quicker but less safe: mean success would fall to {mean:.4f}"
        return Reason.FLOOR, words
    return Reason.NO_GAIN, f"{name} is quicker, but moving this task alone ends nothing sooner"


def below_floor(round_: Round, mean_success: float, outcome: Outcome) -> bool:
    """Whether a move that leads to a mean success breaks the floor, or falls further below it."""
    under = mean_success < round_.min_success - FLOOR_ROUNDING
    return bool(under and mean_success < outcome.mean_success)
