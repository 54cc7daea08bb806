"""The surplus method's shares when messages are lost and centres crash."""

from __future__ import annotations

import numpy as np

from walras.errors import InputError
from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.links.quantizers import Links, sent
from walras.network.methods.interfaces import Setting
from walras.network.methods.ledger import Ledger
from walras.network.methods.liveness import Liveness
from walras.network.methods.rules import box_price, estate, handed_over, push
from walras.network.methods.steps import Steps
from walras.network.problem.quanta import portioned, summed
from walras.types import Bools, Floats, Longs

_SUM = 64  # bits of a running sum in a message


class LossyShares:
    """Shares on running sums; the coordinator takes over a crashed centre's share after the lease.

    No centre goes below its lower limit. It owes the rest, and pays when quanta come in. Its price
    is the marginal cost of its holdings less its debt.

    Args:
        setting: The problem, the network, the links and the faults.
        steps: Step sizes, already halved for old prices.

    Raises:
        InputError: The links cannot work under faults.
    """

    def __init__(self, setting: Setting, steps: Steps) -> None:
        self._faults = setting.faults or Faults()
        _check(setting.links)
        problem = self._problem = setting.problem
        n = problem.centres
        self._held = problem.first_split(setting.start)
        # first holdings of a centre, with the amounts that it took over since
        self._origin = self._held.copy()
        self._steps, self._links = steps, setting.links
        self._multiplier = np.zeros(n)
        self._owed = np.zeros(n, np.int64)
        self._ledger = Ledger(n)
        self._life = Liveness(self._faults, n)
        self._rng = np.random.default_rng((setting.seed, 23))
        self.bits = 0

    @property
    def alive(self) -> Bools:
        """(centres,) True on centres that take part; a returned one must hold its lower limit."""
        return self._life.alive & (self._held >= self._problem.least)

    @property
    def shares(self) -> Floats:
        """(centres,) share that each living centre uses; dead centres use nothing."""
        return np.where(self._life.alive, self._problem.used(self._held), 0.0)

    @property
    def held(self) -> Floats:
        """(centres,) CPU that each living centre holds."""
        return self._problem.quanta.shares(np.where(self._life.alive, self._held, 0))

    @property
    def quanta(self) -> tuple[Longs, Longs]:
        """Quanta held by living centres; quanta in flight, or with dead centres under a lease."""
        stranded = self._held[~self._life.alive]
        return self._held[self._life.alive], np.concatenate([self._ledger.under_way, stranded])

    def step(self, network: Network, number: int) -> None:
        """Push to neighbours believed cheaper, send running sums, and credit arrivals."""
        self._take_over(self._life.advance(number, self._ledger.neighbours))
        back = self._life.rejoining(number)
        self._multiplier[back], self._owed[back] = 0.0, 0
        out, there = self._ledger.accounts(network)
        price = self._price()
        self._push(network, out, price)
        arrives = self._arrivals(network)
        self._deliver(network, out, there, arrives, price)
        self.bits += (self._links.bits(1) + _SUM) * int(self._life.alive[network.tail].sum())

    def _push(self, network: Network, out: Longs, price: Floats) -> None:
        ledger = self._ledger
        # A centre declared dead gets nothing; a silent one may.
        living = self._life.alive
        open_ = living[network.tail] & (living | ~self._life.settled)[network.head]
        known = open_ & ~np.isnan(ledger.view[out])
        mine, theirs = np.where(known, (price[network.tail], ledger.view[out]), 0.0)
        gain, problem = self._steps.share * network.weight, self._problem
        wanted = push(gain, mine, theirs, problem.quanta.unit)
        all_wanted = summed(wanted, network.tail, problem.centres)
        given, self._owed = handed_over(all_wanted, self._owed, problem.available(self._held))
        moved = portioned(wanted, network.tail, given)
        np.subtract.at(self._held, network.tail, moved)
        ledger.under_way[out] += moved
        ledger.given[out] += moved

    def _arrivals(self, network: Network) -> Bools:
        both = self._life.alive[network.tail] & self._life.alive[network.head]
        return both & (self._rng.random(len(network.tail)) >= self._faults.silence)

    def _deliver(
        self, network: Network, out: Longs, there: Longs, arrives: Bools, price: Floats
    ) -> None:
        ledger, links = self._ledger, self._links
        here, back = out[arrives], there[arrives]
        # An acknowledgement is part of the message in the other direction: it confirms earlier
        # ones.
        acknowledged = ledger.heard[back].copy()
        mine, known = price[network.tail[arrives]], ledger.base[here]
        if links.mode == "innovation":
            decoded = known + links.quantise((mine - known)[:, None])[:, 0]
        else:
            decoded = sent(links, mine[:, None])[:, 0]
        ledger.heard[here] = decoded
        ledger.view[back] = decoded
        ledger.base[back] = acknowledged
        credit = ledger.under_way[here]
        np.add.at(self._held, network.head[arrives], credit)
        ledger.given[back] -= credit
        ledger.under_way[here] = 0

    def _take_over(self, dead: list[int]) -> None:
        """Settle the dead by the protocol's rule (:mod:`walras.network.protocol.crash_settlement`).

        Neighbours close their accounts with a dead centre, so their balances leave their first
        holdings. The coordinator adds the dead centre's holdings to its own first holdings.
        """
        for centre in dead:
            self._life.settled[centre] = True
        for centre in dead:
            coordinator = self._life.coordinator
            neighbours, given = self._ledger.owed(centre, self._life.alive)
            inherited = estate(self._origin[centre : centre + 1], given[:, None])
            self._origin[neighbours] -= given
            self._origin[coordinator] += inherited[0]
            self._held[coordinator] += inherited[0]
            self._held[centre] = self._origin[centre] = 0
            self._ledger.close(centre)

    def _price(self) -> Floats:
        problem, steps = self._problem, self._steps
        x = problem.quanta.shares(self._held - self._owed)
        shadow = box_price(x, self._multiplier, problem.low, problem.high, steps.penalty)
        self._multiplier = self._multiplier + self._steps.multiplier_step * (
            shadow - self._multiplier
        )
        return problem.slope(np.where(self._life.alive, x, problem.inside)) + shadow


def _check(links: Links) -> None:
    if links.mode == "difference":
        raise InputError(
            "codes differences",
            where="links, under faults",
            allowed="value or innovation",
            remedy="LogQuantizer(rho, mode='innovation')",
        )
