"""A network in virtual time that a person steps, cuts, kills and mends while it runs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from walras import checks
from walras.errors import InfeasibleError, InputError
from walras.network.drivers.plan import Plan
from walras.network.drivers.virtual import VirtualNetwork
from walras.network.graph.layout import by_hops
from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.problem.network_problem import NetworkProblem
from walras.network.problem.optimum import Optimum
from walras.network.problem.quanta import AuditError
from walras.network.protocol.auditing import Books, settled_lives
from walras.network.protocol.records import Incarnation
from walras.network.protocol.settings import Settings
from walras.types import Bools, Floats

MOST_ROUNDS = 1_000_000
"""Rounds that a live network makes at most."""

MOST_LIVES = 400
"""Lives of centres that it has at most: the books are taken over all of them, at every round."""

_KEPT = 400  # rows of the history; then every second row is dropped
_EVENTS = 200


@dataclass(frozen=True)
class Row:
    """The state after a round, in the budget's unit.

    Attributes:
        round: Rounds so far.
        used: Shares in use.
        idle: Held by running centres and not in use.
        in_flight: Sent and not credited yet.
        owed: Held by dead centres, until others take it over.
        audit: The largest difference between all quanta and the budget since the row before.
        gap: Cost above the least one for the centres with a lease, relative to it; NaN for none.
        loss_gap: Loss of their mean model above the least one; NaN without a model.
        consensus: Largest distance of one of their models from the mean; NaN without a model.
        bits: Bits sent so far.
        lost: Messages lost so far.
        leased: Number of centres with a lease.
    """

    round: int
    used: float
    idle: float
    in_flight: float
    owed: float
    audit: int
    gap: float
    loss_gap: float
    consensus: float
    bits: int
    lost: int
    leased: int


ROW = tuple(field.name for field in fields(Row))
"""Names of a row's columns."""


@dataclass(frozen=True)
class Event:
    """What happened after a round.

    Attributes:
        round: Rounds so far.
        what: Its kind.
        text: What happened, in words.
    """

    round: int
    what: str
    text: str


