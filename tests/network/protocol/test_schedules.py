"""Any schedule of ticks, losses, repeats, delays, crashes and returns keeps every quantum, and
every share in use inside its box."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.network.protocol.world import World

from walras.network.graph.network import Network

LINKS = {
    "ring": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)],
    "star": [(0, 1), (0, 2), (0, 3), (0, 4)],
    "path": [(0, 1), (1, 2), (2, 3), (3, 4)],
    "full": [(i, j) for i in range(5) for j in range(i)],
}
CENTRES = st.integers(0, 4)
LOW = st.lists(st.floats(0.0, 1.9), min_size=5, max_size=5)
HIGH = st.lists(st.floats(2.1, 4.0), min_size=5, max_size=5)


class Schedules(RuleBasedStateMachine):
    """Every rule is something that may happen to a network; audit and boxes are the invariants."""

    @initialize(
        shape=st.sampled_from(sorted(LINKS)),
        calm=st.integers(0, 30),
        seed=st.integers(0, 2**16),
        skews=st.lists(st.integers(-1, 0), min_size=5, max_size=5),
        low=LOW,
        high=HIGH,
    )
    def begin(
        self,
        shape: str,
        calm: int,
        seed: int,
        skews: list[int],
        low: list[float],
        high: list[float],
    ) -> None:
        boxes = (np.array(low), np.array(high))
        self.world = World(Network.of(5, np.array(LINKS[shape])), seed=seed, boxes=boxes)
        self.world.skew = skews
        self.world.now = 1
        self.rng = np.random.default_rng(seed)
        for _ in range(calm):
            self.world.round(self.rng)

    @rule(k=CENTRES)
    def one_ticks(self, k: int) -> None:
        self.world.tick(k)

    @rule(rounds=st.integers(1, 20), loss=st.sampled_from([0.0, 0.3, 0.9]))
    def rounds(self, rounds: int, loss: float) -> None:
        for _ in range(rounds):
            self.world.round(self.rng, loss)
            self.world.check()

    @rule(rounds=st.integers(1, 25), part=st.sets(CENTRES, min_size=1, max_size=2))
    def partition(self, rounds: int, part: set[int]) -> None:
        """Nothing passes between some and the others; what is sent is kept for later."""
        world = self.world
        for _ in range(rounds):
            for k in range(5):
                world.tick(k)
            inside = [at for at, (i, j, _) in enumerate(world.mail) if (i in part) == (j in part)]
            for at in reversed(inside):
                world.deliver(at)
            world.now += 1
            world.check()

    @rule(time=st.integers(1, 20))
    def time_passes(self, time: int) -> None:
        self.world.now += time

    @precondition(lambda self: self.world.mail)
    @rule(at=st.integers(0, 1000), keep=st.booleans())
    def one_arrives(self, at: int, keep: bool) -> None:
        self.world.deliver(at, keep=keep)

    @precondition(lambda self: self.world.mail)
    @rule(at=st.integers(0, 1000))
    def one_is_lost(self, at: int) -> None:
        self.world.mail.pop(at % len(self.world.mail))

    @rule(k=CENTRES)
    def crash(self, k: int) -> None:
        self.world.crash(k)

    @rule(k=CENTRES)
    def rejoin(self, k: int) -> None:
        """A centre comes back, or restarts without having been missed."""
        self.world.rejoin(k)

    @invariant()
    def books_agree(self) -> None:
        if hasattr(self, "world"):
            self.world.check()


TestSchedules = Schedules.TestCase
TestSchedules.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
