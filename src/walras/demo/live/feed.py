"""What people would do: load a history, train, promote, and submit tasks as they come."""

from __future__ import annotations

import random
import secrets
import sys
import time
from collections.abc import Callable

from walras.demo.live import job
from walras.demo.live.world import World
from walras.exchange.client import Client

_PATIENCE = 60.0  # seconds that a training may take


def teach(client: Client, world: World, pause: Callable[[float], None]) -> int | None:
    """Load the runs of before, train on them and promote what comes of it; its version.

    A new exchange has no runs in the shadow by which a candidate could be judged, so that it is
    promoted by hand, as an operator would. A second demo finds the predictor that it has.

    Args:
        client: An admin's.
        world: What was measured.
        pause: Waits some seconds; may raise to end.

    Returns:
        The version that rounds use, or None where the training did not end in time.
    """
    found = [one for one in client.predictors.list() if one.state == "active"]
    if found:
        return found[0].version
    if not client.predictors.runs(most=1):
        client.predictors.add_observations(world.history(time.time()))
    client.predictors.train()
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        made = [one.version for one in client.predictors.list() if one.state == "shadow"]
        if made:
            client.predictors.promote(made[0])
            return made[0]
        pause(0.2)
    return None


class Arrivals:
    """Tasks that come: each runs a network of the data, drawn at random.

    Args:
        client: An admin's.
        world: What was measured.
        waiting: How many may wait.
    """

    def __init__(self, client: Client, world: World, waiting: int) -> None:
        self._client, self._world, self._waiting = client, world, waiting
        self._draw = random.Random(f"{world.seed} {time.time()}")
        self._mark = secrets.token_hex(3)  # names are unique, also over several demos
        self._count = 0

    def submit(self, waits: int) -> int:
        """Submit as many as may wait beside those that do; their number."""
        tasks, made = self._world.recipe.test, []
        for _ in range(self._waiting - waits):
            j = self._draw.randrange(len(tasks))
            self._count += 1
            made.append(
                {
                    "name": f"net-{tasks.names[j]}-{self._mark}-{self._count}",
                    "command": [sys.executable, "-I", "-S", job.__file__, tasks.names[j]],
                    "features": self._world.features(tasks, j),
                    "max_attempts": 2,
                }
            )
        if made:
            self._client.tasks.submit_many(made)
        return len(made)


def network_of(name: str) -> str | None:
    """The network that a task of the demo runs, by the task's name; None of any other task.

    Example:
        >>> network_of("net-110021-a1b2c3-17")
        '110021'
        >>> network_of("hello") is None
        True
    """
    words = name.split("-")
    return words[1] if len(words) == 4 and words[0] == "net" else None
