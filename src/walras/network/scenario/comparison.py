"""Every method on a scenario: the algorithm beside the baselines, on the same problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from walras.errors import InputError
from walras.network import baselines
from walras.network._simulate import simulate
from walras.network.methods.interfaces import Method
from walras.network.problem.network_problem import Problem
from walras.network.problem.quanta import DivergedError
from walras.network.run import Run
from walras.network.scenario.scenario import Scenario
from walras.progress import OnProgress

Key = tuple[str, str]
"""``shares`` or ``model``, and the method's name."""


class Entry(NamedTuple):
    """A method in one of the two comparisons.

    Attributes:
        of: ``shares`` or ``model``.
        problem: The problem.
        method: The method.
    """

    of: str
    problem: Problem
    method: Method


@dataclass
class Comparison:
    """The results of the methods so far.

    Attributes:
        runs: The runs, by comparison and method.
        left_out: The reasons why other methods have no run.
    """

    runs: dict[Key, Run] = field(default_factory=dict)
    left_out: dict[Key, str] = field(default_factory=dict)

    def add(self, stated: Scenario, entry: Entry, steps: int, on_progress: OnProgress) -> None:
        """Run a method; a baseline that cannot state the problem, or diverges on it, is left out.

        Raises:
            InputError: The algorithm itself cannot state the problem.
            DivergedError: The algorithm itself diverges.
        """
        key = (entry.of, entry.method.name)
        try:
            self.runs[key] = _run(stated, entry, steps, on_progress)
        except (InputError, DivergedError) as error:
            if entry.method is stated.method:
                raise
            self.left_out[key] = error.what + (f"; {error.allowed}" if error.allowed else "")


def entries(stated: Scenario) -> list[Entry]:
    """The methods for the shares on the CPU alone, and those for the model on everything."""
    whole_ = stated.problem
    alone = Problem(whole_.costs, whole_.budget, (whole_.low, whole_.high))
    sharers = (
        stated.method,
        baselines.LaplacianGradient(),
        baselines.HeavyBall(),
        baselines.SignPower(0.02),
        baselines.AdmmSharing(),
        baselines.RatioConsensus(),
    )
    learners = (
        stated.method,
        baselines.Extra(),
        baselines.Nids(),
        baselines.DIGing(),
        baselines.FederatedAveraging(),
        baselines.Centralised(),
    )
    found = [Entry("shares", alone, method) for method in sharers]
    if whole_.loss is not None:
        found += [Entry("model", whole_, method) for method in learners]
    return found


def _run(stated: Scenario, entry: Entry, steps: int, on_progress: OnProgress) -> Run:
    return simulate(
        entry.problem,
        stated.network,
        links=stated.links,
        steps=steps,
        seed=stated.seed,
        method=entry.method,
        every=min(stated.every, steps),
        test=stated.test if entry.of == "model" else None,
        on_progress=on_progress,
    )
