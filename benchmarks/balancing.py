"""Rounds of load balancing as names and plain arrays; needs nothing but NumPy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


OBJECTIVE = "moves"


@dataclass(frozen=True)
class BalanceSpec:
    """Complete name of some rounds of the published sequence.

    Attributes:
        servers: Number of servers.
        shards: Number of shards.
        rounds: How many rounds.
        first: Number of the first; the rounds before are played by Walras without idle replicas.
        memory: Replicas that fit a server.
        churn: Always 0; for the runner.
        seed: Of nothing; for the runner.
    """

    servers: int = 256
    shards: int = 2048
    rounds: int = 100
    first: int = 0
    memory: int = 16
    churn: float = 0.0
    seed: int = 100

    @property
    def name(self) -> str:
        """Short name for files and tables."""
        last = self.first + self.rounds - 1
        return f"{self.servers}x{self.shards}-rounds{self.first}to{last}"

    @property
    def previous(self) -> BalanceSpec:
        """Rounds have none before them."""
        return self


@dataclass(frozen=True, eq=False)
class BalanceInstance:
    """Rounds and the placement that the first of them finds.

    Attributes:
        numbers: (rounds,) u of each round.
        held: (replicas, 3) server, shard and share at the beginning.
        size: (servers, shards, memory).
        first: Number of the first round.
        source: Where the numbers come from, in words.
        previous: None; for the runner.
    """

    numbers: Floats
    held: Floats
    size: tuple[int, int, int]
    first: int
    source: str = "generated"
    previous: BalanceInstance | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(servers, shards)."""
        return self.size[0], self.size[1]

    @property
    def entries(self) -> int:
        """Pairs."""
        return self.size[0] * self.size[1]

    @property
    def load(self) -> float:
        """Replicas at the beginning over the room there is."""
        return len(self.held) / (self.size[0] * self.size[2])

    def corner(self) -> BalanceInstance:
        """One round of 16 servers: compiles kernels and loads libraries."""
        shard = np.arange(128.0)
        held = np.stack([shard % 16, shard, np.ones(128)], axis=1)
        return replace(self, numbers=self.numbers[:1], held=held, size=(16, 128, 16))

    def save(self, path: Path) -> None:
        """Write the arrays to an uncompressed ``.npz`` file."""
        np.savez(
            path,
            balance_numbers=self.numbers,
            held=self.held,
            size=np.array(self.size),
            first=self.first,
            source=np.array(self.source),
        )

    @staticmethod
    def read(path: Path) -> BalanceInstance:
        """Read what :meth:`save` wrote."""
        with np.load(path) as stored:
            a, b, c = (int(k) for k in stored["size"])
            return BalanceInstance(
                stored["balance_numbers"],
                stored["held"],
                (a, b, c),
                int(stored["first"]),
                str(stored["source"]),
            )
