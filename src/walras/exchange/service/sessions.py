"""People sign in to the pages: a link that works once, then a session of a browser.

Both act for a token and end with it. Their secrets are random, shown once, and kept as a hash.
"""

from __future__ import annotations

import sqlalchemy as sa

from walras.exchange.errors import ForbiddenError, UnauthorisedError
from walras.exchange.service.tokens import Caller, hash_of
from walras.exchange.store.schema import credential, session
from walras.exchange.store.statements import Statement, Transaction, given, inserting

LINK, SESSION = "link", "session"

LINK_SECONDS = 600.0
"""How long a link may be used."""

SESSION_SECONDS = 12 * 3600.0
"""How long a session lasts."""

_INSERT = inserting(session)
_KEY_OF = Statement(sa.select(credential.c.id).where(credential.c.uid == given("uid")))
_FIND = Statement(
    sa.select(
        session.c.uid,
        credential.c.name,
        credential.c.tenant,
        credential.c.scopes,
        session.c.credential,
        credential.c.uid.label("of"),
    )
    .join(credential, credential.c.id == session.c.credential)
    .where(
        session.c.hash == given("hash"),
        session.c.kind == given("kind"),
        session.c.expires > given("now"),
        credential.c.revoked.is_(None),
        sa.or_(credential.c.expires.is_(None), credential.c.expires > given("now")),
    )
)
_END = Statement(sa.delete(session).where(session.c.uid == given("uid")))
_FORGET = Statement(sa.delete(session).where(session.c.expires <= given("now")))


def offer(tx: Transaction, now: float, by: Caller, uid: str, secret: str) -> float:
    """Keep a link that signs in once for the token of a caller; when it ends.

    Args:
        tx: The transaction.
        now: The service's time.
        by: Who asks.
        uid: A new name.
        secret: The secret of the link.

    Raises:
        ForbiddenError: The caller has no token of this service.
    """
    key = tx.value(_KEY_OF, uid=by.token)
    if key is None:
        raise ForbiddenError(
            "is not of this service",
            where="token",
            allowed="a token that this service created; neither a session nor another issuer's",
            remedy="ask an admin for a token: walras token create",
        )
    _keep(tx, now, uid, secret, LINK, int(key), now + LINK_SECONDS)
    return now + LINK_SECONDS


def sign_in(tx: Transaction, now: float, link: str, uid: str, secret: str) -> str:
    """Use a link: a session begins; the name of its token.

    Args:
        tx: The transaction.
        now: The service's time.
        link: The secret of the link.
        uid: A new name for the session.
        secret: The secret of the session.

    Raises:
        UnauthorisedError: The link was used, has ended, or never was; the answer is the same.
    """
    row = tx.first(_FIND, hash=hash_of(link), kind=LINK, now=now)
    # Of two that use it at once, one ends it.
    if row is None or not tx.run(_END, uid=row[0]):
        raise UnauthorisedError(
            "was used before, or is not valid",
            where="link",
            allowed=f"a link signs in once, within {LINK_SECONDS / 60.0:.0f} minutes",
            remedy="make another one: walras login",
        )
    _keep(tx, now, uid, secret, SESSION, int(row[4]), now + SESSION_SECONDS)
    return str(row[1])


def caller(tx: Transaction, now: float, secret: str) -> Caller | None:
    """Who a session acts for; None where it has ended, or its token has."""
    row = tx.first(_FIND, hash=hash_of(secret), kind=SESSION, now=now)
    if row is None:
        return None
    return Caller(row[0], row[1], row[2], frozenset(row[3].split()), row[5])


def end(tx: Transaction, uid: str) -> bool:
    """End a session; False where there is none of that name."""
    return bool(tx.run(_END, uid=uid))


def forget(tx: Transaction, now: float) -> int:
    """Delete links and sessions whose time has passed; their number."""
    return tx.run(_FORGET, now=now)


def _keep(
    tx: Transaction, now: float, uid: str, secret: str, kind: str, key: int, until: float
) -> None:
    tx.run(
        _INSERT,
        uid=uid,
        hash=hash_of(secret),
        kind=kind,
        credential=key,
        created=now,
        expires=until,
    )
