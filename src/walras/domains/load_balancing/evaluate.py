"""The effects of shares on a round, from the definition alone: loads, moves, violations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.domains.load_balancing.instance import Round
from walras.short_repr import short_repr
from walras.types import Bools, Floats

_ROOM = 1e300  # of servers without a limit, as a denominator


@short_repr
@dataclass(frozen=True)
class Evaluation:
    """Moves, cost and feasibility of a placement, by plain arithmetic.

    Attributes:
        moves: Number of pairs with a new replica.
        cost: Their cost.
        violation: Largest violation: of bands relative to the mean load, of memory relative to the
            room, of sums of shares, of counts of replicas and zones.
        loads: (servers,) load of each server.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> found = lb.evaluate(round_, lb.solve_round(round_).shares)
        >>> found.moves, found.loads.round(2)
        (1, array([5.5, 4.5]))
    """

    moves: int
    cost: float
    violation: float
    loads: Floats


def evaluate(problem: Round, shares: Floats, placement: Bools | None = None) -> Evaluation:
    """Evaluate a placement by plain arithmetic, without a solver.

    Args:
        problem: The round.
        shares: (servers, shards) part of each shard's load on each server.
        placement: (servers, shards) True at replicas; where shares are positive if None.

    Returns:
        Moves, cost, violation and loads.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> lb.evaluate(round_, lb.solve_round(round_).shares).moves
        1
    """
    placed = shares > 0.0 if placement is None else placement
    mean = float(problem.load.sum()) / problem.servers
    loads = shares @ problem.load
    used = placed @ problem.footprint
    room = np.where(problem.drain, 0.0, problem.memory)
    counts = placed.sum(axis=0)
    zones = np.array([placed[problem.zone == z].any(axis=0) for z in np.unique(problem.zone)])
    wanted = counts if problem.replicas is None else problem.replicas
    breaches = (
        np.max(loads - problem.upper) / mean,
        np.max(problem.lower - loads) / mean,
        np.max((used - room) / np.clip(room, 1.0, _ROOM)),
        np.max(np.abs(shares.sum(axis=0) - 1.0)),
        -np.min(shares),
        np.max(np.where(placed, 0.0, shares)),
        float(np.max(np.abs(counts - wanted))),
        float(np.max(problem.spread - zones.sum(axis=0))),
    )
    new = placed & ~problem.held
    cost = float(new.sum(axis=0) @ problem.cost)
    return Evaluation(int(new.sum()), cost, float(max(0.0, *breaches)), loads)
