"""SkyPilot's catalog of machines (schema v8) as clusters with prices.

A catalog is ``<cloud>/vms.csv``, one row a machine type and zone; SkyPilot keeps it under
``~/.sky/catalogs/v8``. Source: SkyPilot 0.14.1, ``sky/catalog/common.py``.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import md5
from pathlib import Path

from walras.errors import DataError, InputError
from walras.exchange.dispatch.offers import SOURCE, Offered, distinct, label_value, name_of
from walras.predict.logs.text import read_text

_FILE = "vms.csv"
_NEEDED = ("InstanceType", "Region", "Price", "SpotPrice")
# Hosts whose price in the catalog is without that of the accelerators that they need.
_APART = {"gcp": ("a2-", "a3-", "a4-", "a4x-", "g2-", "g4-")}
_SHOWN = 5  # bad rows that an error names


@dataclass(frozen=True)
class Selection:
    """Which machines of a catalog to take; an empty tuple takes any.

    Attributes:
        regions: Regions or zones.
        accelerators: ``NAME`` or ``NAME:COUNT``.
        instances: Types of machines.
        spot: Whether to take spot machines, at their price, in place of machines on demand.
        slots: Slots of each cluster: how many of the machines you would run at once.

    Example:
        >>> from walras.exchange.dispatch.skypilot import Selection
        >>> Selection(regions=("us-east-1",), accelerators=("A100:8",)).spot
        False
    """

    regions: tuple[str, ...] = ()
    accelerators: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    spot: bool = False
    slots: int = 1


@dataclass(frozen=True)
class Catalog:
    """What was read.

    Attributes:
        clusters: One a machine type and zone, or region where no zones are named.
        left_out: Reason -> how many of the rows that were chosen are no cluster.
        edited: Files that SkyPilot does not refresh, since they are not what it fetched.
    """

    clusters: tuple[Offered, ...]
    left_out: dict[str, int] = field(default_factory=dict)
    edited: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Row:
    cloud: str
    fields: dict[str, str]
    where: str

    def text(self, name: str) -> str:
        return self.fields.get(name, "").strip()

    def number(self, name: str) -> float | None:
        """The number of a field; None where it is empty.

        Raises:
            InputError: It is no number, or negative.
        """
        given = self.text(name)
        if not given:
            return None
        try:
            value = float(given)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and value >= 0.0:
            return value
        raise InputError(
            f"{name} is '{given}'",
            where=self.where,
            allowed="a number of at least 0",
            remedy="mend the row, or leave it out by --region, --accelerator or --instance-type",
        )


def read_catalog(path: str | Path, select: Selection | None = None) -> Catalog:
    r"""Read machines of SkyPilot's catalog as clusters.

    Args:
        path: A ``vms.csv`` in the folder of its cloud, a cloud's folder, or the folder of all.
        select: Which machines to take; all of them for None.

    Returns:
        Clusters with the labels ``cloud``, ``region``, ``zone``, ``instance``, ``gpu``, ``gpus``,
        ``vcpus``, ``memory`` (GiB) and ``spot`` (yes, no), the price of a slot-hour in US dollars,
        and what was left out. Of rows that differ in their price alone, the cheapest is taken.

    Raises:
        DataError: There is no catalog, or it cannot be read.
        InputError: A chosen row cannot be used, or a column is missing; file, line and reason are
            named. Then nothing is returned.

    Example:
        >>> from pathlib import Path
        >>> from walras.exchange.dispatch.skypilot import read_catalog
        >>> file = Path("catalog/lambda/vms.csv")
        >>> file.parent.mkdir(parents=True)
        >>> header = "InstanceType,AcceleratorName,AcceleratorCount,Region,Price,SpotPrice"
        >>> written = file.write_text(f"{header}\ngpu_1x_a10,A10,1.0,us-east-1,0.75,")
        >>> (found,) = read_catalog("catalog").clusters
        >>> found.uid, found.price, found.labels["gpu"]
        ('lambda-gpu-1x-a10-us-east-1', 0.75, 'A10')
    """
    chosen = Selection() if select is None else select
    clusters: dict[str, Offered] = {}
    left_out: dict[str, int] = {}
    bad: list[InputError] = []
    files = _files(Path(path))
    for row in (row for file in files for row in _rows(file)):
        if not _selected(row, chosen):
            continue
        reason = _unusable(row, chosen)
        if reason:
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        try:
            _keep(clusters, _offered(row, chosen))
        except InputError as error:
            bad.append(error)
    _refuse(bad)
    edited = tuple(str(file) for file in files if _is_edited(file))
    return Catalog(tuple(clusters.values()), left_out, edited)


def _files(path: Path) -> list[Path]:
    """The files of a catalog.

    Raises:
        DataError: There is none.
    """
    if path.is_file():
        return [path]
    found = [path / _FILE] if (path / _FILE).is_file() else sorted(path.glob(f"*/{_FILE}"))
    if not found:
        raise DataError(
            f"there is no {_FILE}" if path.is_dir() else "there is no such file or folder",
            where=str(path),
            allowed=f"CLOUD/{_FILE}, or a folder of such folders",
            remedy="give the path of SkyPilot's catalog, such as ~/.sky/catalogs/v8/aws",
        )
    return found


def _rows(file: Path) -> Iterator[_Row]:
    """The rows of a file.

    Raises:
        DataError: It cannot be read.
        InputError: A column is missing, or a row has more or fewer fields than the header.
    """
    try:
        table = csv.reader(io.StringIO(read_text(file), newline=""), strict=True)
        header = next(table, [])
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(
            f"cannot be read: {error}",
            where=str(file),
            allowed="a CSV file of SkyPilot's catalog",
            remedy="let SkyPilot fetch it again",
        ) from error
    missing = [name for name in _NEEDED if name not in header]
    if missing:
        raise InputError(
            f"has no column {missing[0]}",
            where=f"{file}, line 1",
            allowed="the columns of SkyPilot's catalog v8: " + ", ".join(_NEEDED) + ", ...",
            remedy="let SkyPilot fetch it again",
        )
    cloud = label_value(file.resolve().parent.name.lower())
    while True:
        try:
            found = next(table, None)
        except csv.Error as error:
            raise _row_error(str(error), file, table.line_num) from error
        if found is None:
            return
        if found and len(found) != len(header):
            raise _row_error(
                f"has {len(found)} fields, the header has {len(header)}", file, table.line_num
            )
        if found:
            where = f"{file}, line {table.line_num}"
            yield _Row(cloud, dict(zip(header, found, strict=True)), where)


def _row_error(what: str, file: Path, line: int) -> InputError:
    return InputError(
        what,
        where=f"{file}, line {line}",
        allowed="as many fields as the header names",
        remedy="mend the row, or let SkyPilot fetch the file again",
    )


def _selected(row: _Row, select: Selection) -> bool:
    """Whether a row is asked for."""
    return (
        _among(select.regions, row.text("Region"), row.text("AvailabilityZone"))
        and _among(select.instances, row.text("InstanceType"))
        and (not select.accelerators or any(_has(row, one) for one in select.accelerators))
    )


def _among(asked: Sequence[str], *names: str) -> bool:
    return not asked or any(one.lower() == name.lower() for one in asked for name in names)


def _has(row: _Row, accelerator: str) -> bool:
    name, colon, count = accelerator.partition(":")
    if name.lower() != row.text("AcceleratorName").lower():
        return False
    try:
        return not colon or float(count) == float(row.text("AcceleratorCount"))
    except ValueError:
        return False


def _unusable(row: _Row, select: Selection) -> str:
    """Why a row is no cluster; empty where it is one."""
    instance = row.text("InstanceType")
    if not instance:
        return "without an instance type: an accelerator alone"
    if instance.startswith(_APART.get(row.cloud, ())):
        return "whose price is without that of their accelerators"
    if not row.text("SpotPrice" if select.spot else "Price"):
        return "without a spot price" if select.spot else "without a price"
    return ""


def _offered(row: _Row, select: Selection) -> Offered:
    """A row as a cluster.

    Raises:
        InputError: A number is none, or the row names no region.
    """
    region, zone = row.text("Region"), row.text("AvailabilityZone")
    if not region:
        raise InputError(
            "Region is empty",
            where=row.where,
            allowed="the name of a region",
            remedy="mend the row, or let SkyPilot fetch the file again",
        )
    numbers = {
        "gpus": row.number("AcceleratorCount"),
        "vcpus": row.number("vCPUs"),
        "memory": row.number("MemoryGiB"),
    }
    labels = {
        SOURCE: "skypilot",
        "cloud": row.cloud,
        "region": region,
        "zone": zone,
        "instance": row.text("InstanceType"),
        "gpu": row.text("AcceleratorName"),
        **{name: f"{value:.10g}" if value else "" for name, value in numbers.items()},
        "spot": "yes" if select.spot else "no",
    }
    return Offered(
        name_of(
            row.cloud,
            labels["instance"],
            zone or region,
            "spot" if select.spot else "",
            where=row.where,
        ),
        select.slots,
        {name: label_value(value) for name, value in labels.items() if value},
        row.number("SpotPrice" if select.spot else "Price"),
        where=row.where,
    )


def _keep(clusters: dict[str, Offered], found: Offered) -> None:
    """Add a cluster; of two that differ in their price alone the cheaper one is kept.

    Raises:
        InputError: Another machine has its name.
    """
    first = clusters.get(found.uid)
    if first is None:
        clusters[found.uid] = found
    elif first.labels != found.labels:
        distinct([first, found])
    elif (found.price or 0.0) < (first.price or 0.0):
        clusters[found.uid] = found


def _refuse(bad: Sequence[InputError]) -> None:
    """Refuse rows that cannot be used, all at once.

    Raises:
        InputError: There are some.
    """
    if len(bad) == 1:
        raise bad[0]
    if bad:
        named = "; ".join(f"{one.where}: {one.what}" for one in bad[:_SHOWN])
        more = "" if len(bad) <= _SHOWN else f"; and {len(bad) - _SHOWN} more"
        raise InputError(
            f"{len(bad)} rows cannot be used: {named}{more}",
            where=bad[0].where,
            allowed=bad[0].allowed,
            remedy=bad[0].remedy,
        )


def _is_edited(file: Path) -> bool:
    """Whether a file of SkyPilot's own folder is not the one that it fetched.

    SkyPilot keeps the MD5 of what it fetched beside the catalogs, and refreshes no other file.
    """
    folder = file.resolve().parent
    kept = folder.parent / ".meta" / folder.name / f"{_FILE}.md5"
    if folder.parent.parent.name != "catalogs" and not kept.is_file():
        return False
    try:
        fetched = kept.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return True
    return md5(file.read_bytes(), usedforsecurity=False).hexdigest() != fetched
