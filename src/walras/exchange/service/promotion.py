"""Whether a candidate takes the place of the active predictor: a pure function of what both said.

Both are asked about the same runs, which the candidate was not trained on. Each run weighs the
inverse of the chance with which its cluster was drawn, one where nothing was drawn. The runs are
looked at when there are 200, 400, 800, … of them, and never between: each look spends half of what
is left of the error that is allowed, so that looking often promotes no noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from walras.types import Bools, Floats, Longs

FIRST = 200
"""Runs at the first look."""
ROUNDS = 20
"""Rounds that must have been placed since the candidate was trained."""
DAYS = 14.0
"""A candidate that was not promoted by then is rejected."""

LOOKS = 2
"""A candidate that this many looks did not promote is replaced by one of the runs since."""

MARGIN = 0.01
"""By which an error may be larger, of the active predictor's."""
COVERED = (0.85, 0.95)
"""Share of the measured times that the 90 % intervals of a cluster must hold."""

_ALPHA = 0.05
_RUNS = 30  # from so many on, a cluster's intervals are looked at
_MOST = 50.0  # weight of a run
_EDGE = 1e-6

Decision = Literal["promote", "wait", "reject"]


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a predictor says of n runs on M clusters.

    Attributes:
        seconds: (M, n) > 0.
        chance: (M, n) of success.
        low: (n,) lower end of the 90 % interval of the seconds on the cluster of the run.
        high: (n,) its upper end.
    """

    seconds: Floats
    chance: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Runs:
    """n runs since the candidate was trained, in the order in which they ended.

    Attributes:
        round: (n,) number of the round that placed it; -1 for none.
        cluster: (n,) which cluster.
        seconds: (n,) measured; NaN where the run counts for success alone.
        success: (n,) 1 or 0.
        propensity: (n,) chance of the cluster where it was drawn, else 1.
        size: (n,) slots that it took.
        slots: (M,) slots of each cluster.
        names: (M,) uids of the clusters; their numbers where there are none.
    """

    round: Longs
    cluster: Longs
    seconds: Floats
    success: Floats
    propensity: Floats
    size: Floats
    slots: Floats
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.cluster)


@dataclass(frozen=True)
class Verdict:
    """What a look says.

    Attributes:
        decision: ``promote``, ``wait`` or ``reject``.
        why: The first test that failed, or what is waited for.
        scores: Figures of the look.
    """

    decision: Decision
    why: str
    scores: dict[str, Any] = field(default_factory=dict)


def look(count: int) -> tuple[int, float] | None:
    """The runs of the last look at so many, and the error it may make; None before the first.

    Example:
        >>> from walras.exchange.service.promotion import look
        >>> look(199), look(250), look(1000)
        (None, (200, 0.025), (800, 0.00625))
    """
    if count < FIRST:
        return None
    doublings = int(math.log2(count / FIRST))
    return FIRST * 2**doublings, _ALPHA / 2 ** (doublings + 1)


def judge(runs: Runs, active: Predictions, candidate: Predictions, age: float) -> Verdict:
    """Whether the candidate is promoted.

    Args:
        runs: Runs since it was trained.
        active: What the active predictor says of them.
        candidate: What the candidate says of them.
        age: Seconds since it was trained.
    """
    old = age > DAYS * 86400.0
    late: Decision = "reject" if old else "wait"
    found = look(len(runs))
    if found is None:
        return Verdict(late, f"{len(runs)} runs of {FIRST}")
    count, alpha = found
    kept = np.arange(len(runs)) < count
    rounds = len(np.unique(runs.round[kept & (runs.round >= 0)]))
    if rounds < ROUNDS:
        return Verdict(late, f"{rounds} rounds of {ROUNDS}", {"runs": count})
    scores: dict[str, Any] = {"runs": count, "rounds": rounds, "alpha": alpha}
    why = _failed(runs, active, candidate, kept, alpha, scores)
    return Verdict(late, why, scores) if why else Verdict("promote", "all tests passed", scores)


def _failed(
    runs: Runs,
    active: Predictions,
    candidate: Predictions,
    kept: Bools,
    alpha: float,
    scores: dict[str, Any],
) -> str:
    """The first test that failed, or nothing."""
    weight = np.minimum(1.0 / runs.propensity, _MOST)
    timed = kept & ~np.isnan(runs.seconds)
    for name, errors, mine in (("time", time_error, timed), ("success", log_loss, kept)):
        own, other = errors(runs, candidate)[mine], errors(runs, active)[mine]
        scores[name] = worse_by(own, other, weight[mine], alpha)
        if not scores[name]["upper"] <= MARGIN:
            return f"the error of {name} may be larger by more than {MARGIN:.0%}"
    covered = coverage(runs, candidate, timed)
    scores["coverage"] = covered
    low, high = COVERED
    outside = [i for i, share in covered.items() if not low <= share <= high]
    if outside:
        i = outside[0]
        name = runs.names[i] if runs.names else str(i)
        held = f"intervals of cluster {name} hold {covered[i]:.0%} of the times"
        return f"{held}, not {low:.0%} to {high:.0%}"
    found = makespans(runs, active, candidate, kept)
    scores["makespan"] = dict(zip(("active", "candidate"), found, strict=True))
    if found[1] > found[0] * (1.0 + 1e-9):
        return "plans made by it would take longer"
    return ""


def time_error(runs: Runs, predicted: Predictions) -> Floats:
    """(n,) |log predicted - log measured|."""
    own = predicted.seconds[runs.cluster, np.arange(len(runs))]
    return np.asarray(np.abs(np.log(own) - np.log(runs.seconds)))


def log_loss(runs: Runs, predicted: Predictions) -> Floats:
    """(n,) -log of the chance of what came."""
    own = predicted.chance[runs.cluster, np.arange(len(runs))]
    came = np.where(runs.success > 0.5, own, 1.0 - own)
    return np.asarray(-np.log(np.clip(came, _EDGE, 1.0)))


def worse_by(own: Floats, other: Floats, weight: Floats, alpha: float) -> dict[str, float]:
    """By how much the mean error is larger, of the other's: as found, and its upper end.

    The upper end is at most the margin where that of mean(own - (1 + margin) other) is at most 0.

    Args:
        own: (n,) errors of the candidate.
        other: (n,) of the active predictor, of the same runs.
        weight: (n,) of each run.
        alpha: Chance that the difference is above the upper end.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - a quarter of a second; few services learn

    total = weight.sum()
    if len(own) < 2 or total <= 0.0:
        return {"found": 0.0, "upper": math.inf}
    mean = float((weight * other).sum() / total)
    far = own - (1.0 + MARGIN) * other
    middle = float((weight * far).sum() / total)
    spread = math.sqrt(float((weight**2 * (far - middle) ** 2).sum())) / total
    effective = float(total**2 / (weight**2).sum())
    quantile = float(stdtrit(max(effective - 1.0, 1.0), 1.0 - alpha))
    upper = middle + quantile * spread * math.sqrt(len(own) / (len(own) - 1.0))
    if mean <= 0.0:  # the active one makes no error
        return {
            "found": 0.0 if middle <= 0.0 else math.inf,
            "upper": 0.0 if upper <= 0.0 else math.inf,
        }
    return {"found": middle / mean + MARGIN, "upper": upper / mean + MARGIN}


