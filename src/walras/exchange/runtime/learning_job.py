"""What a job of kind ``train`` does: it trains a candidate, or judges the one there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.held import TIMER, Held
from walras.exchange.runtime.training import pack
from walras.exchange.service import learning
from walras.exchange.service.learning import Model, Rows
from walras.exchange.service.promotion import FIRST, LOOKS, Verdict
from walras.exchange.store.statements import Transaction

ENOUGH = 50
"""Measured times that the first training needs."""

_SECONDS = 300.0  # that a training may take


@dataclass(frozen=True)
class LearningJob:
    """One job of training or of judging a candidate.

    Attributes:
        held: The job.
        compute: The process that trains.
        every: Seconds between looks.
        fresh: Runs after which a new candidate is trained.
    """

    held: Held
    compute: Compute
    every: float
    fresh: int

    def run(self) -> str:
        """Train a candidate, or compare the one there is; the outcome in words."""
        exchange, asked = self.held.exchange, self.held.job.subject != TIMER
        shadow = exchange.read(lambda tx: learning.in_state(tx, "shadow"))
        fresh = shadow is None and exchange.read(learning.fresh) >= self.fresh
        if asked or fresh or (shadow is not None and _looked_at_in_vain(shadow)):
            return self._train()
        if shadow is not None:
            return self._judge(shadow)
        return self._end(lambda tx, now: None, "too few runs have ended")

    def _train(self) -> str:
        rows, active = self.held.exchange.read(_all)
        timed = int((~np.isnan(rows.seconds)).sum())
        if timed < ENOUGH:
            why = f"{timed} measured runs of {ENOUGH}"
            return self._end(lambda tx, now: None, why)
        more = {} if active is None else {"start": active.data}
        answer = self.compute.call("train", pack(rows, **more), _SECONDS)
        header, _, data = answer.partition(b"\n")
        clusters = tuple(json.loads(header))
        facts = {
            "runs": len(rows),
            "typical": float(np.exp(np.nanmean(np.log(rows.seconds)))),
            "success": float(rows.success.mean()),
            "features": list(rows.feature_names),
        }

        def work(tx: Transaction, now: float) -> None:
            learning.store(tx, now, data, clusters, rows.last, facts)

        return self._end(work, f"trained on {len(rows)} runs")

    def _judge(self, shadow: Model) -> str:
        exchange = self.held.exchange
        names = tuple(shadow.scores["features"])
        rows, active = exchange.read(
            lambda tx: (
                learning.rows(tx, shadow.trained_to, names=names),
                learning.predictor_of(tx),
            )
        )
        verdict = self._verdict(exchange, rows, shadow, active)

        def work(tx: Transaction, now: float) -> None:
            learning.decide(tx, now, shadow, verdict)

        return self._end(work, f"{shadow.name}: {verdict.decision}, {verdict.why}")

    def _verdict(
        self, exchange: Exchange, rows: Rows, shadow: Model, active: Model | None
    ) -> Verdict:
        facts = {
            "seconds": shadow.scores["typical"],
            "success": shadow.scores["success"],
            "age": exchange.now() - shadow.created,
        }
        more = {"candidate": shadow.data, "prior": json.dumps(facts).encode()}
        if active is not None and active.scores["features"] == shadow.scores["features"]:
            more["active"] = active.data
        found: list[Any] = json.loads(self.compute.call("score", pack(rows, **more), _SECONDS))
        return Verdict(found[0], found[1], found[2])

    def _end(self, work: Callable[[Transaction, float], None], outcome: str) -> str:
        """End the job; the timer runs again."""
        if self.held.job.subject == TIMER:
            self.held.again(work, self.every, result={"outcome": outcome})
        else:
            self.held.finish(work, result={"outcome": outcome})
        return outcome


def _looked_at_in_vain(shadow: Model) -> bool:
    """Whether it stayed a shadow after its looks, while as many new runs ended."""
    seen = int(shadow.scores.get("look", {}).get("runs") or 0)
    return seen >= FIRST << (LOOKS - 1)


def _all(tx: Transaction) -> tuple[Rows, Model | None]:
    return learning.rows(tx), learning.predictor_of(tx)
