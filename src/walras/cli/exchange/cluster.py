"""``walras cluster``: offer clusters, change them, drain them."""

from __future__ import annotations

from typing import Annotated

import typer

from walras.cli.exchange.cluster_import import import_clusters
from walras.cli.exchange.connect import (
    SERVER,
    Format,
    OutputOption,
    ServerOption,
    TokenOption,
    client_of,
    emit,
    key_values,
)
from walras.exchange.errors import NotFoundError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="""Offer clusters, change them, drain them.

    Examples:

      walras cluster add east --slots 8 --label gpu=h100

      walras cluster list

      walras cluster import --from skypilot FILE --region us-east-1 --dry-run

      walras cluster drain east
    """,
)

app.command("import")(import_clusters)

Cluster = Annotated[str, typer.Argument(help="The cluster's name.")]
_COLUMNS = ("uid", "state", "heard", "slots", "free", "price", "labels", "version")
_LISTED = ("uid", "state", "heard", "free", "slots", "price")  # what fits into 80 columns


@app.command("list")
def list_clusters(
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    labels: Annotated[bool, typer.Option("--labels", help="Show their labels, too.")] = False,
    output: OutputOption = Format.TABLE,
) -> None:
    """List clusters with their free slots.

    Examples:

      walras cluster list --labels

      walras cluster list -o json
    """
    with client_of(server, token_file) as client:
        emit(client.clusters.list(), output, (*_LISTED, "labels") if labels else _LISTED)


@app.command()
def add(
    cluster: Cluster,
    slots: Annotated[int, typer.Option(help="Tasks of one slot that run at once.")],
    label: Annotated[
        list[str] | None, typer.Option(help="LABEL=VALUE that tasks may require; repeat it.")
    ] = None,
    price: Annotated[float, typer.Option(help="Of a slot-hour.")] = 0.0,
    provider: Annotated[str | None, typer.Option(help="Who offers it.")] = None,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Offer a cluster, or change the one of that name.

    Examples:

      walras cluster add east --slots 8 --label gpu=h100 --price 2.5
    """
    offered = {"labels": key_values(label, "label"), "price": price}
    if provider is not None:
        offered["provider"] = provider
    with client_of(server, token_file) as client:
        try:
            version = client.clusters.get(cluster).version
        except NotFoundError:
            version = None
        emit(client.clusters.put(cluster, slots, version=version, **offered), output, _COLUMNS)


@app.command()
def drain(
    cluster: Cluster,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Give a cluster nothing new and take its offers back; runs go on.

    Examples:

      walras cluster drain east
    """
    with client_of(server, token_file) as client:
        emit(client.clusters.drain(cluster), output, _COLUMNS)


@app.command()
def cordon(
    cluster: Cluster,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Give a cluster nothing new; offers and runs go on.

    Examples:

      walras cluster cordon east
    """
    with client_of(server, token_file) as client:
        emit(client.clusters.cordon(cluster), output, _COLUMNS)


@app.command()
def uncordon(
    cluster: Cluster,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Give tasks to a cluster again.

    Examples:

      walras cluster uncordon east
    """
    with client_of(server, token_file) as client:
        emit(client.clusters.uncordon(cluster), output, _COLUMNS)
