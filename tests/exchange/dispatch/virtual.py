"""The dispatcher's driver in virtual time: its real code, a loop that skips the waiting, faults."""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest
from tests.exchange.dispatch.fake_kueue import FakeKueue, RefusedError, Write

from walras.exchange.api.views import Prediction, Predictions
from walras.exchange.dispatch import driver
from walras.exchange.dispatch.nominations import Rules
from walras.exchange.dispatch.ranking import Predict, Ranker
from walras.exchange.dispatch.requests import Request
from walras.exchange.dispatch.server import Reply, Server
from walras.exchange.errors import UnreachableError

BEGIN = 1.8e9


class _Skipping(selectors.SelectSelector):
    """Waits for nothing: the loop's clock goes on in its place."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found:
            if timeout is None:
                raise RuntimeError("nothing will ever happen")
            self.now += max(timeout, 0.0)
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock is virtual."""

    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        """Seconds since the loop began."""
        return self._skipping.now


def virtually(work: Callable[[], Awaitable[Any]]) -> Any:
    """Run a coroutine in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:

        async def whole() -> Any:
            return await work()

        return runner.run(whole())


class Faulty(Server):
    """The fake without a socket; requests and answers get lost, late and refused.

    Attributes:
        rate: Share of requests with a fault.
        seen: The clusters that were active when they were listed last.
        violations: What must never happen, and did.
    """

    def __init__(self, fake: FakeKueue, seed: int, rate: float) -> None:
        super().__init__("http://fake")
        self.fake, self.random, self.rate = fake, random.Random(seed), rate
        self.seen: frozenset[str] = frozenset()
        self._listed: frozenset[str] = frozenset()
        self.violations: list[str] = []

    async def send(self, request: Request) -> Reply:
        """As :meth:`Server.send`."""
        await asyncio.sleep(self.random.uniform(0.0, 0.05))
        fault = self._fault()
        if fault == "lost":
            raise UnreachableError("is lost", where="fake")
        if isinstance(fault, int):
            return Reply(fault, {"message": "a fault"}, 2.0 if fault == 429 else 0.0)
        self.fake.now = BEGIN + asyncio.get_running_loop().time()
        count = len(self.fake.writes)
        status, body = self.fake.handle(request)
        for write in self.fake.writes[count:]:
            self._check(write)
        await asyncio.sleep(self.random.uniform(0.0, 0.05))
        if fault == "answer lost":
            raise UnreachableError("is lost", where="fake")
        if request.path.endswith("/multikueueclusters") and status == 200:
            self._look(request, body)
        return Reply(status, body)

    def _look(self, request: Request, body: dict[str, Any]) -> None:
        """Note what a list of clusters says; its pages come one after the other."""
        found = {
            one["metadata"]["name"]
            for one in body["items"]
            if one["status"]["conditions"][0]["status"] == "True"
        }
        begun = self._listed if "continue" in request.query else frozenset()
        self._listed = begun | found
        if "continue" not in body["metadata"]:
            self.seen = self._listed

    def _fault(self) -> str | int:
        if self.random.random() >= self.rate:
            return ""
        faults: list[str | int] = ["lost", "answer lost", 429, 500, 503, 504]
        return self.random.choice(faults)

    async def events(
        self, request: Request, refused: Callable[[Reply], None]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """As :meth:`Server.events`."""
        fault = self._fault()
        if isinstance(fault, int):
            refused(Reply(fault, {"message": "a fault"}))
            return
        kind = request.path.rpartition("/")[2]
        version = int(request.query["resourceVersion"])
        end = asyncio.get_running_loop().time() + float(request.query["timeoutSeconds"])
        while asyncio.get_running_loop().time() < end:
            await asyncio.sleep(self.random.uniform(0.05, 1.0))
            if self.random.random() < self.rate / 4:
                raise UnreachableError("was dropped", where="fake")
            try:
                events, version = self.fake.after(kind, version)
            except RefusedError as error:
                yield {"type": "ERROR", "object": error.body}
                return
            for event in events:
                yield event
            if self.random.random() < 0.2:
                yield self.fake.bookmark()

    def _check(self, write: Write) -> None:
        """What must hold of every write that the server takes."""
        wrong = self.violations.append
        added = write.after[len(write.before) :]
        if write.after[: len(write.before)] != write.before:
            wrong(f"{write.key}: {write.before} became {write.after}: a name was removed")
        if not set(added) <= self.seen:
            wrong(f"{write.key}: {added} nominated, {sorted(self.seen)} active")
        if not added or len(added) > 3 or len(set(write.after)) != len(write.after):
            wrong(f"{write.key}: {write.before} became {write.after}")
        status = write.status
        conditions = {c["type"]: c["status"] for c in status["conditions"]}
        checks = {c["name"]: c["state"] for c in status["admissionChecks"]}
        if (
            conditions.get("QuotaReserved") != "True"
            or conditions.get("Finished") == "True"
            or "Pending" not in checks.values()
            or "clusterName" in status
        ):
            wrong(f"{write.key}: nominated while {status}")


def predicted(features: Any, clusters: Any) -> Predictions:
    """Predictions of a predictor that knows all clusters; the last is the best."""
    items = [
        Prediction(
            cluster=name,
            known=True,
            seconds=100.0 - k,
            seconds_low=1.0,
            seconds_high=None,
            chance=0.9,
            chance_low=0.0,
            chance_high=1.0,
        )
        for k, name in enumerate(clusters)
    ]
    return Predictions(predictor="predictor 3", items=items)


async def _directly(work: Callable[[], Any]) -> Any:
    return work()


def driver_of(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    predict: Predict | None = predicted,
    rules: Rules | None = None,
    **more: Any,
) -> driver.Driver:
    """A driver in virtual time; to be made in the loop."""
    monkeypatch.setattr(driver, "_apart", _directly)
    now = asyncio.get_running_loop().time
    made = driver.Driver(server, Ranker(predict), rules=rules, now=lambda: BEGIN + now(), **more)
    made._random = random.Random(7)
    return made