class LiveNetwork:
    """The protocol's nodes in virtual time, with faults that come when someone says so.

    It runs the nodes that :func:`walras.network.deploy` runs. The books are taken after every
    round; a wrong balance is an alarm, and no round follows it.

    Args:
        problem: Costs, budget, boxes, and the training task.
        network: The graph of the centres.
        faults: Rates of faults; crashes and cuts are made by the methods.
        churn: Crashes in a thousand rounds, at random; each centre comes back later.
        seed: Seed of all that is drawn.

    Attributes:
        plan: The plan of the centres.
        world: The nodes and their messages.
        churn: Crashes in a thousand rounds.
        books: The balance after the last round.
        settled: Lives whose holdings others have taken over; they count for nothing.
        alarm: Why the books are wrong; empty while they are right.
        worst: The largest difference of all quanta from the budget at any round so far.
        rows: The history, thinned out as it grows.
        events: What happened last.

    Raises:
        InputError: Sizes differ, a rate is out of its range, or a share may be negative.

    Example:
        >>> import walras as wl
        >>> from walras.network.drivers.live import LiveNetwork
        >>> wn = wl.network
        >>> cpu = [wn.QuadraticCPU(center=c, scale=1.0) for c in (1.0, 2.0, 3.0, 4.0, 5.0)]
        >>> live = LiveNetwork(wn.NetworkProblem(cpu, 12.0, (0.0, 6.0)), wn.Network.ring(5))
        >>> live.stop(4)
        >>> live.advance(400)
        400
        >>> live.world.shares.round(2), live.worst, live.books.held[0] == live.problem.quanta.total
        (array([1.5, 2.5, 3.5, 4.5, 0. ]), 0, True)
    """

    def __init__(
        self,
        problem: NetworkProblem,
        network: Network,
        *,
        faults: Faults | None = None,
        churn: float = 0.0,
        seed: int = 0,
    ) -> None:
        settings = Settings.of_diameter(network.diameter, steps=MOST_ROUNDS)
        self.plan = Plan(problem, network, settings, seed=seed)
        self.world = VirtualNetwork(self.plan, faults or Faults(), seed)
        self.churn = checks.number(churn, "churn", 0.0, 1000.0)
        self.books: Books = self.world.check()
        self.alarm, self.worst = "", 0
        self.rows: list[Row] = []
        self.events: deque[Event] = deque(maxlen=_EVENTS)
        self._every, self._since = 1, 0
        self._rng = np.random.default_rng((seed, 41))
        self._back: dict[int, int] = {}  # centre that churn stopped -> round of its return
        self._ended: frozenset[Incarnation] = frozenset()
        self.settled: frozenset[Incarnation] = frozenset()
        self._leased = np.zeros(problem.centres, bool)
        self._best: dict[bytes, Optimum | None] = {}

    @property
    def problem(self) -> NetworkProblem:
        """Costs, budget, boxes, and the training task."""
        return self.plan.problem

    @cached_property
    def links(self) -> tuple[tuple[int, int], ...]:
        """Both ends of every link, the smaller number first, in ascending order."""
        arcs = zip(self.plan.union.tail.tolist(), self.plan.union.head.tolist(), strict=True)
        return tuple(sorted((a, b) for a, b in arcs if a < b))

    @cached_property
    def places(self) -> Floats:
        """(centres, 2) places for a picture; near neighbours are near."""
        graph = self.plan.union
        return by_hops(graph.centres, graph.tail, graph.head)

    @property
    def leased(self) -> Bools:
        """(centres,) True on running centres that may use a share now."""
        now, up = self.world.now, self.world.up
        found = [node.view.leased(now) and not node.ended for node in self.world.nodes]
        return np.asarray(found) & up

    @property
    def ended(self) -> frozenset[Incarnation]:
        """Lives that a centre with a lease knows to have been signed as ended."""
        return self._ended

    # ---- rounds -------------------------------------------------------------------------------

    def advance(
        self,
        rounds: int,
        seconds: float = float("inf"),
        steady: Callable[[], float] = time.monotonic,
    ) -> int:
        """Make rounds, and audit each.

        Args:
            rounds: Number of rounds.
            seconds: Time after which no further round begins.
            steady: A clock that does not jump, in seconds.

        Returns:
            The rounds made: fewer when the time is over, after an alarm, or at the last round.
        """
        end = steady() + seconds
        for made in range(rounds):
            if self.alarm or self.world.now >= MOST_ROUNDS or (made and steady() >= end):
                return made
            self._round()
        return rounds

    def _round(self) -> None:
        self._crash_and_return()
        self.world.round()
        try:
            self.books = self.world.check()
        except AuditError as error:
            self.books, self.alarm = self.world.books(), str(error)
            self._tell("alarm", self.alarm)
        off = int(np.abs(self.books.difference).max())
        self.worst, self._since = max(self.worst, off), max(self._since, off)
        self._compare()
        if self.world.now % self._every == 0 or self.alarm:
            self._note()

    def _crash_and_return(self) -> None:
        """Churn: a running centre stops for two leases; more than half of all keep running."""
        for centre, when in list(self._back.items()):
            if when <= self.world.now:
                self.restart(centre)
        up = np.flatnonzero(self.world.up)
        enough = 2 * (len(up) - 1) > len(self.world.nodes) and len(self.world.lives) < MOST_LIVES
        if self.churn and enough and 1000.0 * self._rng.random() < self.churn:
            centre = int(self._rng.choice(up))
            self.stop(centre)
            self._back[centre] = self.world.now + 2 * self.plan.settings.lease

    def _compare(self) -> None:
        """Tell of ends that were signed, of holdings taken over, and of leases."""
        leased, up = self.leased, self.world.up
        before = self._ended
        views = [self.world.nodes[k].view for k in np.flatnonzero(leased)]
        if views:
            known = np.max([view.ended for view in views], axis=0)
            lives = {node.life for node in self.world.lives}
            self._ended = before | {life for life in lives if life[1] < known[life[0]]}
        for centre, epoch in sorted(self._ended - before):
            self._tell("given up", f"life {epoch + 1} of centre {centre} is given up")
        settled = settled_lives(self.world.lives)
        if fresh := settled - self.settled:
            who = centres(sorted({centre for centre, _ in fresh}))
            self._tell("settled", f"what {who} held has been taken over")
        self.settled = settled
        for word, changed in (("lease", leased & ~self._leased), ("no lease", self._leased & up)):
            found = np.flatnonzero(changed & (leased if word == "lease" else ~leased))
            if len(found):
                has = "has" if len(found) == 1 else "have"
                which = "a lease and may use a share" if word == "lease" else "lost the lease"
                self._tell(word, f"{centres(found.tolist())} {has} {which}")
        self._leased = leased

    def _tell(self, what: str, text: str) -> None:
        self.events.append(Event(self.world.now, what, text))

    def _note(self) -> None:
        """Keep a row; of too many, every second one."""
        self.rows.append(self.row())
        self._since = 0
        if len(self.rows) > _KEPT:
            self._every *= 2
            self.rows = [row for row in self.rows if row.round % self._every == 0]

    def row(self) -> Row:
        """The state now."""
        world, unit, leased = self.world, self.problem.quanta.unit, self.leased
        counted = [
            int(node.ledger.held[0])
            for node, up in zip(world.nodes, world.up, strict=True)
            if up and node.life not in self.settled
        ]
        used, held = float(world.shares.sum()), unit * sum(counted)
        loss_gap, consensus = self._learning(leased)
        return Row(
            round=world.now,
            used=used,
            idle=held - used,
            in_flight=unit * int(self.books.in_flight[0]),
            owed=unit * (int(self.books.held[0]) - sum(counted)),
            audit=self._since,
            gap=self._gap(leased),
            loss_gap=loss_gap,
            consensus=consensus,
            bits=8 * world.bytes,
            lost=sum(one.lost for one in world.traffic.values()),
            leased=int(leased.sum()),
        )

    def best(self, taking: Bools) -> Optimum | None:
        """The optimum for some centres, by solvers that know nothing of networks.

        Args:
            taking: (centres,) True on those that take part.

        Returns:
            The optimum; None where their boxes cannot hold the budget.
        """
        key = taking.tobytes()
        if key not in self._best:
            if len(self._best) > MOST_LIVES:
                self._best.clear()
            try:
                self._best[key] = self.problem.optimum(taking) if taking.any() else None
            except InfeasibleError:
                self._best[key] = None
        return self._best[key]

    def cost(self, taking: Bools) -> float:
        """CPU cost of some centres' shares now."""
        filled = np.where(taking, self.world.shares, self.problem.inside)
        return float(self.problem.cost(filled)[taking].sum())

    def _gap(self, taking: Bools) -> float:
        best = self.best(taking)
        if best is None:
            return float("nan")
        return (self.cost(taking) - best.cost) / self.problem.measure(taking)[1]

    def _learning(self, taking: Bools) -> tuple[float, float]:
        """The mean model's loss above the least one, and the largest distance from it."""
        best = self.best(taking)
        if self.problem.loss is None or best is None:
            return float("nan"), float("nan")
        loss, data = self.problem.learning
        models = self.world.models[taking]
        mean = models.mean(axis=0)
        everywhere = np.repeat(mean[None], self.problem.centres, axis=0)
        value = float(loss.value(everywhere, data, self.problem.centres)[taking].sum())
        return value - best.loss, float(np.abs(models - mean).max())

    # ---- what a person does -------------------------------------------------------------------

    def stop(self, centre: int) -> None:
        """Stop a centre's process, with all that it holds; one that is stopped stays so.

        Raises:
            InputError: There is no such centre, or it is the last one that runs.
        """
        centre = self._centre(centre)
        if not self.world.up[centre]:
            return
        if self.world.up.sum() == 1:
            raise InputError(
                "is the last one that runs",
                where=f"centre {centre}",
                allowed="a network with a running centre",
                remedy="start another one first, or end the network",
            )
        held = float(self.world.held[centre])
        self.world.stop(centre)
        self._tell("stopped", f"centre {centre} stops; it held {held:.4g}")

    def restart(self, centre: int) -> None:
        """Begin a new life of a stopped centre, without holdings; one that runs goes on.

        Raises:
            InputError: There is no such centre, or the network has had too many lives.
        """
        centre = self._centre(centre)
        self._back.pop(centre, None)
        if self.world.up[centre]:
            return
        if len(self.world.lives) >= MOST_LIVES:
            raise InputError(
                f"has had {MOST_LIVES} lives of centres",
                where="network",
                allowed=f"at most {MOST_LIVES}",
                remedy="start a new network",
            )
        self.world.restart(centre)
        life = self.world.nodes[centre].life[1] + 1
        self._tell("started", f"centre {centre} begins life {life} without holdings")

    def cut(self, links: Sequence[tuple[int, int]]) -> None:
        """Let no message pass over some links from now on; a link that is cut stays so.

        Args:
            links: Both ends of each.

        Raises:
            InputError: One is between centres that are no neighbours; nothing has changed.
        """
        found = {self._link(*link) for link in links}
        fresh = {link for link in found if frozenset(link) not in self.world.cuts}
        self.world.cuts |= {frozenset(link) for link in fresh}
        self._tell_links("cut", fresh)

    def mend(self, links: Sequence[tuple[int, int]]) -> None:
        """Let messages pass over some links again.

        Args:
            links: Both ends of each.

        Raises:
            InputError: One is between centres that are no neighbours; nothing has changed.
        """
        found = {self._link(*link) for link in links}
        fresh = {link for link in found if frozenset(link) in self.world.cuts}
        self.world.cuts -= {frozenset(link) for link in fresh}
        self._tell_links("mended", fresh)

    def _tell_links(self, what: str, links: set[tuple[int, int]]) -> None:
        if links:
            listed = ", ".join(f"{a}-{b}" for a, b in sorted(links))
            words = "link {} is" if len(links) == 1 else "links {} are"
            self._tell(what, f"{words.format(listed)} {what}")

    def set_faults(self, faults: Faults, churn: float) -> None:
        """Change the rates of faults from now on.

        Args:
            faults: The rates.
            churn: Crashes in a thousand rounds.

        Raises:
            InputError: The churn is out of its range.
        """
        self.churn = checks.number(churn, "churn", 0.0, 1000.0)
        self.world.faults = faults
        self._tell(
            "faults",
            f"loss {faults.loss:g}, repeats {faults.duplication:g}, delay up to {faults.delay}, "
            f"{churn:g} crashes in a thousand rounds",
        )

    def _centre(self, centre: int) -> int:
        return checks.whole(centre, "centre", 0, self.problem.centres - 1)

    def _link(self, one: int, other: int) -> tuple[int, int]:
        """The ends of a link, the smaller number first."""
        pair = min(one, other), max(one, other)
        if pair not in self.links:
            raise InputError(
                f"is between {one} and {other}, which are no neighbours",
                where="link",
                allowed="two neighbours",
                remedy="choose one of the network's links",
            )
        return pair


def centres(numbers: list[int]) -> str:
    """Some centres in words.

    Example:
        >>> centres([3]), centres([0, 2, 5])
        ('centre 3', 'centres 0, 2, 5')
    """
    listed = ", ".join(map(str, numbers))
    return f"centre {listed}" if len(numbers) == 1 else f"centres {listed}"
