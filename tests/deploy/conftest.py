"""What a service and a dispatcher that work show Prometheus."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from tests.deploy.promql import Shown, shown
from tests.exchange.api.serving import Served
from tests.exchange.dispatch.fake_kueue import FakeKueue
from tests.exchange.dispatch.virtual import Faulty, driver_of, virtually


def _service(home: Path) -> str:
    """The figures of a service that has placed a task."""
    served = Served(home)
    served.running("a", "alpha")
    served.send("GET", "/v1/tasks")
    text: str = served.send("GET", "/metrics", role="reader").text
    served.close()
    return text


def _dispatcher() -> str:
    """The figures of a dispatcher that has nominated clusters, and met conflicts and faults."""
    with pytest.MonkeyPatch.context() as patch:
        fake = FakeKueue(page=2)
        fake.chain(*"abcde")
        server = Faulty(fake, 3, 0.0)

        async def live() -> str:
            made = driver_of(server, patch)
            stop = asyncio.Event()
            work = asyncio.create_task(made.run(stop))
            await asyncio.sleep(5.0)  # it refuses to begin on a server that fails
            server.rate = 0.2
            for k in range(60):
                fake.workload(f"w{k}")
                await asyncio.sleep(0.3)
                fake.reserve(f"w{k}")
            stop.set()
            await work
            return generate_latest(made.metrics.registry).decode()

        return virtually(live)


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Name -> label -> values, of both."""
    return shown(_service(tmp_path_factory.mktemp("shown") / "home")) | shown(_dispatcher())
