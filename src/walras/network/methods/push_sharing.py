"""Shares over one-way links, which may change at every step and lose messages."""

from __future__ import annotations

import numpy as np

from walras.network.graph.network import Network
from walras.network.methods.interfaces import Setting
from walras.network.methods.push_sum import FULL, Post, PushTracking, RunningSums, moved
from walras.network.methods.rules import tracker
from walras.network.methods.steps import Steps
from walras.network.problem.optimum import shares_at
from walras.network.problem.quanta import counted, even_parts
from walras.types import Bools, Floats, Longs


class PushShares:
    """A price by push-sum, and whole quanta that are handed on until somebody lacks them.

    A centre's *due* is the share in its box that is best at its price. The price solves the dual
    problem, whose gradient is the sum of dues less the budget, by :class:`PushTracking`. Weights
    start as 1 / f_i'', so for quadratic costs without boxes the first prices f_i' have the optimal
    price as their weighted mean (Rikos et al., arXiv 2104.03126), and step 1 is Newton's method
    (Bof et al., IEEE TAC 2019).

    What a centre holds above its due it hands on; what it lacks it waits for. So no centre gives
    below its due, and none below its lower limit. Quanta only move: all holdings and the quanta in
    flight are the budget at every step. When prices rest, the dues are the optimum and sum to the
    budget, and every spare quantum finds a centre that lacks one.

    Args:
        setting: The problem, the network, the links and the faults.
        steps: ``share`` is the part of Newton's step that a price makes.
    """

    def __init__(self, setting: Setting, steps: Steps) -> None:
        problem = self._problem = setting.problem
        n = problem.centres
        self._step = steps.share
        self._held = problem.first_split(setting.start)
        self._origin = problem.quanta.shares(self._held)
        x = np.clip(self._origin, problem.low, problem.high)
        weight = 1.0 / problem.costs.curvature(x)
        self._post = Post(setting, 23)
        self._prices = PushTracking(setting, self._post, problem.costs.slope(x)[:, None], weight)
        self._quanta = RunningSums(n, 1, np.int64)
        self._turns = np.random.default_rng((setting.seed, 31))
        self.bits = 0

    @property
    def alive(self) -> Bools:
        """(centres,) True on centres that take part; a returned one must hold its lower limit."""
        return self._post.life.alive & (self._held >= self._problem.least)

    @property
    def shares(self) -> Floats:
        """(centres,) share that each living centre uses; dead centres use nothing."""
        return np.where(self._post.life.alive, self._problem.used(self._held), 0.0)

    @property
    def held(self) -> Floats:
        """(centres,) CPU that each living centre holds."""
        return self._problem.quanta.shares(np.where(self._post.life.alive, self._held, 0))

    @property
    def quanta(self) -> tuple[Longs, Longs]:
        """Quanta held by living centres; quanta in flight, or with dead centres under a lease."""
        living = self._post.life.alive
        return self._held[living], np.concatenate([self._quanta.pending[:, 0], self._held[~living]])

    def step(self, network: Network, number: int) -> None:
        """Move prices, hand on what is held above the due, credit what arrives."""
        for centre in self._post.life.advance(number, self._prices.neighbours):
            self._bury(centre)
        for centre in self._post.life.rejoining(number):
            self._origin[centre] = 0.0
            self._prices.welcome(centre, self._prices.values[centre])
        network = self._post.arcs(network)
        arrives = self._post.arrivals(network)
        due = self._due()
        self._move_prices(network, due, arrives)
        over = np.where(self._post.life.alive, self._held - self._whole(due), 0)
        given = got = self._handed_on(over, network)
        if self._post.lossy:
            got = self._quanta.carry(network, given[:, None], arrives)[:, 0]
        self._held = moved(self._held, network, given, got)
        sends = int(self._post.life.alive[network.tail].sum())
        self.bits += (self._prices.message_bits + FULL) * sends

    def _handed_on(self, over: Longs, network: Network) -> Longs:
        """(arcs,) equal parts of what is held above the due; one more part stays.

        Whoever kept nothing could send quanta around a cycle for ever. Single quanta take turns.
        """
        everyone = np.arange(network.centres)
        takers = np.concatenate([network.tail, everyone])
        given = even_parts(np.maximum(over, 0), takers, int(self._turns.integers(2**31)))
        return given[: len(network.tail)]

    def _due(self) -> Floats:
        """(centres,) the best share in each box at the centre's price."""
        problem = self._problem
        due = shares_at(problem.costs, self._prices.values[:, 0], problem.low, problem.high)
        return np.where(self._post.life.alive, due, problem.inside)

    def _whole(self, due: Floats) -> Longs:
        problem = self._problem
        quanta = counted(np.rint(due / problem.quanta.unit))
        return np.clip(quanta, problem.least, problem.most)

    def _move_prices(self, network: Network, due: Floats, arrives: Bools) -> None:
        """Let prices fall by Newton's step while more is due than there is."""
        curvature, weight = self._problem.costs.curvature(due), self._prices.weight
        z = tracker(due - self._origin, self._prices.surplus[:, 0])
        # A centre of little weight moves its price by its own Newton step, not by more.
        pull = self._step * np.minimum(1.0, weight * curvature) * z
        self._prices.step(network, z[:, None], pull[:, None], arrives)

    def _bury(self, centre: int) -> None:
        """Give the coordinator what a dead centre held, with the quanta from and to it in flight.

        This equals its first holdings and the balances of its neighbours, which know them
        (:mod:`walras.network.protocol.crash_settlement`).
        """
        life = self._post.life
        successor = life.coordinator
        life.settled[centre] = True
        self._held[successor] += self._held[centre] + int(self._quanta.estate(centre)[0])
        self._origin[successor] += self._origin[centre]
        self._held[centre], self._origin[centre] = 0, 0.0
        self._prices.bury(centre, successor)
