"""Clusters and their agents: offered, changed, cordoned, drained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from walras.exchange.errors import ConflictError, NotFoundError, PreconditionError
from walras.exchange.service import events
from walras.exchange.store.schema import agent, cluster
from walras.exchange.store.statements import Statement, Transaction, document, given, inserting


@dataclass(frozen=True)
class Offer:
    """What a cluster offers.

    Attributes:
        slots: Tasks of one slot that run at once.
        labels: What a task may require.
        price: Of a slot-hour.
        provider: Who offers it; clusters of one provider share its bound.
        trusted: Exempt from the bound on a provider's share.
    """

    slots: int
    labels: Mapping[str, str] = field(default_factory=dict)
    price: float = 0.0
    provider: str = ""
    trusted: bool = False


_READ = Statement(
    sa.select(cluster.c.id, cluster.c.version, cluster.c.state, cluster.c.provider).where(
        cluster.c.uid == given("uid")
    )
)
_INSERT = inserting(cluster)
_CHANGE = Statement(
    sa.update(cluster)
    .where(cluster.c.id == given("id_"), cluster.c.version == given("version_"))
    .values(
        slots=given("slots_"),
        labels=given("labels_"),
        price=given("price_"),
        version=cluster.c.version + 1,
    )
)
_STATE = Statement(
    sa.update(cluster)
    .where(cluster.c.id == given("id_"), cluster.c.version == given("version_"))
    .values(state=given("state_"), version=cluster.c.version + 1)
)
_TRUST = Statement(
    sa.update(cluster)
    .where(cluster.c.uid == given("uid"))
    .values(trusted=given("trusted_"), version=cluster.c.version + 1)
)
_AGENT = Statement(
    sa.select(agent.c.cluster, agent.c.incarnation, agent.c.backend).where(
        agent.c.uid == given("uid")
    )
)
_NEW_AGENT = inserting(agent)


def put(
    tx: Transaction, now: float, uid: str, offer: Offer, *, version: int | None = None
) -> tuple[bool, int]:
    """Create a cluster (no version given), or change the one of that version.

    Returns:
        Whether it was created, and its version.

    Raises:
        NotFoundError: A version was given, and there is no such cluster.
        PreconditionError: It was changed since that version, or exists and none was given.
        ConflictError: It has another provider: what is known of its runs is of that one.
    """
    row = tx.first(_READ, uid=uid)
    if row is None and version is not None:
        raise NotFoundError(
            f"there is no cluster '{uid}'",
            where="cluster",
            remedy="leave If-Match out to create it",
        )
    if row is None:
        tx.run(_INSERT, **_row(uid, now, offer))
        events.tell(tx, now, "cluster.added", uid, {"slots": offer.slots}, tenant=None)
        return True, 1
    if version is None or version != row[1]:
        raise PreconditionError(
            "exists" if version is None else f"has version {row[1]}, not {version}",
            where=f"cluster {uid}",
            allowed=f'If-Match: "{row[1]}" to change it',
            remedy="read it again, then send its ETag as If-Match",
        )
    if offer.provider not in ("", row[3]):
        raise ConflictError(
            f"is '{offer.provider}'; cluster {uid} is of '{row[3]}'",
            where="provider",
            allowed=f"'{row[3]}': a cluster keeps its provider",
            remedy="leave it out, or offer another provider's cluster under a name of its own",
            pointer="/provider",
        )
    changed = {
        "slots_": offer.slots,
        "labels_": document(dict(offer.labels)),
        "price_": offer.price,
    }
    if not tx.run(_CHANGE, id_=row[0], version_=version, **changed):
        raise PreconditionError("was changed at the same moment", where=f"cluster {uid}")
    events.tell(tx, now, "cluster.changed", uid, {"slots": offer.slots}, tenant=None)
    return False, version + 1


def _row(uid: str, now: float, offer: Offer) -> dict[str, Any]:
    return {
        "uid": uid,
        "provider": offer.provider or uid,
        "labels": document(dict(offer.labels)),
        "slots": offer.slots,
        "price": offer.price,
        "state": "up",
        "trusted": int(offer.trusted),
        "version": 1,
        "created": now,
        "seen": None,
        "distrusted": None,
    }


def set_state(tx: Transaction, now: float, uid: str, state: str) -> int:
    """Set a cluster ``up``, ``cordoned`` (nothing new) or ``draining`` (offers withdrawn, too).

    Returns:
        Its version.

    Raises:
        NotFoundError: There is no such cluster.
    """
    row = tx.first(_READ, uid=uid)
    if row is None:
        raise NotFoundError(
            f"there is no cluster '{uid}'", where="cluster", remedy="walras cluster list shows them"
        )
    if row[2] == state:
        return int(row[1])
    if not tx.run(_STATE, id_=row[0], version_=row[1], state_=state):
        raise PreconditionError("was changed at the same moment", where=f"cluster {uid}")
    events.tell(tx, now, f"cluster.{state}", uid, tenant=None)
    return int(row[1]) + 1


def trust(tx: Transaction, uid: str, trusted: bool) -> None:
    """Exempt a cluster from the bound on its provider's share, or no longer."""
    if not tx.run(_TRUST, uid=uid, trusted_=int(trusted)):
        raise NotFoundError(f"there is no cluster '{uid}'", where="cluster")


def register(
    tx: Transaction, now: float, uid: str, cluster_uid: str, backend: str, fences: bool
) -> int:
    """Register an agent of a cluster, or find it again; its newest incarnation.

    Raises:
        NotFoundError: There is no such cluster.
        ConflictError: The agent is another cluster's, or has another backend: what is known of
            its runs, and whether they end by themselves, would not hold any more.
    """
    of = tx.first(_READ, uid=cluster_uid)
    if of is None:
        raise NotFoundError(
            f"there is no cluster '{cluster_uid}'",
            where="cluster",
            remedy=f"add it first: PUT /v1/clusters/{cluster_uid}",
        )
    found = tx.first(_AGENT, uid=uid)
    if found is not None:
        if found[0] != of[0]:
            raise ConflictError(
                "is another cluster's", where=f"agent {uid}", remedy="give it a name of its own"
            )
        if found[2] != backend:
            raise ConflictError(
                f"has the backend '{found[2]}', not '{backend}'",
                where=f"agent {uid}",
                allowed="one backend an agent",
                remedy="give the new agent a name and a home of its own",
            )
        return int(found[1])
    tx.run(
        _NEW_AGENT,
        uid=uid,
        cluster=of[0],
        backend=backend,
        fences=int(fences),
        incarnation=0,
        seq=0,
        seen=None,
        free=0,
        created=now,
    )
    events.tell(tx, now, "agent.registered", uid, {"cluster": cluster_uid}, tenant=None)
    return 0
