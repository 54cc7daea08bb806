"""Gandiva-like packing: where jobs do not fit, they are grouped into pairs at random."""

from __future__ import annotations

import random

import numpy as np

from walras import checks
from walras.rounds import JobsSnapshot, Shares
from walras.rounds.pairs import Pairs
from walras.simulate.time_shared import Policy
from walras.types import Longs


def gandiva(seed: int = 0) -> Policy:
    """Gandiva-like packing: equal parts of all workers, for random pairs where jobs do not fit.

    Where the jobs ask for no more workers than there are, each has an equal part alone. Else jobs
    that are in no pair are drawn two by two; two of one size become a pair and stay one as long as
    both are there and gain, that is, run together at a sum of speeds relative to alone, over the
    types, of one or more. A job that finds no partner is alone until the next decision. Sources:
    Xiao et al., OSDI 2018 (Gandiva), as the baseline of Narayanan et al., OSDI 2020, section 7.1,
    has it.

    Args:
        seed: Of the drawn pairs. The policy remembers them: make a new one for each run.

    Returns:
        The policy.

    Raises:
        InputError: The seed is out of range.

    Example:
        >>> import numpy as np
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(
        ...     ["a", "b"],
        ...     speed=[[1.0], [1.0]],
        ...     workers=[1],
        ...     group=[0, 0],
        ...     paired=np.full((1, 1, 1), 0.8),
        ... )
        >>> wl.policies.gandiva()(jobs).pair_time.tolist()
        [[1.0]]
    """
    draws = random.Random(checks.whole(seed, "seed"))
    partner: dict[str, str] = {}  # of each job that was grouped

    def decide(snapshot: JobsSnapshot) -> Shares:
        pairs = snapshot.pairs
        _part(partner, snapshot, pairs)
        together = np.zeros(0, np.int64)
        if snapshot.size.sum() > snapshot.workers.sum():
            _group(partner, snapshot, draws)
            found = pairs.places(_positions(partner, snapshot)[1])
            together = found[found >= 0]
        return _equal_parts(snapshot, pairs, together)

    decide.__name__ = "gandiva"
    return decide


def _positions(partner: dict[str, str], snapshot: JobsSnapshot) -> tuple[list[str], Longs]:
    """The first job of each pair that is there by name, and (Q, 2) the places of both."""
    at = {name: j for j, name in enumerate(snapshot.name)}
    there = [(at[a], at[b]) for a, b in partner.items() if a in at and b in at]
    both = sorted(pair for pair in there if pair[0] < pair[1])
    return [snapshot.name[one] for one, _ in both], np.array(both, np.int64).reshape(-1, 2)


def _part(partner: dict[str, str], snapshot: JobsSnapshot, pairs: Pairs) -> None:
    """Keep pairs that are there, run on every type, and gain: the relative speeds of both, summed
    over the types, are one or more.
    """
    names, jobs = _positions(partner, snapshot)
    place = pairs.places(jobs)
    known = place >= 0
    alone = np.where(snapshot.speed > 0.0, snapshot.speed, np.inf)[jobs[known]]
    gain = np.zeros(len(names))
    gain[known] = (pairs.speed[place[known]] / alone).sum(axis=(1, 2))
    gain[known] *= pairs.fits[place[known]].all(axis=1)
    kept = {(one, partner[one]) for one, g in zip(names, gain.tolist(), strict=True) if g >= 1.0}
    partner.clear()
    partner.update(kept | {(other, one) for one, other in kept})


def _group(partner: dict[str, str], snapshot: JobsSnapshot, draws: random.Random) -> None:
    """Draw two jobs at a time of those in no pair, as often as there are such jobs."""
    size = dict(zip(snapshot.name, snapshot.size.tolist(), strict=True))
    left = [name for name in snapshot.name if name not in partner]
    for _ in range(len(left)):
        if len(left) < 2:
            break
        one, other = draws.sample(left, 2)
        if size[one] == size[other]:
            left.remove(one)
            left.remove(other)
            partner[one], partner[other] = other, one


def _equal_parts(snapshot: JobsSnapshot, pairs: Pairs, together: Longs) -> Shares:
    """An equal part of all workers for each pair and each job that is in none."""
    pair = pairs.jobs[together]
    alone = np.ones(len(snapshot), np.bool_)
    alone[pair] = False
    units = int(alone.sum()) + len(pair)
    part = snapshot.workers / max(units, 1) / snapshot.size[:, None]
    part = part / np.maximum(part.sum(axis=1, keepdims=True), 1.0)
    return snapshot.shares(
        np.where(snapshot.fits & alone[:, None], part, 0.0),
        pair=pair,
        pair_time=np.where(pairs.fits[together], part[pair[:, 0]], 0.0),
        policy="gandiva",
    )
