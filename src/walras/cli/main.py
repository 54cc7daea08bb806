"""The ``walras`` command: its sub-commands are imported only when they run."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from walras.cli.common.errors import guarded
from walras.cli.common.streams import keep_stdout_for_results
from walras.cli.common.usage_errors import options_of, run
from walras.errors import StoppedError


@dataclass(frozen=True)
class LazyCommand:
    """A sub-command that is not imported yet.

    Attributes:
        target: ``module:name`` of its function or Typer application.
        summary: Its line in ``walras --help``.
    """

    target: str
    summary: str

    def load(self, name: str) -> Any:
        """Import the sub-command and make it a command of that name.

        Raises:
            StoppedError: Ctrl-C came meanwhile.
        """
        module, attribute = self.target.split(":")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except KeyboardInterrupt as pressed:  # typer would end without a word
            raise StoppedError("interrupted") from pressed
        if not isinstance(found, typer.Typer):
            application = typer.Typer(add_completion=False)
            application.command(name)(found)
            found = application
        found.rich_markup_mode = None
        command = get_command(found)
        command.name = name
        return command


COMMANDS: Mapping[str, LazyCommand] = {
    "demo": LazyCommand("walras.cli.demo:demo", "Place tasks by predictions; solve a round."),
    "solve": LazyCommand("walras.cli.solve:app", "Solve a problem from CSV tables or an MPS file."),
    "place": LazyCommand(
        "walras.cli.place:app", "Place tasks with CPU, memory and GPUs on real machines."
    ),
    "rebalance": LazyCommand(
        "walras.cli.rebalance:app", "Bring servers' loads into a band with few moves of shards."
    ),
    "match": LazyCommand(
        "walras.cli.match:app", "Place tasks on clusters: soon enough, and enough of them succeed."
    ),
    "learn": LazyCommand(
        "walras.cli.learn:app", "Train predictors by the decisions they feed; see what pays."
    ),
    "network": LazyCommand(
        "walras.cli.network:app", "Share CPU and train a model over a network without a centre."
    ),
    "shadow": LazyCommand(
        "walras.cli.shadow:app", "What the exchange would have done with your scheduler's log."
    ),
    "simulate": LazyCommand(
        "walras.cli.simulate.app:app", "Run policies on traces of jobs in virtual time."
    ),
    "serve": LazyCommand("walras.cli.exchange.serve:serve", "Serve an exchange of tasks."),
    "agent": LazyCommand("walras.cli.exchange.agent:app", "Run the tasks a cluster is given."),
    "task": LazyCommand("walras.cli.exchange.task:app", "Submit tasks to an exchange."),
    "why": LazyCommand("walras.cli.exchange.task:why", "Say why a task is where it is."),
    "cluster": LazyCommand("walras.cli.exchange.cluster:app", "Offer clusters to an exchange."),
    "round": LazyCommand("walras.cli.exchange.round:app", "See an exchange's rounds."),
    "whatif": LazyCommand("walras.cli.exchange.round:whatif", "Play a round of an exchange."),
    "predictor": LazyCommand("walras.cli.exchange.predictor:app", "See an exchange's predictors."),
    "tenant": LazyCommand("walras.cli.exchange.tenant:app", "Who shares an exchange."),
    "token": LazyCommand("walras.cli.exchange.token:app", "Who may do what at an exchange."),
    "login": LazyCommand("walras.cli.exchange.login:login", "Open an exchange's pages."),
    "kueue": LazyCommand(
        "walras.cli.exchange.kueue:app", "Nominate clusters for Kueue's workloads."
    ),
    "db": LazyCommand("walras.cli.exchange.db:app", "Migrate, back up, check its database."),
    "bench": LazyCommand("walras.cli.bench:bench", "Measure against peers on this computer."),
    "data": LazyCommand("walras.cli.data:app", "List, find, fetch and verify real data sets."),
    "doctor": LazyCommand("walras.cli.doctor:doctor", "Show versions, threads, kernels and data."),
}


class LazyGroup(TyperGroup):
    """Lists sub-commands from ``COMMANDS`` and imports only the one that runs."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the sub-commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A placeholder that carries the name and summary, or None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name].summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The sub-command that ``args`` name, imported."""
        name, placeholder, rest = super().resolve_command(ctx, args)
        if name is None or placeholder is None:
            return name, placeholder, rest
        return name, COMMANDS[placeholder.name or name].load(placeholder.name or name), rest


# Help without boxes is there in a third of the time.
app = typer.Typer(
    cls=LazyGroup, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"walras {version('walras')}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version."),
    ] = False,
) -> None:
    """Allocate computing resources at scale, and prove how good the allocation is.

    Examples:

      walras demo

      walras data list

      walras solve cluster --help

    Exit codes: 0 done, 1 the engine failed, 2 bad input or usage, 3 infeasible,
    4 unbounded, 5 a limit was reached before the tolerance, 6 data not found or
    unreadable, 130 interrupted.
    """


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    keep_stdout_for_results()
    arguments = sys.argv[1:]
    guarded(lambda: run(app, arguments), arguments, lambda: options_of(app, arguments))
