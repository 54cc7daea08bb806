"""``walras cluster import``: clusters from SkyPilot's catalog, or from Slurm's partitions."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from walras.cli.common.streams import tell
from walras.cli.exchange.connect import (
    SERVER,
    Format,
    OutputOption,
    ServerOption,
    TokenOption,
    client_of,
    emit,
)
from walras.errors import InputError

_COLUMNS = ("cluster", "change", "slots", "price", "state", "details")


class _Row(BaseModel):
    """A change in a table."""

    cluster: str
    change: str
    slots: int
    price: float
    state: str
    details: list[str]


class Origin(enum.StrEnum):
    """What describes the clusters."""

    SKYPILOT = "skypilot"


def import_clusters(
    origin: Annotated[Origin, typer.Option("--from", help="What describes the clusters.")],
    source: Annotated[
        Path | None,
        typer.Argument(help="skypilot: CLOUD/vms.csv, or its folder.", metavar="FILE_OR_FOLDER"),
    ] = None,
    region: Annotated[
        list[str] | None, typer.Option(help="skypilot: region or zone; repeat it.")
    ] = None,
    accelerator: Annotated[
        list[str] | None, typer.Option(help="skypilot: NAME or NAME:COUNT; repeat it.")
    ] = None,
    instance_type: Annotated[
        list[str] | None, typer.Option(help="skypilot: type of machine; repeat it.")
    ] = None,
    spot: Annotated[
        bool, typer.Option("--spot", help="skypilot: spot machines, at their price.")
    ] = False,
    slots: Annotated[
        int, typer.Option(min=0, max=1_000_000, help="skypilot: machines of each kind to use.")
    ] = 1,
    most: Annotated[int, typer.Option(min=1, help="Refuse to import more clusters.")] = 200,
    prefix: Annotated[str, typer.Option(help="Begin each cluster's name with it.")] = "",
    provider: Annotated[str | None, typer.Option(help="Who offers those that are new.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Compare, and write nothing.")] = False,
    server: ServerOption = SERVER,
    token_file: TokenOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Add clusters that another system describes, or change those that were imported before.

    Examples:

      walras cluster import --from skypilot ~/.sky/catalogs/v8/aws --region us-east-1
        --accelerator A100:8 --dry-run
    """
    from walras.exchange.dispatch.offers import counted, imported

    found = _skypilot(
        source,
        (region or (), accelerator or (), instance_type or ()),
        spot,
        slots,
    )
    named = _prefixed(found, prefix)
    _check_number(len(named), most)
    with client_of(server, token_file) as client:
        changes = imported(client, named, provider=provider, write=not dry_run)
    emit(changes if output is not Format.TABLE else _shown(changes), output, _COLUMNS)
    tell(("would be: " if dry_run else "") + counted(changes))


def _shown(changes: Sequence[Any]) -> list[_Row]:
    """Changes as a table shows them: labels of a new cluster, what changes of another."""
    return [
        _Row(
            cluster=one.cluster,
            change=one.change,
            slots=one.slots,
            price=one.price,
            state=one.state,
            details=one.changes
            if one.change != "added"
            else [f"{label}={value}" for label, value in one.labels.items()],
        )
        for one in changes
    ]


def _skypilot(
    source: Path | None,
    chosen: tuple[Sequence[str], Sequence[str], Sequence[str]],
    spot: bool,
    slots: int,
) -> Sequence[Any]:
    """Clusters of SkyPilot's catalog; what is left out goes to standard error."""
    from walras.exchange.dispatch.skypilot.catalog import Selection, read_catalog

    if source is None:
        raise InputError(
            "is missing",
            where="FILE_OR_FOLDER",
            allowed="a vms.csv of SkyPilot's catalog, or a folder of such",
            remedy="give its path, such as ~/.sky/catalogs/v8/aws",
        )
    regions, accelerators, instances = map(tuple, chosen)
    catalog = read_catalog(source, Selection(regions, accelerators, instances, spot, slots))
    for reason, count in catalog.left_out.items():
        tell(f"left out: {count} rows {reason}")
    for file in catalog.edited:
        tell(f"{file} was edited by hand: SkyPilot does not refresh it, its prices may be old")
    return catalog.clusters


def _prefixed(found: Sequence[Any], prefix: str) -> list[Any]:
    """Clusters under names that begin with a prefix."""
    from dataclasses import replace

    from walras.exchange.dispatch.offers import distinct, name_of

    if not prefix:
        return list(found)
    return distinct(replace(one, uid=name_of(prefix, one.uid, where=one.where)) for one in found)


def _check_number(count: int, most: int) -> None:
    """Refuse an import of nothing, or of more than was meant.

    Raises:
        InputError: There is no cluster, or there are too many.
    """
    if count == 0:
        raise InputError(
            "describes no cluster that is asked for",
            where="FILE_OR_FOLDER",
            allowed="at least one",
            remedy="ask for other regions, accelerators or types",
        )
    if count > most:
        raise InputError(
            f"describes {count} clusters that are asked for",
            where="FILE_OR_FOLDER",
            allowed=f"up to {most} (--most)",
            remedy="ask for fewer by --region, --accelerator or --instance-type, or give --most",
        )
