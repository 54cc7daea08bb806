"""Rounds that have ended are accounted for, as jobs of kind ``regret``."""

from __future__ import annotations

from walras.exchange.runtime.held import TIMER, Held
from walras.exchange.service import jobs, regret
from walras.exchange.store.statements import Transaction

KIND = "regret"

_BATCH = 100  # rounds in a transaction


class Accounting:
    """Does the jobs of kind ``regret``.

    Args:
        every: Seconds between looks.
    """

    alone = True

    def __init__(self, every: float = 30.0) -> None:
        self.every = every

    def ensure(self, tx: Transaction, now: float) -> None:
        """See that there is a timer."""
        jobs.enqueue(tx, now, KIND, TIMER, after=self.every)

    def wanted(self, tx: Transaction, keys: list[str]) -> str | None:
        """Whatever is due."""
        return next(iter(keys), None)

    def handle(self, held: Held) -> None:
        """Account for rounds; where there are more, go on at once."""
        count = held.exchange.write(lambda tx, now: regret.account(tx, _BATCH))
        after = 0.0 if count == _BATCH else self.every
        held.again(lambda tx, now: None, after, result={"rounds": count})
