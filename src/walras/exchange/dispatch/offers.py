"""Clusters that another system describes: compared with the exchange's, and written to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from walras.errors import InputError
from walras.exchange.api.models import ClusterIn
from walras.exchange.api.views import Cluster
from walras.exchange.client import Client
from walras.exchange.errors import PreconditionError

SOURCE = "source"
"""Label: where a cluster was imported from."""
SEEN = "imported-state"
"""Label: the state that the last import saw."""
_OWN = frozenset(
    {SOURCE, SEEN, "cloud", "region", "zone", "instance", "spot", "partition"}
    | {"gpu", "gpus", "vcpus", "memory"}
)
_OWN_PREFIX = "feature/"
_NAME, _TAIL = 63, 8
_TRIES = 3


@dataclass(frozen=True)
class Offered:
    """A cluster as another system describes it.

    Attributes:
        uid: Its name in the exchange.
        slots: Tasks of one slot that run at once.
        labels: What the system says of it.
        price: Of a slot-hour; None where the system says nothing of prices.
        state: ``up`` or ``draining``; empty where the system says nothing of it.
        where: File and line that describe it, for errors.
    """

    uid: str
    slots: int
    labels: Mapping[str, str] = field(default_factory=dict)
    price: float | None = None
    state: str = ""
    where: str = ""


class Change(BaseModel):
    """What an import does to a cluster; ``changes`` are in words, of a cluster that is there."""

    cluster: str
    change: Literal["added", "changed", "unchanged"]
    slots: int
    price: float
    state: str
    labels: dict[str, str]
    changes: list[str]


def name_of(*words: str, where: str) -> str:
    """A name of the exchange that is made of words: lower case, other characters become dashes.

    A name that would be too long ends with a part of its hash.

    Args:
        words: What it is made of; empty ones are left out.
        where: File and line, for the error.

    Raises:
        InputError: The words have no letter and no digit.
    """
    whole = "-".join(word for word in words if word).lower()
    made = re.sub(r"[^a-z0-9]+", "-", whole).strip("-")
    if not made:
        raise InputError(
            f"'{whole}' has no letter and no digit of ASCII",
            where=where,
            allowed="a name of which the exchange can make one of a-z, 0-9 and '-'",
            remedy="leave it out of the import",
        )
    if len(made) <= _NAME:
        return made
    return f"{made[: _NAME - _TAIL - 1]}-{sha256(made.encode()).hexdigest()[:_TAIL]}"


def label_value(word: str) -> str:
    """A word as the value of a label: characters that none can have become dashes."""
    return re.sub(r"[^A-Za-z0-9._/:+-]+", "-", word.strip())[:_NAME]


def distinct(found: Iterable[Offered]) -> list[Offered]:
    """Clusters of which none has another one's name.

    Raises:
        InputError: Two have; the error names both places.
    """
    kept: dict[str, Offered] = {}
    for one in found:
        first = kept.setdefault(one.uid, one)
        if first is not one:
            raise InputError(
                f"would be the cluster '{one.uid}', as {first.where} is",
                where=one.where,
                allowed="things that the exchange can name differently",
                remedy="import one of them, or each with a --prefix of its own",
            )
    return list(kept.values())


def compared(offered: Offered, known: Cluster | None) -> Change:
    """What an import would do to a cluster.

    Labels that no import sets stay as they are, and so does a price where none is offered. A state
    changes only with what is offered: an operator's cordon or drain of a cluster that was up at
    the last import stays.

    Args:
        offered: The cluster as the other system describes it.
        known: The cluster as the exchange has it; None where there is none.

    Raises:
        InputError: The cluster was imported from elsewhere.
    """
    seen = {SEEN: offered.state} if offered.state else {}
    labels = {**offered.labels, **seen}
    if known is None:
        price, state = offered.price or 0.0, offered.state or "up"
        return _change(offered, "added", price, state, labels, [])
    source = known.labels.get(SOURCE, labels.get(SOURCE))
    if source != labels.get(SOURCE):
        raise InputError(
            f"is the cluster '{known.uid}' of the exchange, which was imported from {source}",
            where=offered.where,
            allowed="names that the exchange has not, or has from the same system",
            remedy="give the names a --prefix of their own",
        )
    labels = {k: v for k, v in known.labels.items() if not _owned(k)} | labels
    price = known.price if offered.price is None else offered.price
    state = _state(offered.state, known)
    before = {"slots": known.slots, "price": known.price, "state": known.state} | _named(known)
    after = {"slots": offered.slots, "price": price, "state": state} | _named(labels)
    words = [
        f"{name} {before.get(name, '-')} -> {after.get(name, '-')}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
    return _change(offered, "changed" if words else "unchanged", price, state, labels, words)


def _change(
    offered: Offered,
    change: Literal["added", "changed", "unchanged"],
    price: float,
    state: str,
    labels: Mapping[str, str],
    words: list[str],
) -> Change:
    return Change(
        cluster=offered.uid,
        change=change,
        slots=offered.slots,
        price=price,
        state=state,
        labels=dict(sorted(labels.items())),
        changes=words,
    )


def _owned(label: str) -> bool:
    return label in _OWN or label.startswith(_OWN_PREFIX)


def _named(of: Cluster | Mapping[str, str]) -> dict[str, Any]:
    labels = of.labels if isinstance(of, Cluster) else of
    return {f"label {name}": value for name, value in sorted(labels.items())}


def _state(offered: str, known: Cluster) -> str:
    """The state that a cluster should have: an operator's own word is left alone."""
    seen = known.labels.get(SEEN, "up")
    if offered == "draining" and known.state == "up":
        return offered
    if offered == "up" and seen == "draining" and known.state == "draining":
        return offered
    return known.state


