"""Small rounds, and what a decision tells of a task."""

from __future__ import annotations

from typing import Any

import numpy as np

from walras.policies.placements import Policy
from walras.rounds import (
    Clusters,
    Decision,
    FeatureSet,
    Rules,
    Snapshot,
    Tasks,
    Tenants,
)

CALM = Policy(explore=0.0)


def stated(
    n: int,
    clusters: Clusters,
    *,
    rules: Rules | None = None,
    tenants: Tenants | None = None,
    more: dict[str, Any] | None = None,
    **tasks: Any,
) -> Snapshot:
    """N tasks whose one feature is their number, for predictions from a table."""
    numbers = np.arange(n, dtype=np.float32)[:, None]
    given = {"features": (FeatureSet(("task",), numbers),), "rules": rules or Rules(0.0)}
    made_tasks = Tasks.of([f"t{j}" for j in range(n)], **tasks)
    return Snapshot.of(made_tasks, clusters, tenants or Tenants.of(["lab"]), **given | (more or {}))


def trusted(m: int, **given: Any) -> Clusters:
    return Clusters.of([f"c{i}" for i in range(m)], trusted=[True] * m, **given)


def reasons(decision: Decision, j: int) -> list[str]:
    return [str(blocker) for blocker in decision.blockers.about(j)]
