"""The dispatcher's loop: follows the objects, asks for the order of clusters, writes names."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, TypeVar

from walras.exchange.dispatch import checks, records, requests
from walras.exchange.dispatch.chain import Chain
from walras.exchange.dispatch.checks import Setup
from walras.exchange.dispatch.dispatcher import Dispatcher, Due
from walras.exchange.dispatch.follow import Change, Follow, backoff
from walras.exchange.dispatch.metrics import Metrics
from walras.exchange.dispatch.nominations import Nomination, Rules
from walras.exchange.dispatch.ranking import Ranked, Ranker
from walras.exchange.dispatch.server import Reply, Server
from walras.exchange.errors import ConflictError, ExchangeError, UnreachableError

T = TypeVar("T")

_GATHER = 0.2  # seconds for which changes are gathered before anything is written
_SHORT = 1.0  # a watch that ends sooner is not begun again at once
_LOOK = 30.0  # seconds between looks where nothing happens
_TRIES = 5  # of one pass


class Driver:
    """A dispatcher at work; :meth:`run` until it is stopped, or :meth:`once`.

    Args:
        server: The API server of the manager cluster.
        ranker: Orders clusters.
        setup: How it writes.
        rules: How many clusters, and when.
        metrics: What it counts.
        on_nominated: Called with each write that was taken.
        on_event: Called with a line for people.
        now: The clock: seconds since 1970.
    """

    def __init__(
        self,
        server: Server,
        ranker: Ranker,
        setup: Setup | None = None,
        rules: Rules | None = None,
        metrics: Metrics | None = None,
        on_nominated: Callable[[records.Nominated], None] = lambda _: None,
        on_event: Callable[[str], None] = lambda _: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.server, self.ranker = server, ranker
        self.setup, self.metrics = setup or Setup(), metrics or Metrics()
        self.dispatcher = Dispatcher(rules or Rules())
        self.on_nominated, self.on_event = on_nominated, on_event
        self._follows = [Follow(kind) for kind in requests.KINDS]
        self._changed = asyncio.Event()
        self._random = random.Random()
        self._now, self._said = now, ""
        self._busy = 0  # writes in a row that the server did not take, though it could

    async def run(self, stop: asyncio.Event) -> None:
        """Dispatch until an event is set.

        Args:
            stop: The event.

        Raises:
            ExchangeError: The manager is not set up for it, or refuses it, when it begins.
        """
        waiting = asyncio.create_task(stop.wait())
        parts = {asyncio.create_task(self._begin())}
        try:
            await _until_one_ends(waiting, parts)
            if not stop.is_set():
                parts = {asyncio.create_task(self._follow(one)) for one in self._follows}
                parts.add(asyncio.create_task(self._work()))
                await _until_one_ends(waiting, parts)
        finally:
            await _end({waiting, *parts})

    async def once(self) -> list[records.Where]:
        """Nominate for every workload that needs names now.

        Returns:
            Where each open workload stands then.

        Raises:
            ExchangeError: The manager is not set up for it, refuses it, or does not answer.
        """
        await self._begin()
        for _ in range(_TRIES):
            while self.dispatcher.due(self._now()):
                await self._step(strict=True)
            pause = self.dispatcher.held(self._now())
            if pause is None:
                return records.places(self.dispatcher, self._now())
            await asyncio.sleep(pause)
        raise ConflictError(
            "changes faster than it can be written",
            where="workload",
            remedy="run the dispatcher without --once",
        )

    async def _begin(self) -> None:
        await checks.check(self.server, self.setup)
        for one in self._follows:
            while not one.version:
                await self._page(one)
        self.on_event(
            f"follows {self.server.url}: {len(self.dispatcher.open)} workloads wait for a cluster, "
            f"{sum(self.dispatcher.chain.clusters.values())} clusters are active"
        )

    # ---- following --------------------------------------------------------------------------

    async def _follow(self, one: Follow) -> None:
        """Keep up with objects of a kind for ever."""
        while True:
            began = asyncio.get_running_loop().time()
            relists = one.relists
            try:
                await (self._watch(one) if one.version else self._page(one))
            except ExchangeError as error:
                if isinstance(error, UnreachableError):
                    one.failed()
                self.on_event(f"{one.kind}: {error.where}: {error.what}; tries again")
            if one.failures:
                self.metrics.dropped.labels(one.kind).inc()
            self.metrics.relists.labels(one.kind).inc(one.relists - relists)
            pause = one.delay * self._random.uniform(0.5, 1.0)
            if (
                not one.failures
                and one.version
                and asyncio.get_running_loop().time() - began < _SHORT
            ):
                pause = _SHORT
            await asyncio.sleep(pause)

    async def _page(self, one: Follow) -> None:
        """Take a page of a list."""
        request = one.request()
        reply = await self.server.send(request)
        if reply.status == 200:
            self._take(one.listed(reply.body))
            return
        one.failed(reply.status)
        if reply.status != 410:
            await asyncio.sleep(reply.wait)
            raise self.server.refusal(request, reply)

    async def _watch(self, one: Follow) -> None:
        """Take the events of one watch."""
        request = one.request()
        refused: list[Reply] = []
        async with aclosing(self.server.events(request, refused.append)) as events:
            async for event in events:
                changes = one.event(event)
                if changes is None:
                    return
                self._take(changes)
        for reply in refused:
            one.failed(reply.status)
            if reply.status != 410:
                await asyncio.sleep(reply.wait)
                raise self.server.refusal(request, reply)

    def _take(self, changes: list[Change]) -> None:
        for change in changes:
            self.dispatcher.change(change, self._now())
            self._changed.set()

    # ---- nominating -------------------------------------------------------------------------

    async def _work(self) -> None:
        """Write names whenever some workload needs them, for ever."""
        while True:
            self._changed.clear()
            try:
                await self._step()
            except ExchangeError as error:
                self.on_event(f"{error.where}: {error.what}; tries again")
                await asyncio.sleep(_SHORT)
                continue
            self._show()
            now = self._now()
            wake = self.dispatcher.wake(now)
            pause = _LOOK if wake is None else min(max(wake - now, 0.0), _LOOK)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):  # wait_for of Python 3.11 may lose a cancel
                    await self._changed.wait()
            await asyncio.sleep(_GATHER)

    async def _step(self, *, strict: bool = False) -> None:
        """Write names for some workloads, after a look at which clusters are active now."""
        due = self.dispatcher.due(self._now())
        if not due:
            return
        active = await self._look_at_clusters()
        orders: dict[object, Ranked] = {}
        for one in due:
            same = tuple(sorted(one.workload.features.items())), one.clusters
            if same not in orders:
                orders[same] = await self._rank(one)
            found = orders[same]
            # The watch may bring what is older than this look: both must say that it is active.
            order = tuple(name for name in found.order if name in active)
            made = self.dispatcher.nomination(one.workload.key, order, self._now())
            if made is not None:
                wait = await self._write(made, found, strict=strict)
                self._busy = 0 if wait is None else self._busy + 1
                if wait is not None:  # others would not be taken, either
                    pause = backoff(self._busy) * self._random.uniform(0.5, 1.0)
                    await asyncio.sleep(max(pause, wait))
                    return
            elif one.workload.key in self.dispatcher.open:
                self.dispatcher.refused(one.workload.key, self._now())

    async def _look_at_clusters(self) -> frozenset[str]:
        """Which clusters are active now; the watch may be late."""
        fresh, seen = Follow("multikueueclusters"), Chain()
        while not fresh.version:
            for change in fresh.listed(await self.server.ask(fresh.request())):
                self.dispatcher.change(change, self._now())
                seen.replace(change.kind, change.objects)
        return frozenset(name for name, active in seen.clusters.items() if active)

    async def _rank(self, one: Due) -> Ranked:
        now, features = self._now(), one.workload.features
        found = await _apart(lambda: self.ranker.rank(features, one.clusters, now))
        if found.why != self._said:
            self._said = found.why
            self.on_event(f"clusters are nominated by {found.by}" + _because(found.why))
        return found

    async def _write(self, made: Nomination, found: Ranked, *, strict: bool) -> float | None:
        """Write names; a workload that has changed is read again and judged anew.

        Returns:
            Seconds that a server asks to wait that takes nothing now; None where it is well.
        """
        key, workload = made.workload.key, made.workload
        build = requests.merging if self.setup.merge else requests.applying
        request = build(workload, made.names)
        try:
            reply = await self.server.send(request)
        except UnreachableError:
            self._refused(key, "no answer", 0.0)
            if strict:
                raise
            return 0.0
        now = self._now()
        if reply.status == 200:
            self.dispatcher.wrote(key, reply.body, now)
            self.metrics.written.labels("predictions" if found.predicted else "order").inc()
            for name in made.added:
                self.metrics.nominated.labels(name).inc()
            self.on_nominated(records.nominated(made, found, now))
            return None
        if reply.status == 404:
            self.dispatcher.forget(key)
            return None
        self._refused(key, "conflict" if reply.status == 409 else str(reply.status), reply.wait)
        if reply.status in (409, 422):
            await self._read_again(key)
            return None
        if strict:
            raise self.server.refusal(request, reply)
        self.on_event(f"{'/'.join(key)}: {self.server.refusal(request, reply).what}")
        return reply.wait

    async def _read_again(self, key: tuple[str, str]) -> None:
        reply = await self.server.send(requests.reading(*key))
        if reply.status == 200:
            self.dispatcher.saw(reply.body, self._now())
        elif reply.status == 404:
            self.dispatcher.forget(key)

    def _refused(self, key: tuple[str, str], reason: str, wait: float) -> None:
        self.metrics.refused.labels(reason).inc()
        self.dispatcher.refused(key, self._now(), wait)

    def _show(self) -> None:
        """Set the gauges."""
        for state, count in self.dispatcher.counts(self._now()).items():
            self.metrics.open.labels(state).set(count)
        self.metrics.active.set(sum(self.dispatcher.chain.clusters.values()))


async def _until_one_ends(waiting: asyncio.Task[Any], parts: set[asyncio.Task[None]]) -> None:
    """Wait for the first of some tasks, and raise what it raises."""
    done, _ = await asyncio.wait({waiting, *parts}, return_when=asyncio.FIRST_COMPLETED)
    for task in done - {waiting}:
        task.result()


async def _end(tasks: set[asyncio.Task[Any]]) -> None:
    """End tasks; one in which a library catches the cancel is cancelled again."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=1.0)


def _because(why: str) -> str:
    return f": {why}" if why else ""


async def _apart(work: Callable[[], T]) -> T:
    """The value of a function that waits for others, in a thread that ends with the process."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)  # type: ignore[arg-type]
        else:
            future.set_exception(error)

    def call() -> None:
        value, fault = None, None
        try:
            value = work()
        except Exception as error:  # noqa: BLE001 - it is raised where the value is awaited
            fault = error
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits
            loop.call_soon_threadsafe(settle, value, fault)

    threading.Thread(target=call, name="walras-rank", daemon=True).start()
    return await future