def coverage(runs: Runs, predicted: Predictions, timed: Bools) -> dict[int, float]:
    """Share of the measured seconds within their intervals, of each cluster with 30 of them."""
    inside = (predicted.low <= runs.seconds) & (runs.seconds <= predicted.high)
    found = {}
    for i in np.unique(runs.cluster[timed]).tolist():
        mine = timed & (runs.cluster == i)
        if mine.sum() >= _RUNS:
            found[int(i)] = float(inside[mine].mean())
    return found


def makespans(
    runs: Runs, active: Predictions, candidate: Predictions, kept: Bools
) -> tuple[float, float]:
    """Mean doubly robust makespan of the plans that each of the two would make, in seconds.

    A task's time on a cluster is the mean of both predictions, and where the task ran there, what
    was measured beyond it, over the chance of the draw. It is right where the chances are, and
    where the predictions are. Each round's tasks are placed anew on the clusters that it used.
    """
    middle = np.sqrt(active.seconds * candidate.seconds)
    totals, count = np.zeros(2), 0
    for number in np.unique(runs.round[kept & (runs.round >= 0)]):
        tasks = np.flatnonzero(kept & (runs.round == number))
        used = np.unique(runs.cluster[tasks])
        for k, predicted in enumerate((active, candidate)):
            said = predicted.seconds[np.ix_(used, tasks)]
            plan = used[planned(said, runs.size[tasks], runs.slots[used])]
            seconds = middle[plan, tasks]
            ran = (plan == runs.cluster[tasks]) & ~np.isnan(runs.seconds[tasks])
            beyond = runs.seconds[tasks] - middle[runs.cluster[tasks], tasks]
            chance = np.maximum(runs.propensity[tasks], 1.0 / _MOST)
            seconds = seconds + np.where(ran, beyond / chance, 0.0)
            load = np.bincount(plan, runs.size[tasks] * seconds, len(runs.slots))
            totals[k] += float((load / np.maximum(runs.slots, 1.0)).max())
        count += 1
    return float(totals[0] / max(count, 1)), float(totals[1] / max(count, 1))


def planned(seconds: Floats, size: Floats, slots: Floats) -> Longs:
    """(n,) a plan: the longest task first, each where it ends soonest."""
    load, plan = np.zeros(len(slots)), np.zeros(len(size), np.int64)
    work = seconds * size / np.maximum(slots, 1.0)[:, None]
    for j in np.argsort(-work.min(axis=0), kind="stable"):
        plan[j] = int(np.argmin(load + work[:, j]))
        load[plan[j]] += work[plan[j], j]
    return plan
