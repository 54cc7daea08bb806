"""How far a provider's results are believed: which are audited, and what a forgery costs.

A provider is distrusted below ten valid results in a row: each is audited. Then one in twenty is,
or more while there are few. A result that an audit contradicts starts the count anew, and nothing
of the provider's runs is learned from or confirmed. Sources: BOINC's adaptive replication;
``design/exchange.md``, 3.7.
"""

from __future__ import annotations

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

_MINE = observation.c.cluster.in_(
    sa.select(cluster.c.id).where(cluster.c.provider == given("provider_"))
)
_LAST_BAD = (
    sa.select(sa.func.coalesce(sa.func.max(observation.c.id), 0))
    .where(observation.c.weight == "quarantined", _MINE)
    .scalar_subquery()
)
_VALID = Statement(
    sa.select(sa.func.count()).where(
        observation.c.weight == "audited", _MINE, observation.c.id > _LAST_BAD
    )
)
_NEW = Statement(
    sa.select(observation.c.id, cluster.c.provider)
    .join(cluster, cluster.c.id == observation.c.cluster)
    .where(
        observation.c.id > given("after"),
        observation.c.weight == "used",
        observation.c.outcome == "completed",
        cluster.c.trusted == 0,
    )
    .order_by(observation.c.id)
    .limit(given("most"))
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
_QUARANTINE = Statement(
    sa.update(observation).where(observation.c.weight != "quarantined", _MINE)
    .values(weight="quarantined")
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A result that may be audited.

    Attributes:
        observation: Its number.
        provider: Whose it is.
        chance: With which it is audited.
    """

    observation: int
    provider: str
    chance: float


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


def valid_in_a_row(tx: Transaction, provider: str) -> int:
    """Results of a provider that audits confirmed since the last one that they contradicted."""
    return int(tx.value(_VALID, provider_=provider))


def candidates(tx: Transaction, after: int, most: int = 500) -> list[Candidate]:
    """Completed runs after one, of providers that are not trusted, with their chances."""
    known: dict[str, float] = {}
    found = []
    for key, provider in tx.rows(_NEW, after=after, most=most):
        if provider not in known:
            known[provider] = audit_chance(valid_in_a_row(tx, provider))
        found.append(Candidate(int(key), str(provider), known[provider]))
    return found


def confirm(tx: Transaction, number: int) -> bool:
    """An audit confirmed a result; whether it counted until then."""
    return bool(tx.run(_CONFIRM, id_=number))


def contradict(tx: Transaction, now: float, number: int, actor: str, why: str) -> int:
    """An audit or a consumer contradicted a result; how many of the provider's runs count no more.

    The provider's confirmed work is nothing then, so that it gets one task a round until it has
    confirmed work again; the count of valid results starts anew.

    Raises:
        NotFoundError: There is no such result.
    """
    provider = tx.value(_PROVIDER, id_=number)
    if provider is None:
        raise NotFoundError(f"there is no result {number}", where="observation")
    count = tx.run(_QUARANTINE, provider_=provider)
    told = {"result": number, "why": why, "quarantined": count}
    audit.record(tx, now, actor, "provider.quarantine", str(provider), told)
    events.tell(tx, now, "provider.quarantined", str(provider), told, tenant=None)
    return count
