"""Traffic engineering as plain arrays: what a peer gets to see; needs nothing but NumPy."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.assigning import AssignInstance
from benchmarks.balancing import BalanceInstance
from benchmarks.matching import MatchInstance
from benchmarks.problem import Instance
from benchmarks.recipes import RecipeInstance

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

_CORNER = 64  # pairs that a warm-up solves for


@dataclass(frozen=True, eq=False)
class FlowInstance:
    """A network, its traffic, and the paths that the traffic may take.

    Attributes:
        tail: (links,) node that each link leaves.
        head: (links,) node that it enters.
        capacity: (links,) traffic that it carries, > 0.
        origin: (pairs,) node where a pair's traffic begins.
        target: (pairs,) node where it ends.
        demand: (pairs,) traffic asked for, > 0.
        first: (pairs + 1,) paths of pair k are ``first[k]:first[k + 1]``, the shortest first.
        pointer: (paths + 1,) path p takes ``links[pointer[p]:pointer[p + 1]]``.
        links: Links of all paths, one after the other.
        nodes: Number of nodes.
        source: Where the numbers come from, in words.
        previous: The instance before a change, where a warm start is measured.
    """

    tail: Ints
    head: Ints
    capacity: Floats
    origin: Ints
    target: Ints
    demand: Floats
    first: Longs
    pointer: Longs
    links: Ints
    nodes: int
    source: str = "generated"
    previous: FlowInstance | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(links, pairs)."""
        return len(self.capacity), len(self.demand)

    @property
    def paths(self) -> int:
        """Number of paths."""
        return len(self.pointer) - 1

    @property
    def entries(self) -> int:
        """Numbers that describe which path takes which link."""
        return len(self.links)

    @property
    def pair(self) -> Ints:
        """(paths,) pair of each path."""
        return np.repeat(np.arange(len(self.demand), dtype=np.int32), np.diff(self.first))

    @property
    def load(self) -> float:
        """Traffic asked for over the sum of all capacities."""
        return float(self.demand.sum() / self.capacity.sum())

    def loads(self, flow: Floats) -> Floats:
        """(links,) traffic on each link."""
        weight = np.repeat(flow, np.diff(self.pointer))
        return np.bincount(self.links, weight, len(self.capacity)).astype(np.float64)

    def served(self, flow: Floats) -> Floats:
        """(pairs,) traffic of each pair."""
        return np.add.reduceat(flow, self.first[:-1])

    def least(self, cost: Floats) -> Floats:
        """(pairs,) cost of each pair's cheapest path, from the cost of the links."""
        return np.minimum.reduceat(self.path_costs(cost), self.first[:-1])

    def path_costs(self, cost: Floats) -> Floats:
        """(paths,) cost of each path, from the cost of the links."""
        return np.add.reduceat(cost[self.links], self.pointer[:-1])

    def corner(self) -> FlowInstance:
        """A few pairs on the same network: compiles kernels and loads libraries."""
        corner = self.part(np.arange(min(_CORNER, len(self.demand))))
        return replace(corner, previous=corner) if self.previous else corner

    def part(self, pairs: npt.NDArray[np.intp]) -> FlowInstance:
        """The same network with some of its pairs."""
        counts = np.diff(self.first)[pairs]
        paths = _ranges(self.first[pairs], counts)
        hops = np.diff(self.pointer)[paths]
        return replace(
            self,
            origin=self.origin[pairs],
            target=self.target[pairs],
            demand=self.demand[pairs],
            first=np.append(0, np.cumsum(counts)),
            pointer=np.append(0, np.cumsum(hops)),
            links=self.links[_ranges(self.pointer[paths], hops)],
            previous=None,
        )

    def save(self, path: Path) -> None:
        """Write the arrays to an uncompressed ``.npz`` file."""
        names = [field.name for field in fields(self) if field.name != "previous"]
        arrays: dict[str, Any] = {name: np.asarray(getattr(self, name)) for name in names}
        np.savez(path, **arrays)

    @staticmethod
    def read(path: Path) -> FlowInstance:
        """Read what :meth:`save` wrote."""
        with np.load(path) as stored:
            arrays = {name: stored[name] for name in stored.files}
        arrays["nodes"], arrays["source"] = int(arrays["nodes"]), str(arrays["source"])
        return FlowInstance(**arrays)


AnyInstance = Instance | FlowInstance
AnyBuilt = AnyInstance | MatchInstance | RecipeInstance | AssignInstance | BalanceInstance


def read_instance(path: Path) -> AnyBuilt:
    """Read an instance of any kind."""
    with np.load(path) as stored:
        files = set(stored.files)
    if "times" in files:
        return MatchInstance.read(path)
    if "assign_cost" in files:
        return AssignInstance.read(path)
    if "balance_numbers" in files:
        return BalanceInstance.read(path)
    if "spec_recipe" in files:
        return RecipeInstance.read(path)
    return (FlowInstance if "pointer" in files else Instance).read(path)


def with_previous(instance: AnyBuilt, previous: AnyBuilt) -> AnyInstance:
    """An instance that knows the one before it.

    Raises:
        TypeError: If they are not of one kind.
    """
    if isinstance(instance, Instance) and isinstance(previous, Instance):
        return replace(instance, previous=previous)
    if isinstance(instance, FlowInstance) and isinstance(previous, FlowInstance):
        return replace(instance, previous=previous)
    raise TypeError(f"a {type(previous).__name__} cannot precede a {type(instance).__name__}")


def _ranges(begin: Longs, count: Longs) -> Longs:
    """``begin[k], begin[k] + 1, ...``, ``count[k]`` numbers each, one after the other."""
    offset = np.append(0, np.cumsum(count))
    return np.arange(offset[-1]) + np.repeat(begin - offset[:-1], count)
