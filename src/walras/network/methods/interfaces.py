"""The interfaces of a method: a sharing part and a training part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.links.quantizers import Links
from walras.network.problem.network_problem import Problem
from walras.types import Bools, Floats, Longs, Weights


@dataclass(frozen=True, eq=False)
class Setting:
    """The inputs of a method.

    Attributes:
        problem: Costs, budget, boxes, losses.
        network: The graph of the centres.
        links: The coding of messages.
        faults: Faults of the run, or None.
        seed: Seed of batches and faults.
        start: (centres,) first fractions of the budget, or None for equal ones.
    """

    problem: Problem
    network: Network
    links: Links
    faults: Faults | None
    seed: int
    start: Floats | None

    def first_models(self) -> Weights:
        """(centres, scalars) the first model, once for each centre."""
        loss, data = self.problem.learning
        return np.repeat(loss.start(data, self.seed)[None], self.problem.centres, axis=0)


class ShareSide(Protocol):
    """The sharing part: shares and their steps."""

    bits: int

    @property
    def alive(self) -> Bools:
        """(centres,) True on centres that take part."""

    @property
    def shares(self) -> Floats:
        """(centres,) share that each centre uses."""

    @property
    def held(self) -> Floats:
        """(centres,) CPU that each living centre holds, idle or not."""

    @property
    def quanta(self) -> tuple[Longs, Longs] | None:
        """Quanta held by living centres, and in flight; None for methods without a ledger."""

    def step(self, network: Network, number: int) -> None:
        """Make one step on the present graph."""


class ModelSide(Protocol):
    """The training part: models and their steps."""

    bits: int
    models: Weights

    @property
    def tracking_error(self) -> float:
        """Distance between the trackers' sum and the gradients' sum; NaN without trackers."""

    def step(self, network: Network, number: int) -> None:
        """Make one step on the present graph."""


class Method(Protocol):
    """An algorithm, which starts both parts."""

    @property
    def name(self) -> str:
        """The name in tables and figures."""

    def shares(self, setting: Setting) -> ShareSide:
        """Set up the sharing part."""

    def models(self, setting: Setting) -> ModelSide:
        """Set up the training part; called only if the problem has a loss."""
