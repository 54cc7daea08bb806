"""The data of a sequence of traffic matrices, and the bases that its solves begin from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from walras import checks
from walras.domains.traffic_engineering import matrices
from walras.domains.traffic_engineering.matrices import Demand
from walras.domains.traffic_engineering.network import Network
from walras.domains.traffic_engineering.objectives import Objective, check_network
from walras.domains.traffic_engineering.paths import Paths
from walras.errors import InputError
from walras.kernels.paths.basis import Basis, PathProgram, copied, first_basis
from walras.types import Floats

_PERTURBATION = 1e-10


class Earlier(Protocol):
    """What the result of a sequence keeps for the next one."""

    @property
    def objective(self) -> Objective:
        """What was solved for."""

    @property
    def paths(self) -> Paths:
        """The candidate paths."""

    @property
    def capacity(self) -> Floats:
        """(links,) capacities."""

    @property
    def program(self) -> PathProgram:
        """The problem without its demands."""

    @property
    def begin(self) -> Basis:
        """The first basis."""

    @property
    def basis(self) -> Basis:
        """The last basis."""


@dataclass(frozen=True, eq=False)
class SequenceData:
    """Checked data.

    Attributes:
        capacity: (links,) capacities.
        paths: Candidate paths.
        demand: (matrices, pairs) demands.
    """

    capacity: Floats
    paths: Paths
    demand: Floats

    @classmethod
    def of(cls, network: Network, demands: Iterable[Demand], paths: Paths) -> SequenceData:
        """Check that the three arguments belong together.

        Raises:
            InputError: They do not.
        """
        check_network(network, paths)
        traffic = matrices.sequence(demands, network)
        matrices.check_joined(traffic, paths)
        return cls(network.capacity, paths, paths.demands(traffic))

    @property
    def unit(self) -> float:
        """The mean capacity, in which programs are solved."""
        largest = float(self.capacity.max())
        return largest * float((self.capacity / largest).mean())  # a plain sum may overflow

    @property
    def most_pivots(self) -> int:
        """Largest number of pivots of one solve."""
        return 1000 + 20 * (len(self.capacity) + self.paths.pairs)

    def bases(
        self, kind: type[Earlier], objective: Objective, start: Earlier | None
    ) -> tuple[PathProgram, Basis, Basis]:
        """The program, its first basis, and the one to begin from.

        Args:
            kind: What an earlier result is.
            objective: What is solved for.
            start: An earlier result, whose last basis is the one to begin from.

        Raises:
            InputError: It is none of this problem.
        """
        if start is None:
            unserved = objective == "total"
            program = path_program(self.capacity / self.unit, self.paths, unserved=unserved)
            begin = first_basis(program)
            return program, begin, copied(begin)
        checks.of_kind(
            start, kind, "start", "an earlier result", remedy="leave start= out at first"
        )
        same = start.objective == objective and np.array_equal(start.capacity, self.capacity)
        if not (same and start.paths is self.paths):
            raise InputError(
                "was solved for other paths, other capacities or another objective",
                where="start",
                allowed="a result of the same function with the same paths and capacities",
                remedy="leave start= out, and a first basis is found",
            )
        return start.program, start.begin, copied(start.basis)


def path_program(capacity: Floats, paths: Paths, *, unserved: bool) -> PathProgram:
    """The path program of capacities in their mean.

    With ``unserved``, capacities are fixed, and each pair has one more path, its last one, which
    takes no link and costs 1.

    The perturbed costs of a flow add up to at most twice ``_PERTURBATION`` times the factor u, or
    times a mean capacity: the links' utilisations are at most u each.
    """
    more = np.arange(paths.pairs + 1) if unserved else np.zeros(paths.pairs + 1, dtype=np.int64)
    place = np.arange(paths.count) + more[paths.pair]
    count = paths.count + int(more[-1])
    hops, cost = np.zeros(count, dtype=np.int64), np.ones(count)
    hops[place], cost[place] = paths.hops, 0.0
    first = paths.first + more
    owner = np.repeat(np.arange(count, dtype=np.int32), hops)
    weight = 1.0 / np.maximum(capacity, 0.1)[paths.links]
    length = np.bincount(owner, weight, minlength=count) * np.random.default_rng(0).uniform(
        1.0, 2.0, count
    )
    order = np.argsort(paths.links, kind="stable")
    users = np.bincount(paths.links, minlength=len(capacity))
    return PathProgram(
        first=first,
        pair=np.repeat(np.arange(paths.pairs, dtype=np.int32), np.diff(first)),
        pointer=np.concatenate(([0], np.cumsum(hops))),
        links=paths.links,
        user_pointer=np.concatenate(([0], np.cumsum(users))),
        users=owner[order],
        cost=cost,
        perturbed=cost + _PERTURBATION / len(capacity) * length,
        capacity=capacity,
        scaled=0 if unserved else 1,
    )
