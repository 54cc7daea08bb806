"""What a solution is worth and how that is proved, by the name of the fact."""

from __future__ import annotations

from walras.reports.tables import Cell
from walras.solution import Solution


def facts_of(solution: Solution, violation: float) -> dict[str, Cell]:
    """The facts of a solution.

    Args:
        solution: The solution.
        violation: Largest violation of any rule, by an independent evaluation.
    """
    return {
        "objective": solution.problem.objective,
        "status": str(solution.status),
        "value": solution.value,
        "bound": solution.bound,
        "bound of": solution.bound_source,
        "gap": solution.gap,
        "gap is": solution.gap_unit,
        "violation": violation,
        "engine": solution.engine,
        "seconds": solution.timings.total,
    }
