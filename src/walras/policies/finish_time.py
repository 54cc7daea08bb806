"""Finish-time fairness as a policy of time-shared rounds."""

from __future__ import annotations

import numpy as np

from walras.policies.central import central_ratio
from walras.policies.options import needs_speeds
from walras.policies.solved import needs_types
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.types import Floats


def finish_time_fairness(by_speed: bool = True, sharing: bool = False) -> Policy:
    """Finish-time fairness: the job that ends latest, relative to its time alone, ends soonest.

    A job alone has an equal part of every type. Its seconds alone are those that its steps done
    would have taken so at the parts of their time, and those that its steps left would take now.
    The decision notes what the next one needs of this: ``alone``, ``left`` and ``rate``. The time
    that the least ratio leaves over is spread: shares are the centre of the best ones. Sources:
    Mahajan et al., NSDI 2020 (Themis); Narayanan et al., OSDI 2020, section 4.2.

    Args:
        by_speed: Whether the policy knows speeds; if not, every type has the speed of the first
            type of the cluster on which a job runs.
        sharing: Whether two jobs may share their workers, where the trace has speeds of pairs.

    Returns:
        The policy; its decisions carry value and bound.

    Raises:
        InputError: ``sharing`` is asked for without ``by_speed``, or, in a round, a job can run
            nowhere.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [1.0]], workers=[1], steps=[10, 30])
        >>> round(wl.policies.finish_time_fairness()(jobs).value, 2)
        1.0
    """
    needs_speeds(by_speed=by_speed, sharing=sharing)
    name = "finish-time fairness" + ("" if by_speed else " blind") + " sharing" * sharing

    def decide(snapshot: JobsSnapshot) -> Shares:
        if not len(snapshot):
            return snapshot.shares(np.zeros(snapshot.speed.shape), policy=name)
        speed = _speed(snapshot, by_speed=by_speed)
        alone, rate = seconds_alone(snapshot, speed)
        found = central_ratio(
            speed,
            snapshot.left,
            snapshot.at - snapshot.arrival,
            alone + snapshot.left / rate,
            snapshot.size,
            snapshot.workers,
            snapshot.group if sharing else np.full(len(snapshot), -1),
            snapshot.paired,
        )
        return snapshot.shares(
            found.time,
            pair=found.pair,
            pair_time=found.pair_time,
            policy=name,
            blind=not by_speed,
            value=found.value,
            bound=found.bound,
            notes={"alone": alone, "left": snapshot.left, "rate": rate},
        )

    decide.__name__ = name
    return decide


def _speed(snapshot: JobsSnapshot, *, by_speed: bool) -> Floats:
    needs_types(snapshot)
    if by_speed:
        return np.where(snapshot.fits, snapshot.speed, 0.0)
    first = snapshot.speed[np.arange(len(snapshot)), np.argmax(snapshot.fits, axis=1)]
    return np.where(snapshot.fits, first[:, None], 0.0)


def seconds_alone(snapshot: JobsSnapshot, speed: Floats) -> tuple[Floats, Floats]:
    """(N,) seconds that the steps done would have taken alone, and steps a second alone now.

    Args:
        snapshot: The round.
        speed: (N, T) steps a second of each job on each type.
    """
    return _alone(snapshot), (speed * _part(snapshot)).sum(axis=1)


def _part(snapshot: JobsSnapshot) -> Floats:
    """(N, T) shares of time that an equal part of every type gives to a job."""
    part = snapshot.workers[None, :] / len(snapshot) / snapshot.size[:, None]
    return np.asarray(part / np.maximum(part.sum(axis=1, keepdims=True), 1.0))


def _alone(snapshot: JobsSnapshot) -> Floats:
    """(N,) seconds that the steps done would have taken alone."""
    alone = np.zeros(len(snapshot))
    last = snapshot.last
    if last is None or "rate" not in last.notes:
        return alone
    at = np.array([last.place_of.get(name, -1) for name in snapshot.name])
    old = at >= 0
    kept = {name: note[at[old]] for name, note in last.notes.items()}
    alone[old] = kept["alone"] + (kept["left"] - snapshot.left[old]) / kept["rate"]
    return alone
