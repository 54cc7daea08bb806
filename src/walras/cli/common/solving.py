"""What the commands of ``walras solve`` share: options, progress, the facts of a solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from walras.cli.common.progress import Interruptible, Stages
from walras.errors import InputError
from walras.reports.tables import Cell
from walras.solution import Solution

Tolerance = Annotated[float, typer.Option(help="Certified relative gap to reach.")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds; the best so far is returned.")]
Threads = Annotated[int | None, typer.Option(help="Threads; all cores when left out.")]
Engine = Annotated[str, typer.Option(help="auto, interior, admm, exact or pop.")]
Parts = Annotated[int | None, typer.Option(help="For --engine pop: parts, 4 when left out.")]
Device = Annotated[str, typer.Option(help="cpu, or a GPU: cuda, cuda:1.")]
Mode = Annotated[
    str | None,
    typer.Option(help="For --engine admm: hard, paper, penalty or augmented-lagrangian."),
]
Collapse = Annotated[
    bool, typer.Option("--collapse", help="For --engine admm: less memory, more iterations.")
]
Polish = Annotated[bool, typer.Option("--polish", help="An exact vertex, if linear.")]
ShowProgress = Annotated[bool, typer.Option("--progress/--no-progress", help="On stderr.")]


def refuse_unless(used: bool, option: str, value: object, way: str) -> None:
    """Refuse an option that was given without what makes use of it.

    Args:
        used: Whether something makes use of it.
        option: Its name.
        value: What was given, or None.
        way: What would make use of it.

    Raises:
        InputError: It was given, and nothing uses it.
    """
    if value is not None and not used:
        raise InputError(
            f"is {value}, but nothing uses it",
            where=option,
            allowed=f"with {way}",
            remedy=f"leave {option} out, or add {way}",
        )


def run(job: Callable[[Any], Solution], tolerance: float, progress: bool) -> Solution:
    """Run a solve that takes a callback, with progress and a first Ctrl-C that only stops it."""
    with (
        Interruptible() as interrupt,
        Stages({"solving": 1.0}, tolerance, interrupt, shown=progress) as stages,
    ):
        return job(stages.begin("solving"))


def facts_of(solution: Solution, violation: float) -> dict[str, Cell]:
    """What a solution is worth and how that is proved, by the name of the fact."""
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
