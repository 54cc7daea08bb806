"""What the routes work on."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from walras.exchange.api.auth import Authenticator
from walras.exchange.api.hub import Hub
from walras.exchange.runtime.background import Background
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.metrics import Metrics
from walras.exchange.runtime.networks import Networks
from walras.exchange.runtime.planner import Planner
from walras.exchange.runtime.works import Works

_WAITING = 24  # threads of requests that wait for a process of their own
_PREDICTING = 4  # requests for predictions that are answered at once; more would hold threads


@dataclass(frozen=True)
class Api:
    """The parts of a service.

    Attributes:
        exchange: Database, clock, settings.
        background: Its threads.
        planner: Makes rounds, and answers what-if questions.
        compute: The process beside the service in which rounds are decided.
        asking: Another one, for what-if questions: no round waits for them.
        networks: Networks in virtual time.
        allocations: Rounds of clusters, solved beside HiGHS.
        shadows: Comparisons in shadow mode.
        playing: Held while a what-if question is answered.
        waiting: Threads of requests that wait for a network's or a computation's process.
        predicting: Held by each request for predictions that is being answered; there are few.
        metrics: What it counts.
        authenticator: Finds callers.
        hub: Hands events to open streams.
    """

    exchange: Exchange
    background: Background
    planner: Planner
    compute: Compute
    asking: Compute
    networks: Networks
    allocations: Works
    shadows: Works
    metrics: Metrics
    authenticator: Authenticator
    hub: Hub
    playing: threading.Lock = field(default_factory=threading.Lock)
    waiting: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(_WAITING, thread_name_prefix="walras-waits")
    )
    predicting: threading.Semaphore = field(
        default_factory=lambda: threading.Semaphore(_PREDICTING)
    )
