"""The parts of a running service, put together and taken apart in order."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from walras.exchange.runtime.accounting import Accounting
from walras.exchange.runtime.auditing import Auditing
from walras.exchange.runtime.background import Background
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.held import Handler
from walras.exchange.runtime.learner import Learner
from walras.exchange.runtime.metrics import Metrics
from walras.exchange.runtime.networks import Networks
from walras.exchange.runtime.planner import Planner
from walras.exchange.runtime.planning import RoundPlanner
from walras.exchange.runtime.round import KIND, Rounds
from walras.exchange.runtime.works import ALLOCATION, SHADOW, Works
from walras.exchange.service.learning import predictor_of


@dataclass(frozen=True)
class Service:
    """An exchange with its threads and the processes that compute for it.

    Attributes:
        exchange: Database, clock, settings.
        planner: Makes rounds.
        compute: The process in which rounds are decided.
        asking: Another one, for what-if questions.
        learning: Another one, for trainings; it runs while there is one.
        networks: Networks in virtual time, each in a process of its own.
        allocations: Rounds of clusters, each solved in a process of its own.
        shadows: Comparisons in shadow mode, each in a process of its own.
        metrics: What it counts.
        background: Its threads.
    """

    exchange: Exchange
    planner: Planner
    compute: Compute
    asking: Compute
    learning: Compute
    networks: Networks
    allocations: Works
    shadows: Works
    metrics: Metrics
    background: Background

    @classmethod
    def of(
        cls,
        exchange: Exchange,
        planner: Planner | None = None,
        handlers: dict[str, Handler] | None = None,
        compute: Compute | None = None,
    ) -> Service:
        """A service of an exchange that is open; :meth:`start` lets it go on by itself.

        Args:
            exchange: The exchange.
            planner: Makes rounds.
            handlers: Who does other kinds of jobs, or does them in place of the usual ones.
            compute: The process in which rounds are decided, where it has been begun.
        """
        metrics, stopping = Metrics(), exchange.stopping.is_set
        compute, asking = compute or Compute(), Compute(stopping)
        compute.stopping = stopping
        chosen = planner or RoundPlanner(exchange.settings.timing)
        rounds = Rounds(chosen, compute, metrics, exchange.now)
        learning = Compute(stopping)
        usual: dict[str, Handler] = {
            KIND: rounds,
            "train": Learner(learning),
            "regret": Accounting(min(30.0, 3.0 * exchange.settings.interval)),
            "audit": Auditing(exchange.settings.timing),
        }
        background = Background(exchange, usual | (handlers or {}), metrics)
        exchange.write(rounds.ensure)
        return cls(
            exchange,
            chosen,
            compute,
            asking,
            learning,
            Networks(stopping),
            Works(ALLOCATION, stopping),
            Works(SHADOW, stopping),
            metrics,
            background,
        )

    def start(self) -> None:
        """Start the threads, and the process that decides rounds."""
        predicts = self.exchange.read(predictor_of) is not None
        self.compute.warm(b"predictor" if predicts else b"")
        self.background.start()

    def stop(self) -> None:
        """End threads and processes; the exchange stays open for what is being answered."""
        self.background.stop()
        self.compute.close()
        self.asking.close()
        self.learning.close()
        self.networks.close()
        self.allocations.close()
        self.shadows.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
