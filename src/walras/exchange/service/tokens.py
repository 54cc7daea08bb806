"""Tenants and their tokens: random, shown once, kept as a hash, scoped, expiring."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from walras.exchange.errors import ConflictError, NotFoundError, UnauthorisedError
from walras.exchange.store.schema import credential, tenant
from walras.exchange.store.statements import Statement, Transaction, given, inserting

SCOPES = ("read", "submit", "operate", "admin")
"""Scopes of a token; ``provider:CLUSTER`` is the fifth kind."""


@dataclass(frozen=True)
class Caller:
    """Who a token belongs to.

    Attributes:
        token: The token's uid.
        name: Its name.
        tenant: Its tenant, or None for all.
        scopes: What it may do.
        of: Of a session, the uid of the token that it acts for.
    """

    token: str
    name: str
    tenant: str | None
    scopes: frozenset[str]
    of: str = ""

    @property
    def account(self) -> str:
        """Who is limited: the token, also by its sessions."""
        return self.of or self.token


_TENANT = inserting(tenant)
_TENANT_OF = Statement(sa.select(tenant.c.id).where(tenant.c.name == given("name")))
_CHANGE_TENANT = Statement(
    sa.update(tenant)
    .where(tenant.c.name == given("name_"))
    .values(weight=given("weight_"), quota_slots=given("quota_"))
)
_INSERT = inserting(credential)
_FIND = Statement(
    sa.select(
        credential.c.uid,
        credential.c.name,
        credential.c.tenant,
        credential.c.scopes,
        credential.c.expires,
        credential.c.revoked,
    ).where(credential.c.hash == given("hash"))
)
_ANY = Statement(sa.select(credential.c.id).limit(1))
_REVOKE = Statement(
    sa.update(credential)
    .where(credential.c.uid == given("uid_"), credential.c.revoked.is_(None))
    .values(revoked=given("now"))
)


def hash_of(token: str) -> str:
    """What is kept of a token. A random token of 256 bits needs no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()


def add_tenant(
    tx: Transaction, now: float, name: str, weight: float = 1.0, quota: int | None = None
) -> None:
    """Add a tenant.

    Raises:
        ConflictError: There is one of that name.
    """
    if tx.value(_TENANT_OF, name=name) is not None:
        raise ConflictError("exists", where=f"tenant {name}", remedy="choose another name")
    tx.run(_TENANT, name=name, weight=weight, quota_slots=quota, used=0.0, used_at=now, created=now)


def change_tenant(tx: Transaction, name: str, weight: float, quota: int | None) -> None:
    """Change a tenant's weight and quota.

    Raises:
        NotFoundError: There is none of that name.
    """
    if not tx.run(_CHANGE_TENANT, name_=name, weight_=weight, quota_=quota):
        raise NotFoundError(f"there is no tenant '{name}'", where="tenant")


def any_token(tx: Transaction) -> bool:
    """Whether there is any token, valid or not."""
    return tx.first(_ANY) is not None


def create(
    tx: Transaction,
    now: float,
    uid: str,
    token: str,
    *,
    name: str,
    scopes: tuple[str, ...],
    owner: str | None,
    expires: float | None,
) -> None:
    """Keep a token's hash.

    Raises:
        NotFoundError: There is no such tenant.
    """
    if owner is not None and tx.value(_TENANT_OF, name=owner) is None:
        raise NotFoundError(f"there is no tenant '{owner}'", where="tenant")
    tx.run(
        _INSERT,
        uid=uid,
        hash=hash_of(token),
        prefix=token[:8],
        tenant=owner,
        name=name,
        scopes=" ".join(scopes),
        created=now,
        expires=expires,
        revoked=None,
    )


def revoke(tx: Transaction, now: float, uid: str) -> None:
    """Revoke a token.

    Raises:
        NotFoundError: There is none, or it was revoked before.
    """
    if not tx.run(_REVOKE, uid_=uid, now=now):
        raise NotFoundError(f"there is no token '{uid}' to revoke", where="token")


def caller(tx: Transaction, now: float, token: str) -> Caller:
    """Who a token belongs to.

    Raises:
        UnauthorisedError: It is unknown, revoked or expired; the answer is the same.
    """
    row: tuple[Any, ...] | None = tx.first(_FIND, hash=hash_of(token))
    if row is None or row[5] is not None or (row[4] is not None and row[4] <= now):
        raise UnauthorisedError(
            "is not valid",
            where="token",
            allowed="Authorization: Bearer TOKEN",
            remedy="ask an admin for a token: walras token create",
        )
    return Caller(row[0], row[1], row[2], frozenset(row[3].split()))
