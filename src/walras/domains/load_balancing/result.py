"""The result of a round of rebalancing: shares, transfers, and the bound beside their cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from walras.checks import read_only
from walras.deprecated import renamed_attribute
from walras.domains.load_balancing.instance import Round
from walras.saving import save
from walras.status import Status
from walras.types import Bools, Floats, Ints

_ROOM = 1e300  # of servers without a limit, as a denominator


@dataclass(frozen=True)
class Transfer:
    """The copy of a shard, or of a part of it, to a server that did not hold it before.

    Attributes:
        shard: Label of the shard.
        source: Label of the server that it is copied from, empty for a shard without a server.
        target: Label of the server that gets it.
        load: Its load there.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> move = lb.solve_round(round_).transfers[0]
        >>> move.source, move.target
        ('0', '1')
    """

    shard: str
    source: str
    target: str
    load: float


@dataclass(frozen=True, eq=False)
class Rebalanced:
    """A placement, with a proved lower bound on the moves; immutable.

    Loads, moves and cost are computed from the replicas and the round alone.

    Attributes:
        problem: The round.
        server: (replicas,) server of each replica.
        shard: (replicas,) its shard.
        load: (replicas,) its load.
        bound: A lower bound on the cost of any feasible placement.
        status: ``optimal`` when cost and bound meet.
        seconds: Wall time.
        attempts: Attempts of the local search.
        method: The method that found the placement.

    Example:
        >>> from walras.domains import load_balancing as lb
        >>> round_ = lb.make_round([4, 3, 2, 1], placement=[0, 0, 0, 1], servers=2)
        >>> found = lb.solve_round(round_)
        >>> found.moves, found.bound, found.loads.round(2)
        (1, 1.0, array([5.5, 4.5]))
    """

    problem: Round
    server: Ints
    shard: Ints
    load: Floats
    bound: float
    status: Status
    seconds: float
    attempts: int
    method: str

    def __post_init__(self) -> None:
        for name in ("server", "shard", "load"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @cached_property
    def shares(self) -> Floats:
        """(servers, shards) the part of each shard's load on each server."""
        out = np.zeros((self.problem.servers, self.problem.shards))
        np.add.at(out, (self.server, self.shard), self.load / self.problem.load[self.shard])
        return read_only(out)

    @cached_property
    def placement(self) -> Bools:
        """(servers, shards) True at replicas, also idle ones."""
        out = np.zeros((self.problem.servers, self.problem.shards), dtype=np.bool_)
        out[self.server, self.shard] = True
        return read_only(out)

    @cached_property
    def is_new(self) -> Bools:
        """(replicas,) True on new replicas."""
        return read_only(~self.problem.holds(self.server, self.shard))

    @property
    def moves(self) -> int:
        """Number of new replicas."""
        return int(self.is_new.sum())

    @property
    def value(self) -> float:
        """The minimised cost of the moves; their number if every move costs one."""
        return float(self.problem.cost[self.shard[self.is_new]].sum())

    cost = renamed_attribute("Rebalanced.cost", "value")

    @property
    def gap(self) -> float:
        """The possible distance of the cost from the least cost, relative to it."""
        return max(0.0, self.value - self.bound) / max(self.value, 1e-300)

    @cached_property
    def loads(self) -> Floats:
        """(servers,) load of each server in the result."""
        loads = np.bincount(self.server, self.load, self.problem.servers).astype(np.float64)
        return read_only(loads)

    @cached_property
    def violation(self) -> float:
        """Largest violation of a limit.

        Of bands relative to the mean load, of memory relative to the room, of sums of shares, of
        numbers of replicas and of zones.
        """
        p = self.problem
        mean = float(p.load.sum()) / p.servers
        used = np.bincount(self.server, p.footprint[self.shard], p.servers)
        room = np.where(p.drain, 0.0, p.memory)
        shares = np.bincount(self.shard, self.load / p.load[self.shard], p.shards)
        counts = np.bincount(self.shard, minlength=p.shards)
        wanted = counts if p.replicas is None else p.replicas
        cells = np.unique(self.shard.astype(np.int64) * p.servers + p.zone[self.server])
        zones = np.bincount(cells // p.servers, minlength=p.shards)
        return float(
            max(
                0.0,
                np.max(self.loads - p.upper) / mean,
                np.max(p.lower - self.loads) / mean,
                np.max((used - room) / np.clip(room, 1.0, _ROOM)),
                np.max(np.abs(shares - 1.0)),
                -np.min(self.load, initial=0.0) / mean,
                np.max(np.abs(counts - wanted)),
                np.max(p.spread - zones),
            )
        )

    @cached_property
    def transfers(self) -> tuple[Transfer, ...]:
        """The copies with their source and target, the largest load first."""
        before = self.problem.share * self.problem.load[self.problem.shard]
        gave = self._given(before)
        p, out = self.problem, []
        for e in np.flatnonzero(self.is_new).tolist():
            j = int(self.shard[e])
            sources = gave.get(j, {})
            source = max(sources, key=sources.__getitem__) if sources else -1
            if sources:
                sources[source] -= float(self.load[e])
            label = p.server_names[source] if source >= 0 else ""
            target = p.server_names[self.server[e]]
            out.append(Transfer(p.shard_names[j], label, target, float(self.load[e])))
        return tuple(sorted(out, key=lambda transfer: -transfer.load))

    def _given(self, before: Floats) -> dict[int, dict[int, float]]:
        """For each shard, the load that each earlier server gave away."""
        p = self.problem
        gave: dict[int, dict[int, float]] = {}
        moved = np.zeros(p.shards, dtype=np.bool_)
        moved[self.shard[self.is_new]] = True
        for e in np.flatnonzero(moved[p.shard]).tolist():
            gave.setdefault(int(p.shard[e]), {})[int(p.server[e])] = float(before[e])
        for e in np.flatnonzero(~self.is_new & moved[self.shard]).tolist():
            gave[int(self.shard[e])][int(self.server[e])] -= float(self.load[e])
        return gave

    def frame(self) -> pd.DataFrame:
        """The transfers as a table: columns ``shard``, ``source``, ``target``, ``load``."""
        columns = ["shard", "source", "target", "load"]
        return pd.DataFrame([vars(t) for t in self.transfers], columns=columns)

    def next_round(
        self, load: Floats | None = None, drain: Sequence[object] | None = None
    ) -> Round:
        """The next round: the same servers and options, this placement, new loads or drains.

        Args:
            load: (shards,) new loads, > 0; the same if None.
            drain: Servers to be emptied, in place of this round's; the same if None.

        Returns:
            The next round.

        Raises:
            InputError: A server to be emptied is unknown, or all of them are.
        """
        p = self.problem
        after = p.after(p.load if load is None else load, self.server, self.shard, self.load)
        return after if drain is None else after.with_drain(drain)

    def save(self, path: str | Path) -> None:
        """Write the result to one file, which :func:`walras.load` reads.

        Args:
            path: The file, such as ``round.npz``.

        Raises:
            DataError: The file cannot be written.
        """
        save(self, path)

    def __repr__(self) -> str:
        words = f"{self.moves} moves, cost {self.value:.6g}"
        return f"Rebalanced({self.status}, {words}, gap {self.gap:.1e})"

    def __str__(self) -> str:
        return (
            f"{self.status}: {self.moves} moves, cost {self.value:g}, bound {self.bound:g}, "
            f"violation {self.violation:.1e}; {self.method}, {self.seconds:.3g} s"
        )
