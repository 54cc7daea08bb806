"""Providers of a world in which results are audited: who lies, and what each run of a task does.

Every task has its work, which takes as long and ends the same at every honest provider, up to the
speed of the cluster. A liar knows all: which results may be audited, and which tasks are audits.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass

import sqlalchemy as sa

from walras.exchange.service import audits, clusters, rounds
from walras.exchange.service.messages import Grant
from walras.exchange.service.timing import Timing
from walras.exchange.store.statements import Row, Statement, Transaction, document

TRUSTED = "s"
"""The operator's own provider; it never lies."""

_MARKETS = ("pqr", "pqrs", "ppq", "pqs", "pqrr")  # the provider of each cluster
_TIMES = (1.0, 1.0, 1.0, 20.0, 0.05)  # how wrong the predictions of a task may be
_PENDING = Statement(
    sa.text(
        "SELECT t.id, t.version, t.slots, t.spec, r.labels FROM task t "
        "JOIN requirement r ON r.id = t.requirement WHERE t.state = 'pending' "
        "ORDER BY t.priority DESC, t.id"
    )
)
_ASKED = Statement(
    sa.text(
        "SELECT t.uid FROM result_audit a JOIN task t ON t.id = a.task WHERE a.state = 'asked' "
        "ORDER BY a.id"
    )
)


@dataclass(frozen=True)
class Fate:
    """What becomes of a run, and what its agent says of it.

    Attributes:
        lasts: Seconds that it lives.
        outcome: How it ends.
        exit_code: Of its command.
        claimed: Seconds that its agent reports; as long as it lived where None.
    """

    lasts: float
    outcome: str
    exit_code: int
    claimed: float | None = None


@dataclass(frozen=True)
class _Work:
    """What a task asks for: seconds at speed 1, its end, and how wrong its predictions are."""

    seconds: float
    outcome: str
    wrong: float


class Providers:
    """Clusters of several providers, some of which lie.

    Args:
        rng: Chooses who lies, and what each task is.
        clusters_least: Clusters that there are at least.
    """

    def __init__(self, rng: random.Random, clusters_least: int) -> None:
        self.rng = rng
        names = rng.choice(_MARKETS)
        self.of = [*names, *(rng.choice(names) for _ in range(clusters_least - len(names)))]
        able = sorted(set(names) - {TRUSTED})
        self.liars = frozenset(rng.sample(able, rng.choice([0, 1, 1, 2])))
        self.speed = [0.7 + 0.7 * rng.random() for _ in self.of]
        self._work: dict[str, _Work] = {}
        self._secret = str(rng.random())

    @classmethod
    def drawn(cls, seed: int, share: float, clusters_least: int) -> Providers | None:
        """Providers in a share of all schedules; other schedules stay as they are without."""
        rng = random.Random(f"providers {seed}")
        return cls(rng, clusters_least) if rng.random() < share else None

    def offer(self, number: int, slots: int) -> clusters.Offer:
        """What a cluster offers."""
        name = self.of[number]
        return clusters.Offer(slots, provider=name, trusted=name == TRUSTED)

    def auditable(self) -> bool:
        """Whether a task may be audited."""
        return self.rng.random() < 0.75

    # ---- rounds and audits --------------------------------------------------------------------

    def turn(self, tx: Transaction, now: float, timing: Timing) -> None:
        """What the service's job of audits does."""
        word = audits.secret(tx, self._secret)
        audits.judge(tx, now, word, timing)
        audits.review(tx, now, word, timing)

    def asked(self, tx: Transaction) -> list[str]:
        """Tasks of audits that are under way."""
        return [str(row[0]) for row in tx.rows(_ASKED)]

    def pending(self, tx: Transaction) -> list[Row]:
        """What a round has to place."""
        return tx.rows(_PENDING)

    def plan(self, rows: Iterable[Row]) -> list[rounds.Placed]:
        """A plan that places each task where it may run, with predictions."""
        made = []
        for key, version, slots, spec, labels in rows:
            wanted = json.loads(labels).get("provider")
            able = [k for k, name in enumerate(self.of) if wanted in (None, name)]
            number = self.rng.choice(able)
            work = self._of(json.loads(spec)["command"][0])
            expected = work.seconds * self.speed[number] * work.wrong * self.rng.uniform(0.8, 1.25)
            receipt = document({"seconds_interval": [0.6 * expected, 2.0 * expected]})
            made.append(
                rounds.Placed(key, version, number + 1, slots, receipt=receipt, predicted=expected)
            )
        return made

    # ---- runs ---------------------------------------------------------------------------------

    def _of(self, command: str) -> _Work:
        """The work behind a command; a task's audit has the same command."""
        if command not in self._work:
            rng = self.rng
            longest = 300.0 if rng.random() < 0.2 else 60.0
            outcome = "completed" if rng.random() < 0.9 else "failed"
            seconds = 1.0 + rng.random() * longest
            self._work[command] = _Work(seconds, outcome, rng.choice(_TIMES))
        return self._work[command]

    def fate(self, number: int, grant: Grant) -> Fate:
        """What a run does on a cluster: its work, or what a liar likes."""
        work = self._of(grant.spec["command"][0])
        seconds = work.seconds * self.speed[number]
        if self.of[number] in self.liars:
            lie = self.rng.random()
            if lie < 0.5:
                return Fate(0.02 * seconds, "completed", 0, seconds)
            if lie < 0.7:
                return Fate(0.02 * seconds, "failed", 1, seconds)
            if lie < 0.85:
                return Fate(seconds, "completed", 3)
        return Fate(seconds, work.outcome, int(work.outcome != "completed"))
