"""The result of a run: shares, models, costs, bits and the audit, step by step."""

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
    """A simulated run. Row k of the records is the state after ``recorded[k]`` steps.

    Attributes:
        method: Name of the algorithm.
        problem: The problem.
        recorded: (records,) numbers of steps, from 1.
        shares: (records, centres) share that each living centre uses; inside its box, except for
            methods without boxes.
        holdings: (records, centres) CPU that each living centre holds; the part above its upper
            limit is idle and will move to others.
        alive: (records, centres) True on centres that take part.
        model: (centres, scalars) every centre's model at the end; None without a loss.
        consensus_error: (records,) largest distance of a living centre's model from their mean.
        loss: (records,) loss of the mean model over all data; NaN where it was not computed.
        tracking_error: (records,) rounding in the trackers' sum; NaN for methods without trackers.
        bits: (records,) bits that all centres sent so far.
        audit: (steps,) quanta held and in flight minus the budget, at every step; exactly 0.
        seconds: (records,) wall time so far.
        accuracy: (records,) accuracy of the mean model on the test set; NaN where it was not
            tested.
        halvings: Steps at which the guard halved the model's step.
        largest_excess: Largest distance of a living centre's share from its box, at any step; 0
            except for methods without boxes.
        backend: The back end: ``vectorised``, or ``protocol``, the nodes that ``deploy`` runs.
        status: ``feasible``, or ``interrupted`` if ``on_progress`` stopped the run.

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
        """The best allocation for the centres alive at the end, by an independent solver."""
        return self.problem.optimum(self.alive[-1])

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.audit)

    @cached_property
    def cost(self) -> Floats:
        """(records,) CPU cost of the living centres."""
        filled = np.where(self.alive, self.shares, self.problem.inside)
        return np.array(
            [self.problem.cost(x)[a].sum() for x, a in zip(filled, self.alive, strict=True)]
        )

    @cached_property
    def cost_gap(self) -> Floats:
        """(records,) ``(F - F*) / |F*|``, F* the optimum of the centres alive at that step.

        It is signed: F is below F* while shares in flight are not used and cost nothing, or if a
        method leaves the boxes. It is absolute if F* is 0 to rounding, which is 1e-12 of the cost
        of the first split. It is NaN while the boxes of the living centres cannot hold the budget.
        """
        return cost_gaps(self.problem, self.cost, self.alive)

    @property
    def value(self) -> float:
        """CPU cost of the centres alive at the end."""
        return float(self.cost[-1])

    @property
    def bound(self) -> float:
        """The least CPU cost for the living centres, by an independent solver."""
        return self.optimum.cost

    @property
    def gap(self) -> float:
        """The last of :attr:`cost_gap`."""
        return float(self.cost_gap[-1])

    @property
    def loss_gap(self) -> Floats:
        """(records,) loss of the mean model minus the optimum's; NaN where it was not computed."""
        return self.loss - self.optimum.loss

    @cached_property
    def held(self) -> Floats:
        """(records,) total holdings of the living centres; exact for whole quanta."""
        return np.asarray(self.holdings.sum(axis=1))

    @property
    def epoch(self) -> Epoch | None:
        """Seconds of an epoch with the last shares; None if no cost states a time."""
        return epoch(self.problem, self.shares[-1], self.alive[-1])

    @property
    def mean_model(self) -> Weights | None:
        """(scalars,) mean of the living centres' models."""
        return None if self.model is None else self.model[self.alive[-1]].mean(axis=0)

    @property
    def model_error(self) -> float:
        """Largest distance of a living centre's scalar from the optimal model's scalar."""
        best = self.optimum.model
        if self.model is None or best is None:
            return float("nan")
        return float(np.abs(self.model[self.alive[-1]] - best).max())

    def frame(self) -> pd.DataFrame:
        """One row for each record: step, bits, seconds, gaps, errors, accuracy, audit."""
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
        """One row for each record and centre: step, centre, share."""
        return share_rows(self.recorded, self.shares)


def cost_gaps(problem: NetworkProblem, cost: Floats, alive: Bools) -> Floats:
    """(records,) costs relative to the optimum of the living centres; see :attr:`Run.cost_gap`."""
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
    """One row for each record and centre: step, centre, share.

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
