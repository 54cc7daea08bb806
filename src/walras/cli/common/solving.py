"""What the commands of ``walras solve`` share: options, progress, the facts of a solution."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from walras.cli.common.progress import Callback, Interruptible, Stages
from walras.errors import InputError
from walras.solution import Solution

TOLERANCE = 1e-6
"""What a solve aims at where no tolerance is asked for."""

Tolerance = Annotated[
    float | None,
    typer.Option(help="Certified relative gap that must be reached; left out: aim at 1e-6."),
]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds; the best so far is returned.")]
Threads = Annotated[int | None, typer.Option(help="Threads; all cores when left out.")]
Device = Annotated[str, typer.Option(help="cpu, or a GPU: cuda, cuda:1.")]
Polish = Annotated[bool, typer.Option("--polish", help="An exact vertex, if linear.")]
Report = Annotated[Path | None, typer.Option(help="Write an HTML page.")]
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


def run(
    job: Callable[[Callback], Solution],
    tolerance: float,
    progress: bool,
    name: str,
    limit: float | None = None,
) -> Solution:
    """Run a solve with progress and a first Ctrl-C that only stops it.

    Args:
        job: The solve; it takes the hook for its progress.
        tolerance: At which it ends.
        progress: Whether to show any.
        name: What is solved, to name the stage.
        limit: Seconds after which it stops, or None.
    """
    with (
        Interruptible() as interrupt,
        Stages({name: 1.0}, tolerance, interrupt, shown=progress, limit=limit) as stages,
    ):
        return job(stages.begin(name))
