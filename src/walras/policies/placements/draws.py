"""Placements drawn at random, so that what predictors learn from is not their own choice alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.policies.placements.problem import Problem
from walras.types import Floats, Longs


@dataclass(frozen=True)
class Draws:
    """Draws a cluster for a share of the tasks, each among those that are nearly the best.

    Attributes:
        share: Of the tasks.
        near: A cluster is drawn among those whose time is within this share of the task's best.
        seed: Of the draws.
        growth: By which share the makespan may grow for them.
    """

    share: float
    near: float
    seed: int
    growth: float = 0.0

    def __call__(self, problem: Problem, limit: float) -> tuple[Longs, Floats]:
        """Draw.

        Args:
            problem: The problem.
            limit: No cluster is drawn that takes longer.

        Returns:
            (n,) clusters, -1 where none was drawn; (n,) the chance of each.
        """
        n = len(problem.size)
        drawn, chance = np.full(n, -1), np.zeros(n)
        numbers = np.random.default_rng([self.seed, 2]).random((n, 2))
        room, left = problem.room.copy(), problem.cap.copy()
        for j in np.flatnonzero(numbers[:, 0] < self.share):
            seconds = problem.seconds[j]
            most = min(float(seconds.min()) * (1.0 + self.near), limit)
            open_ = (seconds <= most) & (room >= problem.size[j])
            if len(left):
                open_ &= (problem.group < 0) | (left[problem.group] > 0)
            near = np.flatnonzero(open_)
            if len(near) < 2:
                continue  # nothing to learn
            i = int(near[int(numbers[j, 1] * len(near))])
            drawn[j], chance[j] = i, 1.0 / len(near)
            room[i] -= problem.size[j]
            if problem.group[i] >= 0:
                left[problem.group[i]] -= 1
        return drawn, chance
