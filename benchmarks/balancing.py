"""Rounds of load balancing: names, arrays, and the independent count of moves and breaches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.judge import Verdict
from benchmarks.problem import Floats
from walras import data
from walras.domains import load_balancing as lb

OBJECTIVE = "moves"
WARM_UP = 20
PUBLISHED, STRICTER = 1e-6, 1e-3  # loads above which a shard counts as placed
BAND = 0.1


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

    def loads(self, k: int) -> Floats:
        """(shards,) loads of round ``k`` of these."""
        return lb.round_loads(self.size[1], float(self.numbers[k]))

    def problem(self) -> lb.Round:
        """The first round."""
        share = np.zeros(self.shape)
        share[self.held[:, 0].astype(int), self.held[:, 1].astype(int)] = self.held[:, 2]
        return lb.make_round(self.loads(0), share, band=BAND, memory=float(self.size[2]))

    def corner(self) -> BalanceInstance:
        """One round of 16 servers: compiles kernels and loads libraries."""
        shard = np.arange(128.0)
        held = np.stack([shard % 16, shard, np.ones(128)], axis=1)
        return replace(self, numbers=self.numbers[:1], held=held, size=(16, 128, 16))

    def save(self, path: Path) -> None:
        """Write the arrays to an uncompressed ``.npz`` file."""
        np.savez(path, balance_numbers=self.numbers, held=self.held, size=np.array(self.size),
                 first=self.first, source=np.array(self.source))  # fmt: skip

    @staticmethod
    def read(path: Path) -> BalanceInstance:
        """Read what :meth:`save` wrote."""
        with np.load(path) as stored:
            a, b, c = (int(k) for k in stored["size"])
            return BalanceInstance(stored["balance_numbers"], stored["held"], (a, b, c),
                                   int(stored["first"]), str(stored["source"]))  # fmt: skip


def build_balance(spec: BalanceSpec) -> BalanceInstance:
    """The rounds of a spec."""
    numbers = data.load("lb_random")
    u = numbers.numbers[: spec.first + spec.rounds]
    first = lb.first_round(
        float(u[0]), servers=spec.servers, shards=spec.shards, memory=spec.memory
    )
    held = np.stack([first.server, first.shard, first.share], axis=1).astype(np.float64)
    if spec.first:
        policy = partial(lb.solve_round, options=lb.Options(keep=False))
        last = lb.play(first, u[: spec.first], policy).last
        if last is not None:
            share = last.load / last.problem.load[last.shard]
            held = np.stack([last.server, last.shard, share], axis=1).astype(np.float64)
    size = (spec.servers, spec.shards, spec.memory)
    return BalanceInstance(u[spec.first :], held, size, spec.first, numbers.source)


def judge_balance(instance: BalanceInstance, x: Floats) -> Verdict:
    """Mean moves a round from (replicas, 4) round, server, shard and load of every placement.

    Moves above 1e-6 are the value, those above 1e-3 and at 1e-6 by round follow as numbers. The
    violation is the largest of loads outside the band (relative to the mean) and of replicas beyond
    the memory, counted where a load is above 1e-6.
    """
    servers, shards, memory = instance.size
    before = instance.held[:, :3].copy()
    before[:, 2] *= instance.loads(0)[before[:, 1].astype(int)]
    moves = np.zeros((2, len(instance.numbers)))
    worst = 0.0
    for k in range(len(instance.numbers)):
        after = x[x[:, 0] == k][:, 1:]
        load = instance.loads(k)
        mean = load.sum() / servers
        total = np.bincount(after[:, 0].astype(int), after[:, 2], servers)
        carried = np.bincount(after[:, 1].astype(int), after[:, 2], shards)
        placed = after[after[:, 2] > PUBLISHED]
        count = np.bincount(placed[:, 0].astype(int), minlength=servers).max()
        worst = max(
            worst, total.max() / mean - 1.0 - BAND, 1.0 - BAND - total.min() / mean,
            float(np.abs(carried / load - 1.0).max()), float(count - memory),
        )  # fmt: skip
        for row, above in enumerate((PUBLISHED, STRICTER)):
            keys = [(h[:, 0] * shards + h[:, 1])[h[:, 2] > above] for h in (before, after)]
            moves[row, k] = len(np.setdiff1d(keys[1], keys[0]))
        before = after
    skip = WARM_UP if instance.first == 0 and len(instance.numbers) > WARM_UP else 0
    return Verdict(float(moves[0, skip:].mean()), float(worst), (float(moves[1, skip:].mean()),))
