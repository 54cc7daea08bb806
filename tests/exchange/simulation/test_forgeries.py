"""A search over forgeries tries to let k of them survive more often than with 0.95^k.

The transactions are those that run in earnest; two other providers are honest. The hostile one
chooses how much it confirms before, how much of the true time it waits, and what it does honestly
in between. A forgery survives where it is not audited; one that is caught costs all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import sqlalchemy as sa

from walras.exchange.service import (
    audits,
    clusters,
    rounds,
    snapshot_clusters,
    tasks,
    tokens,
    trust,
)
from walras.exchange.service.messages import Finished
from walras.exchange.service.messages import Sync as Message
from walras.exchange.service.sync import sync
from walras.exchange.service.timing import Timing
from walras.exchange.simulation.world import Memory
from walras.exchange.store.statements import SQLITE, Statement, Transaction

TRUE, FORGED = 100.0, 24  # seconds of a run; forgeries of a schedule
SECRETS, JUDGED = 200, 8  # secrets that are tried; those with which the audits run
TIMING = Timing()
PENDING = Statement(
    sa.text(
        "SELECT t.id, t.version, r.labels FROM task t JOIN requirement r ON r.id = t.requirement "
        "WHERE t.state = 'pending' ORDER BY t.id"
    )
)
CAUGHT = Statement(
    sa.text(
        "SELECT t.uid, a.state FROM result_audit a JOIN observation o ON o.id = a.observation "
        "JOIN task t ON t.id = o.task WHERE a.provider = 'p' ORDER BY a.id"
    )
)
WEIGHTS = Statement(
    sa.text(
        "SELECT o.weight, count(*) FROM observation o JOIN cluster c ON c.id = o.cluster "
        "WHERE c.provider = 'p' GROUP BY o.weight"
    )
)


@dataclass(frozen=True)
class Strategy:
    """What the hostile provider does.

    Attributes:
        honest: Results that are confirmed before the first forgery.
        waits: Share of the true time that it waits before it claims a result.
        between: Honest results for each forgery.
    """

    honest: int = 24
    waits: float = 0.0
    between: int = 0


CORNERS = [Strategy(honest=12), Strategy(), Strategy(waits=0.09, between=1)]


class Market:
    """Providers p (hostile), q and r; each has one cluster of many slots."""

    def __init__(self, memory: Memory) -> None:
        self.tx = Transaction(memory.empty(), SQLITE)
        self.now, self.made, self.seq = 1000.0, 0, 0
        tokens.add_tenant(self.tx, self.now, "default")
        for name in "pqr":
            clusters.put(self.tx, self.now, f"c-{name}", clusters.Offer(1000, provider=name))
            clusters.register(self.tx, self.now, f"a-{name}", f"c-{name}", "local", True)
            self._sync(name)
        self.keys = {name: k + 1 for k, name in enumerate("pqr")}

    def _sync(self, name: str, **more: Any) -> list[Any]:
        self.seq += 1
        message = Message(1, self.seq, 1000, **more)
        return sync(self.tx, self.now, f"a-{name}", message, TIMING).run

    def submit(self, count: int, word: str) -> None:
        """Tasks that may be audited; their names tell what becomes of them."""
        made = [
            tasks.NewTask(
                f"{word}{self.made + k}", f"{word}{self.made + k}", ("true",), auditable=True
            )
            for k in range(count)
        ]
        self.made += count
        tasks.submit(self.tx, self.now, "default", made)

    def round(self, waits: float = 1.0) -> None:
        """What waits runs: forgeries end after some of the true time, all else after all of it."""
        plan = []
        for key, version, labels in self.tx.rows(PENDING):
            at = self.keys[json.loads(labels).get("provider", "p")]
            plan.append(rounds.Placed(key, version, at, 1))
        seq = rounds.begin(self.tx, self.now, "{}", 0)
        rounds.publish(self.tx, self.now, seq, "published", plan)
        runs = [(name, run) for name in "pqr" for run in self._sync(name)]
        self.now += TRUE * waits
        self._report("p", [run for _, run in runs if run.task.startswith("f")])
        self.now += TRUE * (1.0 - waits)
        for name in "pqr":
            mine = [run for of, run in runs if of == name and not run.task.startswith("f")]
            self._report(name, mine)

    def _report(self, name: str, runs: list[Any]) -> None:
        done = [Finished(g.placement, g.token, "completed", TRUE, 0) for g in runs]
        self._sync(name, finished=done)

    def audit(self, secret: str) -> None:
        """Audits run and are judged, second opinions, too."""
        for _ in range(2):
            audits.review(self.tx, self.now, secret, TIMING, 1000)
            self.round()
            audits.judge(self.tx, self.now, secret, TIMING, 1000)

    def weights(self) -> dict[str, int]:
        return {str(word): int(count) for word, count in self.tx.rows(WEIGHTS)}


def forged(memory: Memory, strategy: Strategy) -> tuple[Market, bytes]:
    """A market in which the forgeries were reported and nothing of them was drawn yet."""
    market = Market(memory)
    market.submit(strategy.honest, "h")
    market.round()
    market.audit("before")
    assert market.weights() == ({"audited": strategy.honest} if strategy.honest else {})
    market.submit(FORGED, "f")
    market.submit(FORGED * strategy.between, "h")
    market.round(strategy.waits)
    return market, memory.raw.serialize()


def survival(memory: Memory, strategy: Strategy) -> list[float]:
    """Share of secrets with which the first k forgeries are not audited, for k = 1, 2, ….

    With some of the secrets the audits run: each forgery that is audited costs all.
    """
    market, state = forged(memory, strategy)
    now, seq = market.now, market.seq
    survived = [0] * FORGED
    for number in range(SECRETS):
        memory.raw.deserialize(state)
        market.now, market.seq = now, seq
        secret = f"secret {number}"
        audits.review(market.tx, market.now, secret, TIMING, 1000)
        asked = [str(row[0]) for row in market.tx.rows(CAUGHT) if str(row[0]).startswith("f")]
        order = sorted(int(uid[1:]) for uid in asked)
        first = order[0] - strategy.honest if order else FORGED
        for k in range(first):
            survived[k] += 1
        if number < JUDGED:
            market.round()
            market.audit(secret)
            weights = market.weights()
            assert ("quarantined" in weights) == bool(asked)
            if asked:  # all of it: also what was confirmed before
                assert set(weights) == {"quarantined"}
                work = snapshot_clusters.recent(market.tx).confirmed
                assert work.get(market.keys["p"], 0.0) == 0.0
    return [count / SECRETS for count in survived]


def above(found: list[float]) -> float:
    """By how many standard errors k forgeries survive more often than stated, at worst."""
    worst = -math.inf
    for k, share in enumerate(found, 1):
        bound = 0.95**k
        worst = max(worst, (share - bound) / (bound * (1.0 - bound) / SECRETS) ** 0.5)
    return worst


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    made = Memory()
    yield made
    made.close()


def test_no_strategy_lets_forgeries_survive_more_often(memory: Memory) -> None:
    found = {one: above(survival(memory, one)) for one in CORNERS}
    best = max(found, key=lambda one: found[one])
    for more in ({"waits": 0.05}, {"between": 1}, {"honest": best.honest + 12}):
        near = replace(best, **more)
        found[near] = above(survival(memory, near))
    assert len(found) >= 6
    assert max(found.values()) < 3.5


def test_without_the_least_chance_they_do(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the search could have found it."""
    monkeypatch.setattr(trust, "LEAST", 0.0)
    assert above(survival(memory, Strategy(honest=100))) > 5.0


def test_a_new_provider_cannot_forge_once(memory: Memory) -> None:
    assert survival(memory, Strategy(honest=0)) == [0.0] * FORGED


def test_a_forgery_that_waits_as_long_as_the_work_is_not_seen(memory: Memory) -> None:
    """What is not promised: an audit sees times and exit codes, not what was computed."""
    market, _ = forged(memory, Strategy(waits=0.5))
    market.audit("after")
    market.audit("after")
    assert "quarantined" not in market.weights()
