"""``walras tenant``: who shares the clusters, and what each is owed."""

from __future__ import annotations

from typing import Annotated

import typer

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
    help="""Who shares the clusters, and what each is owed.

    Examples:

      walras tenant add lab --weight 2 --quota 40

      walras tenant list
    """,
)

Tenant = Annotated[str, typer.Argument(help="The tenant's name.")]
Weight = Annotated[float, typer.Option(help="Its share, to the others'.")]
Quota = Annotated[int | None, typer.Option(help="Slots it may use at once; else any.")]
_COLUMNS = ("name", "weight", "quota_slots", "slots_used", "pending", "share", "owed")


@app.command("list")
def list_tenants(
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """List tenants with the share they got and the share they are owed.

    Examples:

      walras tenant list
    """
    with client_of(server, token_file) as client:
        emit(client.tenants.list(), output, _COLUMNS)


@app.command()
def add(
    tenant: Tenant,
    weight: Weight = 1.0,
    quota: Quota = None,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Add a tenant.

    Examples:

      walras tenant add lab --weight 2 --quota 40
    """
    with client_of(server, token_file) as client:
        emit(client.tenants.add(tenant, weight, quota), output, _COLUMNS)


@app.command()
def change(
    tenant: Tenant,
    weight: Weight = 1.0,
    quota: Quota = None,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Change a tenant's weight and quota, from the next round on.

    Examples:

      walras tenant change lab --weight 3
    """
    with client_of(server, token_file) as client:
        emit(client.tenants.change(tenant, weight, quota), output, _COLUMNS)
