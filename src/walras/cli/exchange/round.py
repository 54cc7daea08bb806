"""``walras round`` and ``walras whatif``: see rounds, ask for one, play one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from walras.cli.common.streams import put, tell
from walras.cli.exchange.connect import (
    SERVER,
    Format,
    MostOption,
    OutputOption,
    ServerOption,
    TokenOption,
    client_of,
    emit,
    key_values,
)
from walras.exchange.api import views

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="""See rounds, ask for one.

    Examples:

      walras round list

      walras round show 12

      walras round diff 11 12
    """,
)

Seq = Annotated[int, typer.Argument(help="The round's number.", min=1)]
_COLUMNS = ("seq", "state", "started", "makespan", "gap", "method", "counts")


@app.command("list")
def list_rounds(
    most: MostOption = 20,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """List rounds, the newest first.

    Examples:

      walras round list --most 5
    """
    with client_of(server, token_file) as client:
        emit(client.rounds.list(most), output, _COLUMNS)


@app.command()
def show(
    seq: Seq,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Show a round and where it placed tasks.

    Examples:

      walras round show 12 -o yaml
    """
    with client_of(server, token_file) as client:
        found = client.rounds.get(seq)
    if output is not Format.TABLE:
        emit(found, output)
        return
    emit(views.Round(**found.model_dump(include=set(views.Round.model_fields))), output)
    emit(found.placements, output, ("name", "tenant", "cluster", "slots", "state"), "placements")


@app.command()
def run(
    wait: Annotated[float, typer.Option(help="Seconds to wait for its end.")] = 60.0,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Ask for a round now, and wait for it.

    Examples:

      walras round run
    """
    with client_of(server, token_file) as client:
        emit(client.wait(client.rounds.run(), wait), output, title="job")


@app.command()
def diff(
    seq: Seq,
    other: Seq,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Show what differs between two rounds.

    Examples:

      walras round diff 11 12
    """
    with client_of(server, token_file) as client:
        found = client.rounds.diff(seq, other)
    if output is not Format.TABLE:
        emit(found, output)
        return
    for name, (one, two) in found.figures.items():
        put(f"{name}: {_figure(one)} -> {_figure(two)}")
    emit(found.moves, output, ("task", "before", "after"), "moves")


def _figure(value: float | None) -> str:
    """A figure of a round; a round that failed has none."""
    return "none" if value is None else f"{value:.6g}"


def whatif(
    cordon: Annotated[list[str] | None, typer.Option(help="Cluster to give nothing new.")] = None,
    drain: Annotated[
        list[str] | None, typer.Option(help="Cluster that gives its offers back, too.")
    ] = None,
    slots: Annotated[list[str] | None, typer.Option(help="CLUSTER=FREE slots.")] = None,
    min_success: Annotated[float | None, typer.Option(help="Another floor.")] = None,
    round: Annotated[int | None, typer.Option(help="On this past round; else on now.")] = None,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Play a round with some things otherwise; nothing is published.

    Examples:

      walras whatif --drain east

      walras whatif --slots west=16 --min-success 0.9
    """
    changes: dict[str, Any] = {
        "cordon": cordon or [],
        "drain": drain or [],
        "slots": key_values(slots, "slots", int),
        "min_success": min_success,
        "round": round,
    }
    with client_of(server, token_file) as client:
        found = client.rounds.whatif(**{k: v for k, v in changes.items() if v is not None})
    if output is not Format.TABLE:
        emit(found, output)
        return
    put(f"{found.placed} placed, {found.unplaced} not; {found.state}")
    for name, value in found.figures.items():
        put(f"{name}: {_figure(value)}")
    emit(found.moves, output, ("task", "before", "after"), "moves")
    if found.more:
        tell(f"{found.more} more; -o json shows 500")
