"""``walras cluster import``: clusters from SkyPilot's catalog, or from Slurm's partitions."""

from __future__ import annotations

import enum
import sys
from collections.abc import Mapping, Sequence
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
from walras.errors import DataError, InputError

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
    SLURM = "slurm"


def import_clusters(
    origin: Annotated[Origin, typer.Option("--from", help="What describes the clusters.")],
    source: Annotated[
        Path | None,
        typer.Argument(
            help="skypilot: CLOUD/vms.csv, or its folder. slurm: what sinfo printed, - for "
            "standard input; else sinfo and squeue are run.",
            metavar="FILE_OR_FOLDER",
        ),
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
        int | None,
        typer.Option(min=0, max=1_000_000, help="skypilot: machines of each kind; else 1."),
    ] = None,
    partition: Annotated[
        list[str] | None, typer.Option(help="slurm: partition; repeat it.")
    ] = None,
    queue: Annotated[
        Path | None, typer.Option(help="slurm: what squeue printed, with a file of sinfo.")
    ] = None,
    free: Annotated[
        bool, typer.Option("--free", help="slurm: offer only CPUs that others leave.")
    ] = False,
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

      walras cluster import --from slurm --partition gpu --free
    """
    from walras.exchange.dispatch.offers import counted, imported

    skypilot = {
        "--region": region,
        "--accelerator": accelerator,
        "--instance-type": instance_type,
        "--spot": spot,
        "--slots": slots,
    }
    slurm = {"--partition": partition, "--queue": queue, "--free": free}
    if origin is Origin.SKYPILOT:
        _check_unused(slurm, origin)
        chosen = (tuple(region or ()), tuple(accelerator or ()), tuple(instance_type or ()))
        found = _skypilot(source, chosen, spot, 1 if slots is None else slots)
    else:
        _check_unused(skypilot, origin)
        found = _slurm(source, queue, tuple(partition or ()), free)
    named = _prefixed(found, prefix)
    _check_number(len(named), most)
    with client_of(server, token_file) as client:
        changes = imported(client, named, provider=provider, write=not dry_run)
    emit(changes if output is not Format.TABLE else _shown(changes), output, _COLUMNS)
    tell(("would be: " if dry_run else "") + counted(changes))


def _check_unused(options: Mapping[str, Any], origin: Origin) -> None:
    """Refuse options of the other origin.

    Raises:
        InputError: One is given.
    """
    for name, value in options.items():
        if value not in (None, False):
            raise InputError(
                f"is no option of --from {origin.value}",
                where=name,
                allowed="options of " + " or ".join(one.value for one in Origin if one != origin),
                remedy="leave it out; walras cluster import --help shows which is whose",
            )


def _slurm(
    source: Path | None, queue: Path | None, only: tuple[str, ...], free: bool
) -> Sequence[Any]:
    """Clusters of Slurm's partitions; what their queues take goes to standard error."""
    from walras.exchange.dispatch.slurm import partitions
    from walras.exchange.dispatch.slurm.nodes import read_nodes
    from walras.exchange.dispatch.slurm.queue import read_queue

    if source is None:
        where = "sinfo"
        nodes = read_nodes(partitions.printed_by(partitions.SINFO), where)
        said = _text(queue) if queue else partitions.printed_by(partitions.SQUEUE)
        loads: Mapping[str, Any] | None = read_queue(said, str(queue or "squeue"))
    else:
        where = "standard input" if str(source) == "-" else str(source)
        nodes = read_nodes(_text(source), where)
        loads = read_queue(_text(queue), str(queue)) if queue else None
    found = partitions.partitions_of(nodes, loads, only)
    clusters = partitions.clusters_of(found, where, free=free)
    for one in found:
        tell(partitions.words_of(one))
    return clusters


def _text(path: Path) -> str:
    """The text of a file, or of standard input for ``-``.

    Raises:
        DataError: It cannot be read.
    """
    from walras.predict.logs.text import read_text, text_of

    try:
        return text_of(sys.stdin.buffer.read()) if str(path) == "-" else read_text(path)
    except (OSError, ValueError) as error:
        raise DataError(
            f"cannot be read: {error}",
            where=str(path),
            allowed="a file with what sinfo or squeue printed, or - for standard input",
            remedy="give the path of such a file",
        ) from error


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
    chosen: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]],
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
    catalog = read_catalog(source, Selection(*chosen, spot, slots))
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
            remedy="ask for other regions, accelerators, types or partitions",
        )
    if count > most:
        raise InputError(
            f"describes {count} clusters that are asked for",
            where="FILE_OR_FOLDER",
            allowed=f"up to {most} (--most)",
            remedy="ask for fewer by --region, --accelerator or --instance-type, or give --most",
        )
