"""Checks of users' data, which give a :class:`Round`; each fault is one error with its remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from walras import checks
from walras.checks import reals
from walras.domains.load_balancing.instance import Round, drained
from walras.errors import InputError
from walras.types import Floats, Ints

Vector = npt.ArrayLike | pd.Series
Placement = npt.ArrayLike | pd.DataFrame | pd.Series | sp.sparray | sp.spmatrix
MOST_BAND = 1e6


def make_round(
    loads: Vector,
    placement: Placement,
    *,
    band: float = 0.1,
    memory: Vector | float = np.inf,
    footprint: Vector | None = None,
    cost: Vector | None = None,
    weight: Vector | None = None,
    drain: Sequence[object] = (),
    zone: Sequence[object] | None = None,
    spread: int = 1,
    replicas: Vector | int | None = None,
    servers: Sequence[object] | int | None = None,
) -> Round:
    """Build a checked round.

    Args:
        loads: (shards,) load of each shard, > 0, in any unit; a Series names the shards.
        placement: (servers, shards) shares or True where a shard is now, dense, sparse, or a
            DataFrame, which names the servers; or (shards,) the server of each shard.
        band: Half the width of the band around the targets: 0.1 is 10 % above and below.
        memory: Room for replicas on each server, in the unit of ``footprint``; one or (servers,).
        footprint: (shards,) memory of a replica; 1 each if None.
        cost: (shards,) cost of a new replica, such as its bytes; 1 each if None.
        weight: (servers,) speed of each server; targets are proportional to it; equal if None.
        drain: Servers to be emptied.
        zone: (servers,) rack or zone of each server; each server is its own if None.
        spread: Least number of zones in which every shard has a replica.
        replicas: Number of replicas of each shard, one number or (shards,); any number if None.
        servers: Labels or number of the servers, if the placement does not have them.

    Returns:
        The round, for :func:`solve_round`.

    Raises:
        InputError: An argument cannot be used; the message says which, where, and what is allowed.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> round_.target, round_.loads_now()
        (array([5., 5.]), array([9., 1.]))
    """
    load = _positive(loads, "loads", None)
    shard_names = _names(loads.index if isinstance(loads, pd.Series) else len(load), "loads")
    entries, server_names = _placement(placement, servers, shard_names)
    count = len(server_names)
    return Round(
        load=load,
        footprint=_positive(1.0 if footprint is None else footprint, "footprint", len(load)),
        cost=_positive(1.0 if cost is None else cost, "cost", len(load)),
        weight=_positive(1.0 if weight is None else weight, "weight", count),
        memory=_positive(memory, "memory", count, finite=False),
        drain=drained(drain, server_names),
        band=checks.number(band, "setting band", 0.0, MOST_BAND),
        server=np.asarray(entries.row, dtype=np.int32),
        shard=np.asarray(entries.col, dtype=np.int32),
        share=_shares(entries),
        zone=_zones(zone, count),
        spread=checks.whole(spread, "setting spread", 1, count),
        replicas=None if replicas is None else _replicas(replicas, len(load), count),
        server_names=server_names,
        shard_names=shard_names,
    )


def _names(given: Sequence[object] | pd.Index | int, where: str) -> tuple[str, ...]:
    if isinstance(given, int):
        return tuple(map(str, range(given)))
    return checks.distinct(given, where, "id", remedy="rename one of them, or merge the two")


def _positive(given: Any, where: str, count: int | None, *, finite: bool = True) -> Floats:
    """Check (count,) positive numbers; one number stands for all.

    Raises:
        InputError: Another length, or a number that is not positive (or not finite).
    """
    remedy = "give every shard or server its number"
    if count is not None:
        out = checks.one_each(given, where, count, "shard or server", remedy=remedy)
    else:
        out = checks.numeric(given, where, remedy=remedy, copy=True)
    if out.ndim != 1 or len(out) == 0:
        raise InputError(
            f"has shape {out.shape}", where=where, allowed="one number each", remedy=remedy
        )
    index = given.index if isinstance(given, pd.Series) else range(len(out))
    return checks.within(
        out,
        lambda at: f"{where}[{index[at[0]]}]",
        high=checks.LARGEST if finite else np.inf,
        above=0.0,
        remedy="correct it, or leave out what carries nothing",
    )


def _placement(
    given: Placement, servers: Sequence[object] | int | None, shards: tuple[str, ...]
) -> tuple[sp.coo_array, tuple[str, ...]]:
    """The nonzero entries, shard by shard, and the servers' labels."""
    if isinstance(given, str) or (not sp.issparse(given) and np.ndim(given) == 0):  # type: ignore[arg-type]
        raise InputError(
            f"is {given!r}",
            where="placement",
            allowed="one server a shard, or a matrix of shares",
            remedy="say where the shards are now",
        )
    if isinstance(given, pd.Series) or (not sp.issparse(given) and np.ndim(given) == 1):  # type: ignore[arg-type]
        entries, names = _by_shard(given, servers, shards)
    else:
        entries, names = _by_matrix(given, servers, shards)
    order = np.lexsort((entries.row, entries.col))
    ordered = (entries.data[order], (entries.row[order], entries.col[order]))
    return sp.coo_array(ordered, shape=entries.shape), names


