"""The live demo from its start to its end: what it does, and what it has seen through the API."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from walras.demo.live.feed import Arrivals, network_of, teach
from walras.demo.live.processes import Processes, port_of
from walras.demo.live.score import FLOOR, Ran, Score
from walras.demo.live.world import World
from walras.exchange.api.views import Round
from walras.exchange.client import Client
from walras.exchange.runtime.home import prepare

SLOTS = 4  # of each cluster
WAITING = 10  # tasks that wait at most, before a round
INTERVAL = 3.0  # seconds between rounds
_LOOK = 1.0  # seconds between two looks


@dataclass(frozen=True)
class LiveSettings:
    """What a live demo is asked for.

    Attributes:
        home: Its folder; a second demo goes on there.
        port: Of the service; None for the usual one, or any that is free.
        seconds: After which it ends; None: when it is stopped.
        seed: Draws the past and what arrives.
    """

    home: Path
    port: int | None = None
    seconds: float | None = None
    seed: int = 0


@dataclass
class Seen:
    """What the API has told so far.

    Attributes:
        source: What the numbers of the clusters are.
        url: Address of the service.
        link: Signs a browser in, once.
        home: Folder of the demo.
        began: When the demo began, on a clock that does not jump.
        predictor: Version of the predictor that rounds use.
        rounds: Rounds so far.
        last: The last one.
        placed: Tasks that were placed by rounds of this demo.
        states: State -> tasks that wait or run.
        done: Tasks that succeeded since the demo began.
        failed: Runs that failed since then.
        regret: Of the last round that is accounted for.
        score: Makespans beside other plans'.
    """

    source: str
    url: str
    link: str
    home: Path
    began: float
    predictor: int | None = None
    rounds: int = 0
    last: Round | None = None
    placed: int = 0
    states: dict[str, int] = field(default_factory=dict)
    done: int = 0
    failed: int = 0
    regret: dict[str, Any] | None = None
    score: Score | None = None


def live(
    settings: LiveSettings,
    stopped: threading.Event,
    on_link: Callable[[Seen], None],
    on_look: Callable[[Seen], None],
) -> Seen:
    """Run the demo until its time is over or it is stopped; all of its processes end with it.

    Args:
        settings: What is asked for.
        stopped: Set to stop it.
        on_link: Called as soon as there is a link that signs a browser in.
        on_look: Called with what was seen, every second.

    Returns:
        What was seen.

    Raises:
        DemoError: A process did not start, or has ended.
        StoreError: The folder cannot be made or written.
    """
    began = time.monotonic()
    prepare(settings.home)
    port = port_of(settings.port)
    with Processes(settings.home, port) as processes:
        policy = settings.home / "policy.json"
        policy.write_text(json.dumps({"rules": {"min_success": FLOOR}}), encoding="utf-8")
        processes.serve(INTERVAL, policy)
        client = processes.client
        seen = Seen("", processes.url, client.login_link(), settings.home, began)
        on_link(seen)
        world = World.load(settings.seed)
        for cluster in world.clusters:
            world.write(cluster, processes.agent(cluster, SLOTS))
        seen.source, seen.score = world.source, Score(world, SLOTS)
        _wait_for(client, world.clusters, processes, stopped)
        on_look(seen)
        seen.predictor = teach(client, world, lambda seconds: _pause(stopped, seconds))
        look, arrivals = _Look(client, seen), Arrivals(client, world, WAITING)
        while not stopped.is_set() and not _over(settings, began):
            processes.check()
            look()
            arrivals.submit(seen.states.get("pending", 0))
            on_look(seen)
            stopped.wait(_LOOK)
        look()
        return seen


def _over(settings: LiveSettings, began: float) -> bool:
    return settings.seconds is not None and time.monotonic() - began >= settings.seconds


def _pause(stopped: threading.Event, seconds: float) -> None:
    stopped.wait(seconds)


def _wait_for(
    client: Client, clusters: tuple[str, ...], processes: Processes, stopped: threading.Event
) -> None:
    """Wait until all clusters are heard."""
    while not stopped.is_set():
        heard = {one.uid for one in client.clusters.list() if one.heard}
        if heard >= set(clusters):
            return
        processes.check()
        stopped.wait(0.1)


class _Look:
    """Looks at what has changed, once for each round and each run."""

    def __init__(self, client: Client, seen: Seen) -> None:
        self._client, self._seen = client, seen
        self._first = next((one.seq for one in client.rounds.list(most=1)), 0)
        self._run = next((one.id for one in client.predictors.runs(most=1)), 0)
        self._counted: set[int] = set()

    def __call__(self) -> None:
        seen, client = self._seen, self._client
        seen.states = client.status().tasks
        active = [one.version for one in client.predictors.list() if one.state == "active"]
        seen.predictor = active[0] if active else seen.predictor
        found = [one for one in client.rounds.list(most=50) if one.seq > self._first]
        for one in found:
            if one.seq not in self._counted and one.ended is not None:
                self._counted.add(one.seq)
                seen.placed += int(one.counts.get("placed") or 0)
        seen.rounds = len(self._counted)
        seen.last = next((one for one in found if one.makespan), seen.last)
        self._runs()
        accounted = [one for one in found if one.regret and one.regret.get("prediction")]
        if accounted:
            seen.regret = accounted[0].regret
        for one in reversed(accounted):
            self._judge(one)

    def _runs(self) -> None:
        fresh = [one for one in self._client.predictors.runs(most=500) if one.id > self._run]
        for one in fresh:
            self._seen.done += one.outcome == "completed"
            self._seen.failed += one.outcome != "completed"
        self._run = max((one.id for one in fresh), default=self._run)

    def _judge(self, one: Round) -> None:
        score = self._seen.score
        if score is None or one.seq in score.judged:
            return
        runs = [
            Ran(network_of(run.name) or "", run.cluster, run.granted, run.ended)
            for run in self._client.rounds.get(one.seq).placements
            if run.granted is not None and run.ended is not None
        ]
        if all(score.world.knows(run.network) for run in runs):
            score.add(one.seq, one.started, runs)
        else:  # tasks of somebody else, or of a demo before, on other data
            score.judged.add(one.seq)
