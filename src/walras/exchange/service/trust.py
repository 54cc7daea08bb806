"""How far a provider's results are believed: which are audited, and what a forgery costs.

A provider is distrusted below ten valid results in a row: each is audited. Then one in twenty is,
or more while there are few. A result that audits contradict starts the count anew, and nothing
of the provider's runs is learned from or confirmed. Source: BOINC's adaptive replication; see
``docs/explanation/exchange.md``, providers that lie. What runs a result again is
:mod:`walras.exchange.service.audits`.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

import sqlalchemy as sa

from walras.exchange.errors import NotFoundError
from walras.exchange.service import audit, events
from walras.exchange.store.schema import cluster, observation
from walras.exchange.store.statements import Statement, Transaction, given

DISTRUSTED = 10
"""Valid results in a row below which every result is audited."""
LEAST = 0.05
"""Chance of an audit of a provider's result, however many were valid."""
TOLERANCE = 2.0
"""A run may be faster than the predicted interval by so much."""
SPEED = 10.0
"""As far as nothing is predicted, a cluster may be faster than another one by so much."""

_MINE = observation.c.cluster.in_(
    sa.select(cluster.c.id).where(cluster.c.provider == given("provider_"))
)
_LAST_BAD = (
    sa.select(sa.func.coalesce(sa.func.max(observation.c.id), 0))
    .where(observation.c.weight == sa.literal_column("'quarantined'"), _MINE)
    .scalar_subquery()
)
_VALID = Statement(
    sa.select(sa.func.count()).where(
        observation.c.weight == sa.literal_column("'audited'"),
        _MINE,
        observation.c.id > _LAST_BAD,
    )
)
_PROVIDER = Statement(
    sa.select(cluster.c.provider)
    .join(observation, observation.c.cluster == cluster.c.id)
    .where(observation.c.id == given("id_"))
)
_CONFIRM = Statement(
    sa.update(observation)
    .where(observation.c.id == given("id_"), observation.c.weight == "used")
    .values(weight="audited")
)
_DISPUTE = Statement(
    sa.update(observation)
    .where(observation.c.id == given("id_"), observation.c.weight.in_(["used", "audited"]))
    .values(weight="disputed")
)
_QUARANTINE = Statement(
    sa.update(observation).where(observation.c.weight != "quarantined", _MINE)
    .values(weight="quarantined")
)  # fmt: skip
_DISTRUST = Statement(
    sa.update(cluster)
    .where(cluster.c.provider == given("provider_"))
    .values(distrusted=given("now"))
)


@dataclass(frozen=True)
class Ran:
    """What the service knows of a run that has ended.

    Attributes:
        outcome: One of :data:`walras.exchange.states.COUNTED`.
        exit_code: Of the command, or None.
        seconds: How long it took, or None where nobody measured it: the service's clock was set
            anew between its grant and its result.
        predicted: Seconds that it was expected to take, or None.
        low: Lower end of the 90 % interval of that, or None.
    """

    outcome: str
    exit_code: int | None
    seconds: float | None
    predicted: float | None = None
    low: float | None = None


def audit_chance(valid: int) -> float:
    """The chance that a result is audited.

    Args:
        valid: Valid results of the provider in a row.

    Example:
        >>> from walras.exchange.service.trust import audit_chance
        >>> audit_chance(9), audit_chance(10), audit_chance(1000)
        (1.0, 0.1, 0.05)
    """
    return 1.0 if valid < DISTRUSTED else max(LEAST, 1.0 / valid)


def drawn(secret: str, *of: object) -> float:
    """A number from 0 to 1 that follows from a secret and what it is drawn for.

    Who knows the secret can draw it again; who does not cannot tell which results are audited.
    Source: HMAC-SHA256 as a pseudo-random function, RFC 2104.

    Args:
        secret: The exchange's.
        of: What it is drawn for.

    Example:
        >>> from walras.exchange.service.trust import drawn
        >>> drawn("secret", "audit", 7) == drawn("secret", "audit", 7)
        True
        >>> 0.0 <= drawn("secret", "audit", 8) < 1.0
        True
    """
    return int(digest(secret, *of)[:13], 16) / 16.0**13


def digest(secret: str, *of: object) -> str:
    """64 hexadecimal digits that follow from a secret and what they are for."""
    words = ":".join(map(str, of))
    return hmac.new(secret.encode(), words.encode(), hashlib.sha256).hexdigest()


def disagreement(claimed: Ran, again: Ran) -> str:
    """Why a run that claims to be completed and its audit disagree; empty where they agree.

    They agree where the audit's run is completed, too, with the same exit code, and the claimed
    one did not take less time than the work can take. That is half of the lower end of its
    predicted interval, or less as the audit's run was faster than predicted; and a tenth of what
    the audit's run took, as far as that was expected. A run that took longer is slow, not forged:
    what it took is learned, and the bound on shares holds it.

    Args:
        claimed: The result.
        again: What ran again elsewhere.

    Example:
        >>> from walras.exchange.service.trust import Ran, disagreement
        >>> disagreement(Ran("completed", 0, 58.0, 60.0, 40.0), Ran("completed", 0, 90.0, 80.0))
        ''
        >>> disagreement(Ran("completed", 0, 0.2, 60.0, 40.0), Ran("completed", 0, 90.0, 80.0))
        'took 0.2 s, where 20 s are the least to be expected'
    """
    if again.outcome != "completed":
        return f"ends as {again.outcome} elsewhere"
    if None not in (claimed.exit_code, again.exit_code) and claimed.exit_code != again.exit_code:
        return f"has exit code {claimed.exit_code}, and {again.exit_code} elsewhere"
    if claimed.seconds is None or again.seconds is None:
        return ""
    expected = again.seconds if again.predicted is None else again.predicted
    share = min(again.seconds / expected, 1.0) if expected > 0.0 else 1.0
    least = max((claimed.low or 0.0) * share / TOLERANCE, min(again.seconds, expected) / SPEED)
    if claimed.seconds < least:
        return f"took {claimed.seconds:.3g} s, where {least:.3g} s are the least to be expected"
    return ""


def valid_in_a_row(tx: Transaction, provider: str) -> int:
    """Results of a provider that audits confirmed since the last one that they contradicted."""
    return int(tx.value(_VALID, provider_=provider))


def confirm(tx: Transaction, number: int) -> bool:
    """An audit confirmed a result; whether it counted until then."""
    return bool(tx.run(_CONFIRM, id_=number))


def dispute(tx: Transaction, number: int) -> bool:
    """A result is not believed, and its provider is: it alone counts no more."""
    return bool(tx.run(_DISPUTE, id_=number))


def contradict(tx: Transaction, now: float, number: int, actor: str, why: str) -> int:
    """A result is a forgery; how many of the provider's runs count no more.

    The provider's confirmed work is nothing then, so that it gets one task a round until it has
    confirmed work again; the count of valid results starts anew; and what was predicted of its
    clusters is the prior, until a predictor is trained without its former runs.

    Raises:
        NotFoundError: There is no such result.
    """
    provider = tx.value(_PROVIDER, id_=number)
    if provider is None:
        raise NotFoundError(f"there is no result {number}", where="observation")
    count = tx.run(_QUARANTINE, provider_=provider)
    tx.run(_DISTRUST, provider_=provider, now=now)
    details = {"result": number, "why": why, "quarantined": count}
    audit.record(tx, now, actor, "provider.quarantine", str(provider), details)
    events.tell(tx, now, "provider.quarantined", str(provider), details, tenant=None)
    return count