def _order(labels: pd.Index, shards: tuple[str, ...]) -> list[int]:
    """Where the placement has each shard; in its own order if it does not name them.

    Raises:
        InputError: It names other shards than the loads do.
    """
    names = _names(labels, "placement")
    at = {name: k for k, name in enumerate(names)}
    odd = sorted(set(names) ^ set(shards))
    if odd and any(some == tuple(map(str, range(len(some)))) for some in (names, shards)):
        return list(range(len(names)))  # one of the two has only a number
    if odd:
        where, other = ("placement", "the loads") if odd[0] in at else ("loads", "the placement")
        raise InputError(
            f"the shard '{odd[0]}' is unknown to {other}",
            where=where,
            allowed=checks.few(shards),
            remedy="name the same shards in both",
        )
    return [at[name] for name in shards]


def _by_shard(
    given: Any, servers: Sequence[object] | int | None, shards: tuple[str, ...]
) -> tuple[sp.coo_array, tuple[str, ...]]:
    """The entries of a placement with one server for each shard."""
    if isinstance(given, pd.Series):
        given = given.iloc[_order(given.index, shards)]
    homes = [str(home) for home in given]
    if len(homes) != len(shards):
        raise InputError(
            f"has {len(homes)} entries",
            where="placement",
            allowed=f"{len(shards)}, one a shard",
            remedy="say of every shard where it is",
        )
    names = _names(sorted(set(homes)) if servers is None else servers, "servers")
    known = {name: i for i, name in enumerate(names)}
    for j, home in enumerate(homes):
        if home not in known:
            checks.one_of(home, f"placement[{shards[j]}]", known, "server")
    rows = np.array([known[home] for home in homes])
    entries = (np.ones(len(homes)), (rows, np.arange(len(homes))))
    return sp.coo_array(entries, shape=(len(names), len(shards))), names


def _by_matrix(
    given: Any, servers: Sequence[object] | int | None, shards: tuple[str, ...]
) -> tuple[sp.coo_array, tuple[str, ...]]:
    """The entries of a matrix of shares or True, servers by shards."""
    labels = None
    if isinstance(given, pd.DataFrame):
        labels = _names(given.index, "placement")
        given = given.iloc[:, _order(given.columns, shards)]
    try:
        held: Any = given if sp.issparse(given) else reals(given)
        out = sp.coo_array(sp.csr_array(held))
        out.data = reals(out.data)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"is not a matrix of numbers: {error}",
            where="placement",
            allowed="shares or True, servers in rows, shards in columns",
            remedy="pass such a one",
        ) from error
    if out.ndim != 2 or out.shape[1] != len(shards) or out.shape[0] == 0:
        raise InputError(
            f"has shape {out.shape}",
            where="placement",
            allowed=f"(servers, {len(shards)})",
            remedy="one row a server, one column a shard",
        )
    checks.within(
        out.data,
        lambda at: f"placement[{out.row[at[0]]}, {shards[out.col[at[0]]]}]",
        0.0,
        remedy="give shares, or True where the shard is",
    )
    names = labels or _names(out.shape[0] if servers is None else servers, "servers")
    if len(names) != out.shape[0]:
        raise InputError(
            f"names {len(names)} servers, the placement has {out.shape[0]}",
            where="servers",
            allowed="one label a row",
            remedy="give every row of the placement a label",
        )
    out.eliminate_zeros()
    return out, names


def _shares(entries: sp.coo_array) -> Floats:
    """Scale shares to sum to one over each shard."""
    whole = np.bincount(entries.col, entries.data, entries.shape[1])
    return np.asarray(entries.data / whole[entries.col])


def _zones(given: Sequence[object] | None, count: int) -> Ints:
    if given is None:
        return np.arange(count, dtype=np.int32)  # each server is its own
    labels = list(map(str, given))
    if len(labels) != count:
        raise InputError(
            f"has {len(labels)} entries",
            where="zone",
            allowed=f"{count}, one a server",
            remedy="say of every server in which zone it is",
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _replicas(given: Any, shards: int, servers: int) -> Ints:
    if np.ndim(given) == 0:  # one error, not one about the first shard
        checks.whole(given, "setting replicas", 1, servers)
    out = _positive(given, "replicas", shards)
    checks.refuse_first(
        (out != np.round(out)) | (out > servers),
        out,
        "replicas",
        allowed=f"whole numbers, 1 to {servers}",
        remedy="a shard has at most one replica a server",
    )
    return out.astype(np.int32)
