"""``walras predictor``: what predicts times and success, and how well."""

from __future__ import annotations

from typing import Annotated

import typer

from walras.cli.exchange.connect import (
    SERVER,
    Format,
    MostOption,
    OutputOption,
    ServerOption,
    TokenOption,
    client_of,
    emit,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="""What predicts times and success, and how well.

    Examples:

      walras predictor list

      walras predictor train
    """,
)


@app.command("list")
def list_predictors(
    most: MostOption = 20,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """List predictors with their scores, the newest first.

    Examples:

      walras predictor list
    """
    with client_of(server, token_file) as client:
        found = client.predictors.list(most)
    emit(found, output, ("version", "state", "trained_to", "created", "scores"))


@app.command()
def train(
    wait: Annotated[float, typer.Option(help="Seconds to wait for its end.")] = 0.0,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Ask for a training now.

    Examples:

      walras predictor train --wait 60
    """
    with client_of(server, token_file) as client:
        emit(client.wait(client.predictors.train(), wait), output, title="job")


@app.command()
def promote(
    version: Annotated[int, typer.Argument(help="The predictor's version.", min=1)],
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Use a predictor from the next round on.

    Examples:

      walras predictor promote 3
    """
    with client_of(server, token_file) as client:
        emit(client.predictors.promote(version), output, title="predictor")


@app.command()
def rollback(
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Use the predictor of before again.

    Examples:

      walras predictor rollback
    """
    with client_of(server, token_file) as client:
        emit(client.predictors.rollback(), output, title="predictor")
