"""Generalised assignments by the literature's recipes: names, arrays, independent judgement.

Recipes C, D and E of Beasley's library and Yagiura, Ibaraki and Glover (2004): weights U(5, 25) and
costs U(10, 50); weights U(1, 100) and costs 111 - weight + U(-10, 10); weights 1 - 10 log U(0, 1)
and costs 1000 / weight - 10 U(0, 1). Capacities are 0.8 of an agent's mean load.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.judge import Verdict

Floats = npt.NDArray[np.float64]

OBJECTIVE = "assignment"
_FULL = 0.8
_CORNER, _MOST, _LOOSER = 10, 400, 2.0  # tasks an agent, tasks and capacities of the warm-up


@dataclass(frozen=True)
class AssignSpec:
    """Complete name of an instance.

    Attributes:
        recipe: ``C``, ``D`` or ``E``.
        agents: Number of agents.
        tasks: Number of tasks.
        seed: Of the draw.
        churn: Always 0; for the runner.
    """

    recipe: str
    agents: int
    tasks: int
    seed: int = 100
    churn: float = 0.0

    @property
    def name(self) -> str:
        """Short name for files and tables."""
        return f"{self.recipe.lower()}-{self.agents}x{self.tasks}-s{self.seed}"

    @property
    def previous(self) -> AssignSpec:
        """Instances have none before them."""
        return self


@dataclass(frozen=True, eq=False)
class AssignInstance:
    """One instance.

    Attributes:
        cost: (agents, tasks).
        weight: (agents, tasks).
        capacity: (agents,).
        source: Where the numbers come from, in words.
        previous: None; for the runner.
    """

    cost: Floats
    weight: Floats
    capacity: Floats
    source: str = "generated"
    previous: AssignInstance | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(agents, tasks)."""
        return self.cost.shape[0], self.cost.shape[1]

    @property
    def entries(self) -> int:
        """Pairs."""
        return self.cost.size

    @property
    def load(self) -> float:
        """Mean weight of all tasks over the capacities."""
        return float(self.weight.mean(axis=0).sum() / self.capacity.sum())

    def corner(self) -> AssignInstance:
        """A smaller instance with a little more room: passes all stages, and soon."""
        agents, tasks = self.shape
        few = min(tasks, _CORNER * agents, _MOST)
        room = np.ceil(self.capacity * (_LOOSER * few / tasks))
        return replace(self, cost=self.cost[:, :few], weight=self.weight[:, :few], capacity=room)

    def save(self, path: Path) -> None:
        """Write the arrays to an uncompressed ``.npz`` file."""
        np.savez(path, assign_cost=self.cost, weight=self.weight, capacity=self.capacity)

    @staticmethod
    def read(path: Path) -> AssignInstance:
        """Read what :meth:`save` wrote."""
        with np.load(path) as stored:
            return AssignInstance(stored["assign_cost"], stored["weight"], stored["capacity"])


def build_assign(spec: AssignSpec) -> AssignInstance:
    """Draw an instance."""
    random = np.random.default_rng(spec.seed)
    shape = (spec.agents, spec.tasks)
    if spec.recipe == "C":
        weight = random.integers(5, 26, shape).astype(np.float64)
        cost = random.integers(10, 51, shape).astype(np.float64)
    elif spec.recipe == "D":
        weight = random.integers(1, 101, shape).astype(np.float64)
        cost = 111.0 - weight + random.integers(-10, 11, shape)
    else:
        weight = np.ceil(1.0 - 10.0 * np.log(1.0 - random.random(shape)))
        cost = np.ceil(1000.0 / weight - 10.0 * random.random(shape))
    capacity = np.floor(_FULL * weight.sum(axis=1) / spec.agents)
    return AssignInstance(cost, weight, capacity)


def judge_assign(instance: AssignInstance, x: Floats) -> Verdict:
    """The cost of (tasks,) agents; infinite where a capacity is exceeded."""
    agents, tasks = instance.shape
    whole = np.all(np.isfinite(x)) and np.all((x == np.round(x)) & (x >= 0) & (x < agents))
    if x.shape != (tasks,) or not whole:
        return Verdict(float("nan"), float("inf"), ())
    agent, task = x.astype(np.int64), np.arange(tasks)
    load = np.bincount(agent, instance.weight[agent, task], agents)
    over = float(np.max(load / instance.capacity - 1.0, initial=0.0))
    cost = float(instance.cost[agent, task].sum())
    return Verdict(cost if over <= 1e-9 else float("inf"), max(over, 0.0), ())
