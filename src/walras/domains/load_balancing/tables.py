"""Rounds read from CSV tables of shards and servers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from walras.data.formats.sheet import Sheet, read
from walras.domains.load_balancing.inputs import make_round
from walras.domains.load_balancing.instance import Round
from walras.errors import InputError


def read_round(
    shards: Path,
    servers: Path | None,
    *,
    band: float = 0.1,
    memory: float = np.inf,
    drain: Sequence[str] = (),
    spread: int = 1,
    replicas: int | None = None,
) -> Round:
    r"""Read a round from CSV tables.

    Args:
        shards: Columns ``shard``, ``load`` (>= 0), ``server``; optional ``footprint``, ``cost``,
            ``replicas``. A cell of ``server`` names one server or several, each with its share of
            the load after a colon, such as ``s1:0.7 s2:0.3``.
        servers: Columns ``server``; optional ``weight``, ``memory``, ``zone``, ``drain``. None for
            the servers that the shards name.
        band: Half the band's width, relative.
        memory: Room on each server whose table has none.
        drain: Servers to empty, in addition to those of the table.
        spread: Least number of zones with a replica of each shard.
        replicas: Number of replicas of each shard, in place of its table's.

    Returns:
        The round.

    Raises:
        InputError: A table lacks a column, or a cell cannot be used.
        DataError: A file cannot be read.

    Example:
        >>> from pathlib import Path
        >>> from walras.domains import load_balancing as lb
        >>> _ = Path("shards.csv").write_text("shard,load,server\na,3,s1\nb,1,s1\nc,2,s2\n")
        >>> lb.read_round(Path("shards.csv"), None, band=0.5).loads_now()
        array([4., 2.])
    """
    shard = read(shards, "shard", ("load", "server"), ("footprint", "cost", "replicas"))
    server = None
    if servers is not None:
        server = read(servers, "server", (), ("weight", "memory", "zone", "drain"))
    names = _servers_of(shard) if server is None else server.keys
    options: dict[str, Any] = {"band": band, "memory": memory, "spread": spread}
    options["drain"] = list(drain)
    for column in ("footprint", "cost", "replicas"):
        if column in shard.columns:
            options[column] = shard.numbers(column)
    if replicas is not None:
        options["replicas"] = replicas
    if server is not None:
        for column in ("weight", "memory"):
            if column in server.columns:
                options[column] = server.numbers(column)
        if "zone" in server.columns:
            options["zone"] = [line["zone"].text for line in server.lines]
        if "drain" in server.columns:
            options["drain"] = [*drain, *_drained(server)]
    placed = _placement(shard, names)
    return make_round(shard.numbers("load"), placed, servers=names, **options)


def _drained(server: Sheet) -> list[str]:
    out = []
    for line in server.lines:
        text = line["drain"].text.lower()
        if text not in ("", "no", "yes"):
            raise InputError(
                f"is '{text}'",
                where=line["drain"].where,
                allowed="yes, no or empty",
                remedy="write yes for a server to be emptied",
            )
        if text == "yes":
            out.append(line["server"].text)
    return out


def _servers_of(shard: Sheet) -> list[str]:
    """The servers that the shards name, in the order of first appearance."""
    cells = (line["server"].text.split() for line in shard.lines)
    return list(dict.fromkeys(word.partition(":")[0] for words in cells for word in words))


def _placement(shard: Sheet, names: list[str]) -> sp.coo_array:
    """Shares by server and shard from the cells of the column ``server``."""
    known = {name: i for i, name in enumerate(names)}
    rows, columns, shares = [], [], []
    for j, line in enumerate(shard.lines):
        seen = set[str]()
        for word in line["server"].text.split():
            name, _, part = word.partition(":")
            if name not in known or name in seen:
                what = "is named twice" if name in seen else "is not among the servers"
                raise InputError(
                    f"server '{name}' {what}",
                    where=line["server"].where,
                    allowed=", ".join(names[:5]) + (", ..." if len(names) > 5 else ""),
                    remedy="name each known server at most once",
                )
            seen.add(name)
            rows.append(known[name])
            columns.append(j)
            shares.append(_share(part, line["server"].where))
    return sp.coo_array((shares, (rows, columns)), shape=(len(names), len(shard.lines)))


def _share(part: str, where: str) -> float:
    try:
        share = float(part) if part else 1.0
    except ValueError:
        share = -1.0
    if not 0.0 < share <= 1.0:
        raise InputError(
            f"the share is '{part}'",
            where=where,
            allowed="above 0, at most 1",
            remedy="write server:share, such as s1:0.7",
        )
    return share
