"""What the commands of ``walras network`` share: options, the scenario, the progress."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from walras.cli.common.errors import ExitCode
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.streams import tell
from walras.network.scenario.scenario import EXAMPLE, Scenario, read_scenario, scenario
from walras.status import Status

ConfigArgument = Annotated[
    Path | None, typer.Argument(help="A TOML file; the built-in example when left out.")
]
SaveOption = Annotated[
    Path | None, typer.Option("--save", help="Folder for run.json, steps.csv and figures.")
]
StepsOption = Annotated[int | None, typer.Option(help="In place of the file's number of steps.")]
ProgressOption = Annotated[bool, typer.Option("--progress/--no-progress", help="Show progress.")]


def read(config: Path | None) -> Scenario:
    """The scenario in a file; the built-in example, and a word that it is, where none is named.

    Raises:
        WalrasError: The file is not there, or a value cannot be used.
    """
    if config is not None:
        return read_scenario(config)
    tell("the built-in example (walras network example prints it)")
    return scenario(tomllib.loads(EXAMPLE))


def end_if_stopped(status: Status, done: int, count: int, rest: str = "") -> None:
    """Say how far a run came that Ctrl-C stopped, and end with its exit code.

    Raises:
        Exit: It was stopped.
    """
    if status is Status.INTERRUPTED:
        tell(f"stopped at {done} of {count}{rest}")
        raise typer.Exit(ExitCode.INTERRUPTED)


@contextmanager
def shown(expected: dict[str, float], wanted: bool) -> Iterator[Stages]:
    """The progress of stages, by name and relative length; Ctrl-C ends them in order."""
    with Interruptible() as interrupt, Stages(expected, 1e-6, interrupt, shown=wanted) as stages:
        yield stages
