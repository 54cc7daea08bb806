"""Scale traffic until a network can serve a given share of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from walras import checks
from walras.deprecated import renamed_keywords
from walras.domains.traffic_engineering import matrices
from walras.domains.traffic_engineering.matrices import Demand
from walras.domains.traffic_engineering.network import of_kind
from walras.domains.traffic_engineering.objectives import max_total_flow
from walras.domains.traffic_engineering.paths import Paths
from walras.engines.base import Engine
from walras.errors import InputError
from walras.progress import OnProgress, Progress
from walras.solution import Solution
from walras.solving import solve
from walras.types import Floats

_STEP = 4.0  # factor of a step while no two factors enclose the share
_SOLVES = 60


def _of_factor(report: Callable[[float, float], object]) -> OnProgress:
    """A hook from a function of (factor, share served), the form of ``progress=`` before 0.2."""

    def hook(step: Progress) -> None:
        report(step.step, step.value)

    return hook


@renamed_keywords(_of_factor, progress="on_progress")
def scaled_traffic(
    demand: Demand,
    paths: Paths,
    satisfied: float = 0.92,
    *,
    within: float = 0.005,
    engine: str | Engine = "auto",
    on_progress: OnProgress | None = None,
) -> Floats:
    """Scale the matrix by the factor at which the best flow serves a given share of it.

    The largest flow is concave in the factor f and zero at 0, so the served share,
    ``flow(f) / (f total)``, never rises with f. Bisection of its logarithm finds the factor; each
    solve starts from the one before. Xu et al., OSDI 2025, show networks that serve about 92 % of
    their traffic.

    Args:
        demand: (nodes, nodes) traffic.
        paths: Candidate paths.
        satisfied: The share, above 0 and below 1.
        within: Allowed distance from the share, > 0.
        engine: The engine for each problem, to a gap of a tenth of ``within``.
        on_progress: Called after each solve with a Progress: ``step`` is the factor, ``value`` the
            share served at it. True returns the traffic at that factor.

    Returns:
        (nodes, nodes) traffic.

    Raises:
        InputError: The matrix or a number cannot be used, or the share jumps over the wanted one.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> print(te.scaled_traffic(demand, paths, satisfied=0.9).sum().round(1))
        21.4
    """
    of_kind(paths, Paths, "paths")
    satisfied = checks.number(satisfied, "satisfied", above=0.0, below=1.0)
    within = checks.number(within, "within", above=0.0, below=1.0)
    traffic = matrices.traffic(demand, paths.network)
    low, high, factor = 0.0, np.inf, 1.0
    found: Solution | None = None
    for k in range(_SOLVES):
        scaled = factor * traffic
        problem = max_total_flow(paths.network, scaled, paths)
        found = solve(problem, engine=engine, tolerance=0.1 * within, start=found)
        share = found.value / float(scaled.sum())
        step = Progress(k, value=share, bound=satisfied, step=factor)
        stopped = on_progress is not None and on_progress(step)
        if stopped or abs(share - satisfied) <= within:
            return scaled
        low, high = (factor, high) if share > satisfied else (low, factor)
        factor = _between(low, high)
    raise InputError(
        f"no factor serves it; the share jumps near the factor {factor:g}",
        where="satisfied",
        allowed="a share that some factor serves",
        remedy="allow more by within=",
    )


def _between(low: float, high: float) -> float:
    """The geometric mean, or a step beyond the only known end."""
    if low == 0.0:
        return high / _STEP
    return low * _STEP if np.isinf(high) else float(np.sqrt(low * high))
