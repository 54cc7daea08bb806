"""Policies that maximise or minimise one objective, by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from walras import checks
from walras.policies.makespan import makespan
from walras.policies.max_min import max_min
from walras.policies.proportional import proportional_fairness
from walras.policies.total_duration import total_duration
from walras.policies.total_throughput import total_throughput
from walras.simulate.time_shared import Policy

OBJECTIVES: Mapping[str, Callable[..., Policy]] = {
    "makespan": makespan,
    "max_min": max_min,
    "proportional_fairness": proportional_fairness,
    "total_duration": total_duration,
    "total_throughput": total_throughput,
}
"""Functions of ``engine``, ``warm`` and ``tolerance``, which :func:`walras.solve` takes."""


def objective_of(name: str) -> Callable[..., Policy]:
    """The policy of an objective.

    Raises:
        InputError: There is no such objective.
    """
    return OBJECTIVES[checks.one_of(name, "objective", OBJECTIVES, "objective")]
