"""The surplus method's model when messages are lost and centres crash."""

from __future__ import annotations

import numpy as np

from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.links.quantizers import sent
from walras.network.methods.interfaces import Setting
from walras.network.methods.ledger import Ledger
from walras.network.methods.liveness import Liveness
from walras.network.methods.rules import model_step, tracker
from walras.network.methods.steps import Steps
from walras.types import Bools, Longs, Weights

_SUM = 64  # bits of a running sum's scalar


class LossyModels:
    """Models from the latest messages; surpluses pushed on running sums.

    A centre pushes step w_ij z_i to each neighbour, as with shares. Sums are credited when they
    arrive, and refunded after a neighbour's death, so the sum of the surpluses stays 0.

    Args:
        setting: The problem, the network, the links and the faults.
        steps: Step sizes, already halved for old messages.
        batch: Samples for each centre and step; all when None.
        momentum: Momentum of the tracker.
    """

    def __init__(self, setting: Setting, steps: Steps, batch: int | None, momentum: float) -> None:
        self._loss, self._data = setting.problem.learning
        self._faults = setting.faults or Faults()
        self._links = setting.links
        n = self._centres = setting.problem.centres
        self._rng = np.random.default_rng((setting.seed, 17))
        self._luck = np.random.default_rng((setting.seed, 29))
        self._batch, self._momentum = batch, momentum
        self.models = setting.first_models()
        self._surplus = np.zeros_like(self.models)
        self._velocity = np.zeros_like(self.models)
        self._gradient = self._fresh_gradient()
        self._ledger = Ledger(n)
        self._life = Liveness(self._faults, n)
        self._steps = steps
        # (accounts, scalars): columns of the ledger with several scalars.
        self._under_way = self._given = self.models[:0].copy()
        self._view, self._base, self._heard = (self._under_way,) * 3
        self.bits = 0

    @property
    def alive(self) -> Bools:
        """(centres,) True on centres that take part."""
        return self._life.alive

    @property
    def tracking_error(self) -> float:
        """|sum of surpluses, held and in flight|: only rounding."""
        whole = self._surplus[~self._life.settled | self.alive].sum(axis=0, dtype=np.float64)
        return float(np.abs(whole + self._under_way.sum(axis=0, dtype=np.float64)).max())

    def step(self, network: Network, number: int) -> None:
        """Make a step on the known values of the neighbours, then send and receive."""
        for centre in self._life.advance(number, self._ledger.neighbours):
            self._life.settled[centre] = True
            self._refund(centre)
        self._welcome(self._life.rejoining(number), network)
        out, there = self._accounts(network)
        living = self.alive[:, None]
        z = tracker(self._gradient, self._surplus)
        self._velocity = self._momentum * self._velocity + z if self._momentum else z
        moved = model_step(
            self.models,
            self._pull(network, out),
            self._velocity,
            self._steps.model,
            self._steps.alpha,
        )
        said = self.models
        self.models = np.where(living, moved, self.models)
        self._push(network, out, z)
        self._deliver(network, out, there, said)
        self._gradient = np.where(living, self._fresh_gradient(), 0.0).astype(said.dtype)
        self.bits += (self._links.bits(said.shape[1]) + _SUM * said.shape[1]) * int(
            self.alive[network.tail].sum()
        )

    def _accounts(self, network: Network) -> tuple[Longs, Longs]:
        before = (self._ledger.tail, self._ledger.head)
        found = self._ledger.accounts(network)
        if len(self._ledger.tail) != len(before[0]):
            self._grow(before)
        return found

    def _grow(self, before: tuple[Longs, Longs]) -> None:
        n, ledger = self._centres, self._ledger
        place = np.searchsorted(ledger.tail * n + ledger.head, before[0] * n + before[1])
        for name in ("_under_way", "_given", "_view", "_base", "_heard"):
            first = np.nan if name == "_view" else 0.0
            column = np.full((len(ledger.tail), self.models.shape[1]), first, self.models.dtype)
            column[place] = getattr(self, name)
            setattr(self, name, column)

    def _pull(self, network: Network, out: Longs) -> Weights:
        """sum_j w_ij (last received y_j - y_i)."""
        view = self._view[out]
        apart = np.where(np.isnan(view), 0.0, view - self.models[network.tail])
        pulled = np.zeros_like(self.models)
        np.add.at(pulled, network.tail, (network.weight[:, None] * apart).astype(view.dtype))
        return pulled

    def _push(self, network: Network, out: Longs, z: Weights) -> None:
        open_ = self.alive[network.tail] & (self.alive | ~self._life.settled)[network.head]
        share = (self._steps.model * network.weight * open_)[:, None] * z[network.tail]
        share = share.astype(z.dtype)
        np.subtract.at(self._surplus, network.tail, share)
        self._under_way[out] += share
        self._given[out] += share

    def _deliver(self, network: Network, out: Longs, there: Longs, said: Weights) -> None:
        both = self.alive[network.tail] & self.alive[network.head]
        arrives = both & (self._luck.random(len(network.tail)) >= self._faults.silence)
        here, back = out[arrives], there[arrives]
        acknowledged = self._heard[back].copy()
        mine, known = said[network.tail[arrives]], self._base[here]
        if self._links.mode == "innovation":
            decoded: Weights = known + self._links.quantise(mine - known)
        else:
            decoded = sent(self._links, mine)
        self._heard[here] = decoded
        self._view[back] = decoded
        self._base[back] = acknowledged
        credit = self._under_way[here]
        np.add.at(self._surplus, network.head[arrives], credit)
        self._given[back] -= credit
        self._under_way[here] = 0.0

    def _refund(self, centre: int) -> None:
        """Refund to every living neighbour its net payments to a dead centre; s began at 0."""
        ledger = self._ledger
        own = (ledger.head == centre) & self.alive[ledger.tail]
        np.add.at(self._surplus, ledger.tail[own], self._given[own])
        touched = (ledger.head == centre) | (ledger.tail == centre)
        self._under_way[touched] = self._given[touched] = 0.0
        self._view[touched] = np.nan
        self._base[touched] = self._heard[touched] = 0.0
        self._surplus[centre] = self._velocity[centre] = 0.0

    def _welcome(self, back: list[int], network: Network) -> None:
        """Give a returned centre a living neighbour's model and no surplus."""
        for centre in back:
            near = network.head[network.tail == centre]
            near = near[self.alive[near]]
            if len(near):
                self.models[centre] = self.models[near[0]]
            self._gradient = self._fresh_gradient()

    def _fresh_gradient(self) -> Weights:
        data = self._data if self._batch is None else self._data.batch(self._batch, self._rng)
        return self._loss.gradient(self.models, data, self._centres)
