"""What a run did: shares, models, costs, bits and the audit, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from walras.network.epoch import Epoch, epoch
from walras.network.problem.network_problem import NetworkProblem
from walras.network.problem.optimum import Optimum
from walras.saving import save
from walras.status import Status
from walras.types import Bools, Floats, Longs, Weights


@dataclass(frozen=True, eq=False)
class Run:
    """A simulated run. Row k of what is recorded is the state after ``recorded[k]`` steps.

    Attributes:
        method: Name of the algorithm.
        problem: What was to be decided.
        recorded: (records,) numbers of steps, from 1.
        shares: (records, centres) what each living centre uses: inside its box, but for methods
            that keep no boxes.
        holdings: (records, centres) what each living centre holds; what is beyond its upper limit
            is idle, on its way to others.
        alive: (records, centres) who takes part.
        model: (centres, scalars) every centre's model at the end; None without a loss.
        consensus_error: (records,) largest distance of a living centre's model from their mean.
        loss: (records,) loss of the mean model over all data; NaN where it was not looked at.
        tracking_error: (records,) rounding in the trackers' sum; NaN for methods without.
        bits: (records,) sent by all centres so far.
        audit: (steps,) quanta held and in flight over the budget, at every step; exactly 0.
        seconds: (records,) wall time so far.
        accuracy: (records,) of the mean model on the test set; NaN where it was not tested.
        halvings: Steps at which the guard halved the model's step.
        largest_excess: Largest distance of a living centre's share from its box, at any step: 0 but
            for methods that keep no boxes.
        backend: What ran: ``vectorised``, or ``protocol``, the nodes that ``deploy`` runs.
        status: ``feasible``, or ``interrupted`` where ``on_progress`` stopped the run.

    Example:
        >>> import walras as wl
        >>> wn = wl.network
        >>> problem = wn.NetworkProblem([wn.QuadraticCPU(c, 1.0) for c in (1.0, 2.0, 6.0)], 6.0)
        >>> run = wn.simulate(problem, wn.Network.ring(3), steps=200)
        >>> round(run.value, 6), run.bound
        (1.5, 1.5)
        >>> print(run.frame()[["step", "held", "idle", "audit"]].tail(1).to_string(index=False))
         step  held  idle  audit
          200   6.0   0.0      0
    """

    method: str
    problem: NetworkProblem
    recorded: Longs
    shares: Floats
    holdings: Floats
    alive: Bools
    model: Weights | None
    consensus_error: Floats
    loss: Floats
    tracking_error: Floats
    bits: Longs
    audit: Longs
    seconds: Floats
    accuracy: Floats
    halvings: tuple[int, ...] = ()
    largest_excess: float = 0.0
    backend: str = "vectorised"
    status: Status = Status.FEASIBLE

    @cached_property
    def optimum(self) -> Optimum:
        """The best that those alive at the end could do, by an independent solver."""
        return self.problem.optimum(self.alive[-1])

    @property
    def steps(self) -> int:
        """How many there were."""
        return len(self.audit)

    @cached_property
    def cost(self) -> Floats:
        """(records,) CPU cost of those alive."""
        filled = np.where(self.alive, self.shares, self.problem.inside)
        return np.array(
            [self.problem.cost(x)[a].sum() for x, a in zip(filled, self.alive, strict=True)]
        )

    @cached_property
    def cost_gap(self) -> Floats:
        """(records,) ``(F - F*) / |F*|``, F* the optimum of those alive at that step.

        Signed: F is below F* while shares on their way are in nobody's use and cost nothing, or
        where a method leaves the boxes. Absolute where F* is 0 to rounding: 1e-12 of the cost of
        the split that a run begins with. NaN while the boxes of those alive cannot hold the budget.
        """
        return cost_gaps(self.problem, self.cost, self.alive)

    @property
    def value(self) -> float:
        """CPU cost of those alive at the end."""
        return float(self.cost[-1])

    @property
    def bound(self) -> float:
        """The least cost that they could have, by an independent solver."""
        return self.optimum.cost

    @property
    def gap(self) -> float:
        """The last of :attr:`cost_gap`."""
        return float(self.cost_gap[-1])

    @property
    def loss_gap(self) -> Floats:
        """(records,) loss of the mean model over the optimum's; NaN where it was not looked at."""
        return self.loss - self.optimum.loss

    @cached_property
    def held(self) -> Floats:
        """(records,) sum of what the living centres hold; exact for whole quanta."""
        return np.asarray(self.holdings.sum(axis=1))

    @property
    def epoch(self) -> Epoch | None:
        """Seconds of an epoch with the last shares; None where no cost states a time."""
        return epoch(self.problem, self.shares[-1], self.alive[-1])

    @property
    def mean_model(self) -> Weights | None:
        """(scalars,) mean of the living centres' models."""
        return None if self.model is None else self.model[self.alive[-1]].mean(axis=0)

    @property
    def model_error(self) -> float:
        """Largest distance of a living centre's scalar from the optimal model's."""
        best = self.optimum.model
        if self.model is None or best is None:
            return float("nan")
        return float(np.abs(self.model[self.alive[-1]] - best).max())

    def frame(self) -> pd.DataFrame:
        """One row a record: step, bits, seconds, gaps, errors, accuracy, audit."""
        columns = {
            "step": self.recorded,
            "bits": self.bits,
            "seconds": self.seconds,
            "cost_gap": self.cost_gap,
            "consensus_error": self.consensus_error,
            "loss": self.loss,
            "accuracy": self.accuracy,
            "tracking_error": self.tracking_error,
            "held": self.held,
            "idle": self.held - self.shares.sum(axis=1),
            "alive": self.alive.sum(axis=1),
            "audit": self.audit[self.recorded - 1],
        }
        return pd.DataFrame(columns).assign(method=self.method)

    def save(self, path: str | Path) -> None:
        """Write the run with its problem to one file, which :func:`walras.load` reads.

        Args:
            path: The file, such as ``run.npz``.

        Raises:
            InputError: A cost or loss is a function of your own.
            DataError: The file cannot be written.
        """
        save(self, path)

    def __repr__(self) -> str:
        return (
            f"Run({self.method}, {self.problem.centres} centres, {self.steps} steps, "
            f"gap {self.gap:.1e})"
        )

    def __str__(self) -> str:
        alive, over = int(self.alive[-1].sum()), int(abs(self.audit).max(initial=0))
        return (
            f"{self.method}: {alive} of {self.problem.centres} centres after {self.steps} steps, "
            f"cost {self.value:.9g}, least {self.bound:.9g}, gap {self.gap:.1e}, "
            f"largest audit {over}, {self.bits[-1]:,} bits, {self.seconds[-1]:.3g} s"
        )

    def share_frame(self) -> pd.DataFrame:
        """One row a record and centre: step, centre, share."""
        return share_rows(self.recorded, self.shares)


def cost_gaps(problem: NetworkProblem, cost: Floats, alive: Bools) -> Floats:
    """(records,) costs over the optimum of those alive; see :attr:`Run.cost_gap`."""
    gaps = np.empty(len(cost))
    known: dict[bytes, tuple[float, float]] = {}
    for k, living in enumerate(alive):
        key = living.tobytes()
        if key not in known:
            known[key] = problem.measure(living)
        best, scale = known[key]
        gaps[k] = (cost[k] - best) / scale
    return gaps


def share_rows(steps: Longs, shares: Floats) -> pd.DataFrame:
    """One row a record and centre: step, centre, share.

    Args:
        steps: (records,) numbers of steps.
        shares: (records, centres).
    """
    records, centres = shares.shape
    return pd.DataFrame(
        {
            "step": np.repeat(steps, centres),
            "centre": np.tile(np.arange(centres), records),
            "share": shares.ravel(),
        }
    )
