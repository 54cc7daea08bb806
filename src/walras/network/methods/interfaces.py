"""The two halves of a run: who holds which share, and who holds which model."""

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
    """What a method is started with.

    Attributes:
        problem: Costs, budget, boxes, losses.
        network: Who talks to whom.
        links: What they carry.
        faults: What goes wrong, or None.
        seed: Of batches and faults.
        start: (centres,) fractions of the budget to begin with, or None for equal ones.
    """

    problem: Problem
    network: Network
    links: Links
    faults: Faults | None
    seed: int
    start: Floats | None

    def first_models(self) -> Weights:
        """(centres, scalars) the model that all begin with, once for each."""
        loss, data = self.problem.learning
        return np.repeat(loss.start(data, self.seed)[None], self.problem.centres, axis=0)


class ShareSide(Protocol):
    """Shares and how they move."""

    bits: int

    @property
    def alive(self) -> Bools:
        """(centres,) who takes part."""

    @property
    def shares(self) -> Floats:
        """(centres,) what each uses."""

    @property
    def held(self) -> Floats:
        """(centres,) what each living centre holds, idle or not."""

    @property
    def quanta(self) -> tuple[Longs, Longs] | None:
        """Quanta held by the living, and in flight; None for methods that keep no ledger."""

    def step(self, network: Network, number: int) -> None:
        """Advance by one step on the graph in force."""


class ModelSide(Protocol):
    """Models and how they move."""

    bits: int
    models: Weights

    @property
    def tracking_error(self) -> float:
        """How far the trackers' sum is from the gradients'; NaN where there are none."""

    def step(self, network: Network, number: int) -> None:
        """Advance by one step on the graph in force."""


class Method(Protocol):
    """An algorithm: how it starts both sides."""

    @property
    def name(self) -> str:
        """As in tables and figures."""

    def shares(self, setting: Setting) -> ShareSide:
        """The side of the shares."""

    def models(self, setting: Setting) -> ModelSide:
        """The side of the model; called only when the problem has a loss."""
