"""``walras token``: who may do what."""

from __future__ import annotations

from typing import Annotated

import typer

from walras.cli.common.streams import put
from walras.cli.exchange.connect import (
    SERVER,
    Format,
    OutputOption,
    ServerOption,
    TokenOption,
    client_of,
    emit,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="""Who may do what.

    Examples:

      walras token create ann --scope read --scope submit --tenant lab > ann.token

      walras token list
    """,
)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Of the token.")],
    scope: Annotated[
        list[str], typer.Option(help="read, submit, operate, admin or provider:CLUSTER; repeat it.")
    ],
    tenant: Annotated[str | None, typer.Option(help="Whose tasks it sees; else all.")] = None,
    days: Annotated[float | None, typer.Option(help="How long it is valid.")] = None,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Create a token and print it, once: the service keeps its hash.

    Examples:

      walras token create ann --scope read --scope submit --tenant lab > ann.token

      walras token create east-agent --scope provider:east --days 365 > east.token
    """
    seconds = None if days is None else days * 86400.0
    with client_of(server, token_file) as client:
        made = client.tokens.create(name, scope, tenant=tenant, seconds=seconds)
    if output is Format.TABLE:
        put(made.token)
    else:
        emit(made, output)


@app.command("list")
def list_tokens(
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """List tokens, without the tokens.

    Examples:

      walras token list
    """
    with client_of(server, token_file) as client:
        found = client.tokens.list()
    emit(found, output, ("uid", "name", "prefix", "tenant", "scopes", "expires", "revoked"))


@app.command()
def revoke(
    uid: Annotated[str, typer.Argument(help="The token's uid, as in walras token list.")],
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Revoke a token: within a second it is refused.

    Examples:

      walras token revoke k-0123
    """
    with client_of(server, token_file) as client:
        emit(client.tokens.revoke(uid), output, title="token")