def imported(
    client: Client,
    offered: Collection[Offered],
    *,
    provider: str | None = None,
    write: bool = True,
) -> list[Change]:
    """Compare clusters with those of the exchange, and write what differs.

    A change is written with the version that was read; where another one came between, the cluster
    is read again. A second import of the same clusters changes nothing.

    Args:
        client: The exchange.
        offered: The clusters.
        provider: Who offers them, for those that are new; each its own where it is not given.
        write: Whether to write, or only to compare.

    Returns:
        What was done, or would be, one a cluster.

    Raises:
        InputError: A cluster was imported from elsewhere, or no cluster can be so; nothing was
            written.
        ExchangeError: The service refuses a change, or does not answer.
    """
    for one in offered:
        _check(one)
    known = {one.uid: one for one in client.clusters.list()}
    changes = [compared(one, known.get(one.uid)) for one in offered]
    if not write:
        return changes
    return [
        _written(client, one, change, known.get(one.uid), provider)
        for one, change in zip(offered, changes, strict=True)
    ]


def _check(offered: Offered) -> None:
    """Refuse what the service would refuse, before anything is written.

    Raises:
        InputError: The cluster cannot be offered.
    """
    body = {"slots": offered.slots, "labels": dict(offered.labels), "price": offered.price or 0.0}
    try:
        ClusterIn.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        said = str(first["msg"])
        raise InputError(
            f"has {field} {str(first['input'])[:40]}: {said[0].lower()}{said[1:]}",
            where=offered.where or f"cluster {offered.uid}",
            allowed="slots from 0 to 1,000,000, a price from 0 to 1e12, 64 labels",
            remedy="correct it there, or leave this cluster out",
        ) from error


def _written(
    client: Client, offered: Offered, change: Change, known: Cluster | None, provider: str | None
) -> Change:
    for left in range(_TRIES - 1, -1, -1):
        try:
            _write(client, change, known, provider)
        except PreconditionError:
            if not left:
                raise
            known = client.clusters.get(offered.uid)
            change = compared(offered, known)
        else:
            break
    return change


def _write(client: Client, change: Change, known: Cluster | None, provider: str | None) -> None:
    """Write a cluster, then its state: a new one is up."""
    if change.change == "unchanged":
        return
    more = {"provider": provider} if provider is not None and known is None else {}
    version = None if known is None else known.version
    body = {"labels": change.labels, "price": change.price, **more}
    state = "up" if known is None else known.state
    if known is None or _offer_of(known) != (change.slots, change.labels, change.price):
        client.clusters.put(change.cluster, change.slots, version=version, **body)
    if change.state != state:
        change_state = (
            client.clusters.drain if change.state == "draining" else client.clusters.uncordon
        )
        change_state(change.cluster)


def _offer_of(known: Cluster) -> tuple[int, dict[str, str], float]:
    return known.slots, known.labels, known.price


def counted(changes: Sequence[Change]) -> str:
    """How many clusters were added, changed and left as they are, in words."""
    kinds = ("added", "changed", "unchanged")
    return ", ".join(f"{sum(one.change == kind for one in changes)} {kind}" for kind in kinds)
