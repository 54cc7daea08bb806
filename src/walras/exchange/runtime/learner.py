"""Predictors as jobs of kind ``train``: trained, kept as shadows, promoted or rejected."""

from __future__ import annotations

import logging

from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.held import TIMER, Held
from walras.exchange.service import jobs
from walras.exchange.store.statements import Transaction

log = logging.getLogger("walras.exchange")

KIND = "train"


class Learner:
    """Does the jobs of kind ``train``.

    A job trains a candidate when enough runs have ended since the last training, and judges the one
    there is otherwise. A job that was asked for trains in any case; a shadow is replaced.

    Args:
        compute: The process that trains; it is ended after each job.
        every: Seconds between looks.
        fresh: Runs after which a new candidate is trained.
    """

    alone = True

    def __init__(self, compute: Compute, every: float = 60.0, fresh: int = 100) -> None:
        self.compute, self.every, self.fresh = compute, every, fresh

    def ensure(self, tx: Transaction, now: float) -> None:
        """See that there is a timer."""
        jobs.enqueue(tx, now, KIND, TIMER, after=self.every)

    def wanted(self, tx: Transaction, keys: list[str]) -> str | None:
        """What was asked for first, then the timer."""
        asked = [key for key in keys if key != TIMER]
        return asked[0] if asked else next(iter(keys), None)

    def handle(self, held: Held) -> None:
        """Train or compare, and store the outcome with the end of the job."""
        # Imported here: arrays take a part of a second, and most processes never train.
        from walras.exchange.runtime.learning_job import LearningJob  # noqa: PLC0415

        try:
            outcome = LearningJob(held, self.compute, self.every, self.fresh).run()
        finally:
            self.compute.close()
        log.info("predictors: %s", outcome)
