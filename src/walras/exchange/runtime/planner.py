"""How a round is made: what it decides from, what it decides, and what is published of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.service.rounds import Placed
from walras.exchange.store.statements import Transaction


@dataclass(frozen=True)
class Outcome:
    """A plan that has passed the independent check.

    Attributes:
        state: ``published``, or ``fallback`` where it is not what the policy asked for.
        plan: Where tasks go.
        columns: Columns of the round: hash, snapshot, decision, makespan, bound, gap, method, …
    """

    state: str
    plan: list[Placed]
    columns: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Played:
    """A round that was played and not published.

    Attributes:
        state: ``ok`` or ``fallback``.
        figures: Makespan, bound, gap, mean chance of success.
        before: Task -> cluster without the changes.
        after: Task -> cluster with them.
        unplaced: How many tasks have no cluster.
        clusters: Cluster -> how many tasks it gets.
        blockers: Code -> how many tasks have such a blocker.
    """

    state: str
    figures: dict[str, float | None]
    before: dict[str, str]
    after: dict[str, str]
    unplaced: int
    clusters: dict[str, int]
    blockers: dict[str, int]


class Planner(Protocol):
    """Makes rounds; no step but the first sees the database."""

    def policy(self, tx: Transaction) -> str:
        """The policy in force, as JSON."""
        ...

    def take(self, tx: Transaction, now: float, seed: int) -> Any:
        """All that a round decides from."""
        ...

    def decide(self, taken: Any, seconds: float, compute: Compute) -> Outcome:
        """Decide in the process beside the service.

        Raises:
            WalrasError: It was late or died, or the plan did not pass the check.
        """
        ...

    def fall_back(self, taken: Any, why: str) -> Outcome:
        """Decide here, quickly, where the other process could not.

        Raises:
            WalrasError: That plan did not pass the check, either.
        """
        ...

    def play(
        self,
        exchange: Exchange,
        snapshot: bytes | None,
        changes: dict[str, Any],
        seed: int,
        seconds: float,
        compute: Compute,
    ) -> Played:
        """Play a round with and without some changes.

        Args:
            exchange: Whose state is taken where no snapshot is given.
            snapshot: Of a past round, as it was stored; None for now.
            changes: ``drain``, ``slots``, ``min_success``, ``window``; see the API.
            seed: The seed.
            seconds: How long each of the two may take.
            compute: The process that decides.

        Raises:
            WalrasError: A change cannot be made, or it was late.
        """
        ...
