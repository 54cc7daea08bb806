"""What a round whose runs have ended could have been: three parts, and never one number.

1. *solver*: makespan of the plan less its certified bound, by the predictions it was made from.
2. *prediction*: the same plan with what its runs took in place of what they were expected to take.
3. *not observable*: what other plans would have taken; only the chosen cluster's run is known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from walras.exchange.store.schema import cluster, observation, placement, round_, task
from walras.exchange.store.statements import Statement, Transaction, document, given

_LOOK_BACK = 10_000  # rounds before the newest; older ones are left as they are
_OPEN = sa.or_(
    placement.c.state.in_([sa.literal_column(f"'{s}'") for s in ("offered", "leased", "running")]),
    sa.and_(
        placement.c.state == sa.literal_column("'unreachable'"),
        task.c.state == sa.literal_column("'held'"),
    ),
)
_FINISHED = Statement(
    sa.select(round_.c.id, round_.c.makespan, round_.c.bound, round_.c.gap)
    .where(
        round_.c.regret.is_(None),
        round_.c.state.in_(["published", "fallback"]),
        round_.c.id > sa.select(sa.func.max(round_.c.id)).scalar_subquery() - _LOOK_BACK,
        ~sa.exists(
            sa.select(placement.c.id)
            .join(task, task.c.id == placement.c.task)
            .where(placement.c.round == round_.c.id, _OPEN)
        ),
    )
    .order_by(round_.c.id)
    .limit(given("most"))
)
_RUNS = Statement(
    sa.select(
        placement.c.cluster,
        cluster.c.slots,
        placement.c.slots,
        placement.c.predicted,
        observation.c.seconds,
        observation.c.outcome,
    )
    .join(cluster, cluster.c.id == placement.c.cluster)
    .join(observation, observation.c.placement == placement.c.id, isouter=True)
    .where(placement.c.round == given("seq"))
    .order_by(placement.c.id)
)
_KEEP = Statement(
    sa.update(round_)
    .where(round_.c.id == given("seq"), round_.c.regret.is_(None))
    .values(regret=given("regret_"))
)


@dataclass(frozen=True)
class Run:
    """A placement of a round that has ended.

    Attributes:
        cluster: Which cluster.
        capacity: Slots of the cluster.
        slots: Slots that it took.
        predicted: Seconds that it was expected to take, or None.
        seconds: Seconds that it took, or None: it was not completed, or is not known.
    """

    cluster: int
    capacity: int
    slots: int
    predicted: float | None
    seconds: float | None


def regret(
    makespan: float | None, bound: float | None, gap: float | None, runs: Sequence[Run]
) -> dict[str, Any]:
    """The three parts of a round.

    Args:
        makespan: Of the plan, by its predictions; None where nothing was predicted.
        bound: That no plan is below, by the same predictions.
        gap: Share of the makespan between the two.
        runs: What came of its placements.

    Example:
        >>> from walras.exchange.service.regret import Run, regret
        >>> found = regret(10.0, 9.0, 0.1, [Run(1, 2, 1, 10.0, 12.0)])
        >>> found["solver"]["seconds"], found["prediction"]["seconds"]
        (1.0, 2.0)
    """
    solver = None
    if makespan is not None and bound is not None:
        solver = {"seconds": max(makespan - bound, 0.0), "gap": gap}
    both = [run for run in runs if run.predicted is not None and run.seconds is not None]
    prediction = None
    if both:
        expected = _makespan([(r, r.predicted or 0.0) for r in both])
        measured = _makespan([(r, r.seconds or 0.0) for r in both])
        prediction = {"predicted": expected, "measured": measured, "seconds": measured - expected}
    return {
        "solver": solver,
        "prediction": prediction,
        "not_observable": "what other plans would have taken",
        "runs": len(both),
        "left_out": len(runs) - len(both),
    }


def _makespan(runs: Sequence[tuple[Run, float]]) -> float:
    """A cluster ends when its slots have done all work, and its longest run has ended."""
    work: dict[int, float] = defaultdict(float)
    longest: dict[int, float] = defaultdict(float)
    for run, seconds in runs:
        work[run.cluster] += run.slots * seconds / max(run.capacity, 1)
        longest[run.cluster] = max(longest[run.cluster], seconds)
    return max(max(work[key], longest[key]) for key in work)


def account(tx: Transaction, most: int = 100) -> int:
    """Keep the three parts of rounds whose runs have all ended; how many rounds."""
    found = tx.rows(_FINISHED, most=most)
    for seq, makespan, bound, gap in found:
        runs = [
            Run(int(key), int(capacity), int(slots), predicted, _taken(seconds, outcome))
            for key, capacity, slots, predicted, seconds, outcome in tx.rows(_RUNS, seq=seq)
        ]
        tx.run(_KEEP, seq=seq, regret_=document(regret(makespan, bound, gap, runs)))
    return len(found)


def _taken(seconds: float | None, outcome: str | None) -> float | None:
    return seconds if outcome == "completed" else None
