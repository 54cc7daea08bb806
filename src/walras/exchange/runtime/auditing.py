"""Results are audited, as jobs of kind ``audit``: which are run again, and what came of it."""

from __future__ import annotations

import secrets

from walras.exchange.runtime.held import TIMER, Held
from walras.exchange.service import audits, jobs
from walras.exchange.service.timing import Timing
from walras.exchange.store.statements import Transaction

KIND = "audit"

_BATCH = 100  # results in a transaction


class Auditing:
    """Does the jobs of kind ``audit``.

    Args:
        timing: How long a silent cluster is taken to be up.
        every: Seconds between looks.
    """

    alone = True

    def __init__(self, timing: Timing, every: float = 5.0) -> None:
        self.timing, self.every = timing, every

    def ensure(self, tx: Transaction, now: float) -> None:
        """See that there is a timer."""
        jobs.enqueue(tx, now, KIND, TIMER, after=self.every)

    def wanted(self, tx: Transaction, keys: list[str]) -> str | None:
        """Whatever is due."""
        return next(iter(keys), None)

    def handle(self, held: Held) -> None:
        """Compare what has ended, then ask for new audits; where there are more, go on at once."""
        fresh = secrets.token_hex(32)

        def work(tx: Transaction, now: float) -> int:
            word = audits.secret(tx, fresh)
            judged = audits.judge(tx, now, word, self.timing, _BATCH)
            return max(judged, audits.review(tx, now, word, self.timing, _BATCH))

        count = held.exchange.write(work)
        after = 0.0 if count == _BATCH else self.every
        held.again(lambda tx, now: None, after, result={"results": count})
