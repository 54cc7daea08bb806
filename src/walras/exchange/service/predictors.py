"""Which predictor is in use: promoted, rolled back; the one before is kept."""

from __future__ import annotations

import sqlalchemy as sa

from walras.exchange.errors import ConflictError, NotFoundError
from walras.exchange.service import audit, events
from walras.exchange.states import PREDICTOR
from walras.exchange.store.schema import predictor
from walras.exchange.store.statements import Statement, Transaction, given

_STATE = Statement(sa.select(predictor.c.state).where(predictor.c.version == given("version")))
_MAY_BECOME_ACTIVE = tuple(state for state, after in PREDICTOR.items() if "active" in after)
_RETIRE = Statement(
    sa.update(predictor)
    .where(predictor.c.state == "active")
    .values(state="retired", decided=given("now"))
)
_ACTIVATE = Statement(
    sa.update(predictor)
    .where(predictor.c.version == given("version_"), predictor.c.state.in_(_MAY_BECOME_ACTIVE))
    .values(state="active", decided=given("now"))
)
_BEFORE = Statement(
    sa.select(predictor.c.version)
    .where(predictor.c.state == "retired")
    .order_by(predictor.c.decided.desc(), predictor.c.version.desc())
    .limit(1)
)


def promote(tx: Transaction, now: float, version: int, actor: str) -> None:
    """Use a predictor from the next round on.

    Raises:
        NotFoundError: There is no such predictor.
        ConflictError: Its state does not allow it.
    """
    state = tx.value(_STATE, version=version)
    if state is None:
        raise NotFoundError(
            f"there is no predictor {version}",
            where="predictor",
            remedy="walras predictor list shows them",
            pointer="/version",
        )
    if state not in _MAY_BECOME_ACTIVE:
        raise ConflictError(
            f"is {state}",
            where=f"predictor {version}",
            allowed=f"a predictor that is {' or '.join(_MAY_BECOME_ACTIVE)}",
            remedy="choose another one",
            pointer="/version",
        )
    _switch(tx, now, version, actor, "predictor.promote")


def rollback(tx: Transaction, now: float, actor: str) -> int:
    """Use the predictor that was active before the one that is; its version.

    Raises:
        ConflictError: There is none.
    """
    before = tx.value(_BEFORE)
    if before is None:
        raise ConflictError(
            "there is no earlier one",
            where="predictor",
            allowed="a predictor that was active before",
            remedy="promote another one",
        )
    _switch(tx, now, int(before), actor, "predictor.rollback")
    return int(before)


def _switch(tx: Transaction, now: float, version: int, actor: str, action: str) -> None:
    tx.run(_RETIRE, now=now)
    tx.run(_ACTIVATE, version_=version, now=now)
    audit.record(tx, now, actor, action, str(version))
    events.tell(tx, now, action, str(version), tenant=None)
