"""Pairs of jobs that may share workers, and how fast both run while they do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.types import Bools, Floats, Longs


class Pairs(NamedTuple):
    """P pairs of jobs of one size each, in the order of their jobs.

    Attributes:
        jobs: (P, 2) places of both jobs, the first one before the second.
        speed: (P, 2, T) steps a second of both on a type; 0 for both where they do not fit.
    """

    jobs: Longs
    speed: Floats

    @property
    def fits(self) -> Bools:
        """(P, T) whether a pair can run on a type."""
        return np.asarray((self.speed > 0.0).all(axis=1))

    def places(self, jobs: Longs) -> Longs:
        """Places of pairs, or -1 where two jobs are no pair.

        Args:
            jobs: (Q, 2) places of jobs, the first one before the second.

        Returns:
            (Q,) places among the P pairs.
        """
        n = int(max(self.jobs.max(initial=0), jobs.max(initial=0))) + 1
        known, wanted = self.jobs @ (n, 1), jobs @ (n, 1)
        at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        return np.where(known[at] == wanted, at, -1) if len(known) else np.full(len(wanted), -1)


def paired_speed(jobs: Longs, group: Longs, paired: Floats, size: Longs, fits: Bools) -> Floats:
    """How fast both jobs of pairs run while they share workers.

    Args:
        jobs: (P, 2) places of both jobs.
        group: (N,) group of each job; -1 where it shares with nobody.
        paired: (G, G, T) steps a second of a job of one group beside one of another.
        size: (N,) workers of each job; both jobs of a pair have as many.
        fits: (N, T) whether a job can run on a type alone.

    Returns:
        (P, 2, T) steps a second of both; 0 for both where they cannot run together.
    """
    speed = np.zeros((len(jobs), 2, fits.shape[1]))
    able = np.flatnonzero((group[jobs] >= 0).all(axis=1) & (size[jobs[:, 0]] == size[jobs[:, 1]]))
    if len(able):
        one, other = jobs[able].T
        speed[able, 0] = paired[group[one], group[other]]
        speed[able, 1] = paired[group[other], group[one]]
        runs = (speed[able] > 0.0).all(axis=1) & fits[one] & fits[other]
        speed[able] *= runs[:, None, :]
    return speed


def pairs_of(group: Longs, paired: Floats, size: Longs, fits: Bools) -> Pairs:
    """The pairs of jobs that can share workers of some type.

    Args:
        group: (N,) group of each job; -1 where it shares with nobody.
        paired: (G, G, T) steps a second of a job of one group beside one of another.
        size: (N,) workers of each job; both jobs of a pair have as many.
        fits: (N, T) whether a job can run on a type alone.

    Returns:
        The pairs in the order of their jobs.
    """
    shares = np.flatnonzero(group >= 0)
    one, other = (shares[side] for side in np.triu_indices(len(shares), 1))
    alike = size[one] == size[other]
    one, other = one[alike], other[alike]
    jobs = np.stack([one, other], axis=1)
    speed = paired_speed(jobs, group, paired, size, fits)
    useful = (speed > 0.0).any(axis=(1, 2))
    return Pairs(jobs[useful], speed[useful])
