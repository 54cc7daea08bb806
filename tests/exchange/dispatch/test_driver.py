"""The dispatcher over HTTP, against the stateful fake on a port of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.dispatch.fake_kueue import FakeKueue
from tests.exchange.dispatch.serving_kueue import TOKEN, ServingKueue
from tests.exchange.dispatch.virtual import Faulty, driver_of, predicted, virtually

from walras.exchange.dispatch import driver
from walras.exchange.dispatch.checks import Setup
from walras.exchange.dispatch.driver import Driver
from walras.exchange.dispatch.nominations import Rules
from walras.exchange.dispatch.ranking import Ranker
from walras.exchange.dispatch.requests import Request
from walras.exchange.dispatch.server import Reply, Server
from walras.exchange.errors import (
    ConflictError,
    ExchangeError,
    ForbiddenError,
    UnauthorisedError,
    UnreachableError,
)


@pytest.fixture
def serving() -> Iterator[ServingKueue]:
    fake = FakeKueue(page=2)
    fake.chain("east", "north", "west", "south")
    with ServingKueue(fake) as made:
        yield made


@pytest.fixture
def token(tmp_path: Path) -> Path:
    made = tmp_path / "token"
    made.write_text(TOKEN)
    return made


def made_driver(
    serving: ServingKueue, token: Path, said: list[str], **more: Any
) -> tuple[Driver, Server]:
    server = Server(serving.url, token)
    more = {"rules": Rules(2, 0.8)} | more
    return Driver(server, Ranker(predicted), on_event=said.append, **more), server


@contextlib.asynccontextmanager
async def running(
    serving: ServingKueue, token: Path, said: list[str], **more: Any
) -> AsyncIterator[Driver]:
    made, server = made_driver(serving, token, said, **more)
    stop = asyncio.Event()
    work = asyncio.create_task(made.run(stop))
    try:
        yield made
        assert not work.done()
    finally:
        stop.set()
        began = time.monotonic()
        await work
        await server.close()
    assert time.monotonic() - began < 2.0, "it ends at once"


async def until(what: Callable[[], bool], seconds: float = 15.0) -> None:
    last = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < last, "in vain"
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("merge", [False, True])
def test_workloads_are_nominated_extended_and_admitted(
    serving: ServingKueue, token: Path, merge: bool
) -> None:
    fake, said, seen = serving.fake, list[str](), list[Any]()
    fake.merge_gate, fake.policy = merge, not merge
    fake.workload("early")

    async def work() -> None:
        more = {"setup": Setup(merge), "on_nominated": seen.append}
        async with running(serving, token, said, **more) as made:
            with serving.lock:
                fake.workload("late", reserved=False)
            await until(lambda: len(fake.names("early")) == 2)
            assert fake.names("early") == ["south", "west"]
            with serving.lock:
                fake.reserve("late")
            await until(lambda: len(fake.names("early")) == 4)
            assert fake.names("early") == ["south", "west", "north", "east"]
            await until(lambda: len(fake.names("late")) == 4)
            with serving.lock:
                fake.admit("early", "north")
            await until(lambda: ("lab", "early") not in made.dispatcher.open)
            assert fake.get("early")["status"]["clusterName"] == "north"
            with serving.lock:
                fake.evict("early")
                fake.reserve("early")
            await until(lambda: bool(fake.names("early")))
            value = made.metrics.registry.get_sample_value
            await until(lambda: len(seen) >= 5)
            assert value("walras_kueue_writes_total", {"by": "predictions"}) == len(seen)
            assert value("walras_kueue_nominations_total", {"cluster": "west"})
            assert value("walras_kueue_clusters_active") == 4.0

    asyncio.run(work())
    assert said[0] == (
        f"follows {serving.url}: 1 workloads wait for a cluster, 4 clusters are active"
    )
    assert seen[0].workload == "early"
    assert all(write.after[: len(write.before)] == write.before for write in fake.writes)


def test_watches_are_resumed_with_bookmarks_and_begun_anew_after_410(
    serving: ServingKueue, token: Path
) -> None:
    fake, said = serving.fake, list[str]()
    serving.seconds = 0.6  # of each watch

    async def work() -> None:
        async with running(serving, token, said) as made:
            for _ in range(10):
                with serving.lock:
                    fake.cluster("east")  # versions of other kinds move on by bookmarks alone
                await asyncio.sleep(0.4)
            versions = [version for kind, version in serving.watches if kind == "clusterqueues"]
            assert len(versions) >= 2
            assert versions[-1] > versions[0], "a bookmark moved it on"
            assert sum(one.relists for one in made._follows) == 0
            with serving.lock:
                fake.workload("missed")
                fake.forget()
            with serving.lock:
                fake.cluster("west", active=False)
            await until(lambda: bool(fake.names("missed")))
            serving.seconds, count = 30.0, len(serving.watches)
            await until(lambda: len(serving.watches) >= count + 5)
            serving.cut.set()
            await asyncio.sleep(0.3)
            with serving.lock:
                fake.workload("after")
            serving.cut.clear()
            await until(lambda: bool(fake.names("after")))

    asyncio.run(work())
    assert any("tries again" in line for line in said)


def test_a_version_that_was_forgotten_is_listed_anew(serving: ServingKueue, token: Path) -> None:
    fake, said = serving.fake, list[str]()

    async def work() -> None:
        async with running(serving, token, said) as made:
            await until(lambda: len(serving.watches) == 5)
            with serving.lock:
                fake.workload("unseen", reserved=False)
                fake.delete("unseen")
                fake.workload("w")
                fake.forgotten = fake.version + 1  # whatever a watch knows is too old
            await until(lambda: any(one.relists for one in made._follows))
            with serving.lock:
                fake.forgotten = 0
            await until(lambda: bool(fake.names("w")))

    asyncio.run(work())


def test_it_goes_on_where_the_server_is_busy_fails_and_conflicts(
    serving: ServingKueue, token: Path
) -> None:
    fake, said, answers = serving.fake, list[str](), [429, 503, 409]

    def fault(request: Request) -> int:
        return answers.pop(0) if request.method == "PATCH" and answers else 0

    async def work() -> None:
        async with running(serving, token, said) as made:
            serving.fault = fault
            with serving.lock:
                fake.workload("w")
            await until(lambda: bool(fake.names("w")), 30.0)
            value = made.metrics.registry.get_sample_value
            for reason in ("429", "503", "conflict"):
                name = "walras_kueue_writes_refused_total"
                assert value(name, {"reason": reason}) == 1.0

    asyncio.run(work())
    assert answers == []


def test_a_list_that_fails_later_does_not_end_it(serving: ServingKueue, token: Path) -> None:
    said: list[str] = []

    def fault(request: Request) -> int:
        return 503 if request.path.endswith("multikueueclusters") and not request.stream else 0

    async def work() -> None:
        async with running(serving, token, said):
            await until(lambda: len(serving.watches) == 5)
            serving.fault = fault
            with serving.lock:
                serving.fake.workload("w")
            await until(lambda: any("answers HTTP 503" in line for line in said))
            assert serving.fake.names("w") == []
            serving.fault = lambda _: 0
            await until(lambda: bool(serving.fake.names("w")))

    asyncio.run(work())


@pytest.mark.parametrize(
    ("status", "kind"), [(401, UnauthorisedError), (403, ForbiddenError), (500, UnreachableError)]
)
def test_it_does_not_begin_where_it_is_refused(
    serving: ServingKueue, token: Path, status: int, kind: type[ExchangeError]
) -> None:
    serving.fault = lambda request: status if "workloads" in request.path else 0

    async def work() -> None:
        made, server = made_driver(serving, token, [])
        try:
            await made.run(asyncio.Event())
        finally:
            await server.close()

    with pytest.raises(kind):
        asyncio.run(work())


def test_without_the_policy_nothing_is_written(serving: ServingKueue, token: Path) -> None:
    serving.fake.policy = False
    serving.fake.workload("w")

    async def work() -> None:
        made, server = made_driver(serving, token, [])
        try:
            await made.once()
        finally:
            await server.close()

    with pytest.raises(ConflictError, match="MutatingAdmissionPolicy"):
        asyncio.run(work())
    assert serving.fake.writes == []


def test_one_pass_nominates_once(serving: ServingKueue, token: Path) -> None:
    fake = serving.fake
    for k in range(60):
        fake.workload(f"w{k}")
    fake.chain("gone", queue="other", active=False)
    fake.workload("stuck", "other")

    async def work() -> list[Any]:
        made, server = made_driver(serving, token, [], rules=Rules(2, 300.0))
        found = await made.once()
        await server.close()
        return found

    found = {one.workload: one for one in asyncio.run(work())}
    assert len(found) == 61
    assert found["w7"].state == "waits"
    assert found["w7"].nominated == ["south", "west"]
    assert (found["stuck"].state, found["stuck"].nominated) == ("blocked", [])
    assert found["stuck"].text == "no cluster of MultiKueueConfig other-config is active"
    assert {write.after for write in fake.writes} == {("south", "west")}
    count = len(fake.writes)
    asyncio.run(work())
    assert len(fake.writes) == count


def test_one_pass_ends_with_the_servers_error(serving: ServingKueue, token: Path) -> None:
    serving.fake.workload("w")
    serving.fault = lambda request: 403 if request.method == "PATCH" else 0

    async def work() -> None:
        made, server = made_driver(serving, token, [])
        try:
            await made.once()
        finally:
            await server.close()

    with pytest.raises(ForbiddenError):
        asyncio.run(work())


def test_an_exchange_that_is_slow_does_not_keep_it_from_ending(
    serving: ServingKueue, token: Path
) -> None:
    asked: list[float] = []

    def slow(features: Any, clusters: Any) -> Any:
        asked.append(time.monotonic())
        time.sleep(3.0)
        raise AssertionError("nobody waits for this")

    async def work() -> None:
        with serving.lock:
            serving.fake.workload("w")
        server = Server(serving.url, token)
        stop = asyncio.Event()
        task = asyncio.create_task(Driver(server, Ranker(slow)).run(stop))
        await until(lambda: bool(asked))
        stop.set()
        await task
        await server.close()

    began = time.monotonic()
    asyncio.run(work())
    assert time.monotonic() - began < 2.5


def test_what_a_thread_raises_is_raised_where_it_is_awaited() -> None:
    def fails() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(driver._apart(fails))
    assert asyncio.run(driver._apart(lambda: 7)) == 7


@pytest.mark.parametrize("turns", range(6))
def test_it_ends_though_something_changes_in_the_same_moment(
    turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``asyncio.wait_for`` of Python 3.11 loses such a cancel."""
    fake = FakeKueue()
    fake.chain("a")

    async def work() -> None:
        made = driver_of(Faulty(fake, 0, 0.0), monkeypatch)
        task = asyncio.create_task(made._work())
        await asyncio.sleep(1.0)
        made._changed.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=5.0)
        assert done
        assert task.cancelled()

    virtually(work)


def test_a_cancel_that_a_library_catches_is_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake, caught = FakeKueue(), list[int]()
    fake.chain("a")

    async def work() -> None:
        made = driver_of(Faulty(fake, 0, 0.0), monkeypatch)
        stop = asyncio.Event()

        async def deaf(_: Any) -> None:
            for k in range(3):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(100.0)
                caught.append(k)

        monkeypatch.setattr(made, "_follow", deaf)
        asyncio.get_running_loop().call_later(5.0, stop.set)
        await made.run(stop)
        assert asyncio.get_running_loop().time() < 10.0

    virtually(work)
    assert len(caught) == 15


def test_what_ends_a_part_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeKueue()
    fake.chain("a")

    async def work() -> None:
        made = driver_of(Faulty(fake, 0, 0.0), monkeypatch)

        async def broken(_: Any) -> None:
            raise ValueError("a fault of ours")

        monkeypatch.setattr(made, "_watch", broken)
        await made.run(asyncio.Event())

    with pytest.raises(ValueError, match="a fault of ours"):
        virtually(work)


def test_it_ends_at_once_while_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        made = driver_of(Faulty(FakeKueue(), 0, 0.0), monkeypatch)

        async def slow(_: Request) -> Any:
            await asyncio.sleep(1000.0)

        monkeypatch.setattr(made.server, "send", slow)
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(5.0, stop.set)
        await made.run(stop)
        assert asyncio.get_running_loop().time() < 7.0

    virtually(work)


def test_a_busy_server_is_not_asked_for_every_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, times = FakeKueue(), list[float]()
    fake.chain("a")
    for k in range(40):
        fake.workload(f"w{k}")

    async def work() -> None:
        made = driver_of(Faulty(fake, 0, 0.0), monkeypatch)
        send = made.server.send

        async def busy(request: Request) -> Any:
            now = asyncio.get_running_loop().time()
            if request.method == "PATCH" and now < 60.0:
                times.append(now)
                return Reply(429, {}, 3.0)
            return await send(request)

        monkeypatch.setattr(made.server, "send", busy)
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(300.0, stop.set)
        await made.run(stop)

    virtually(work)
    assert 3 < len(times) < 20
    assert min(b - a for a, b in pairwise(times)) >= 3.0
    assert len(fake.writes) == 40


def test_a_sign_in_page_in_between_is_survived(serving: ServingKueue, token: Path) -> None:
    said: list[str] = []

    async def work() -> None:
        made, server = made_driver(serving, token, said)
        follow = made._follows[0]
        whole, pages = server.send, [Reply(200, {"metadata": "sign in"}), None]

        async def send(request: Request) -> Reply:
            if pages:
                page = pages.pop()
                if page is None:
                    raise server._strange("answers with a page")
                return page
            return await whole(request)

        server.send = send  # type: ignore[method-assign]
        task = asyncio.create_task(made._follow(follow))
        await until(lambda: bool(follow.version) or task.done())
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await server.close()

    asyncio.run(work())
    assert len([line for line in said if line.endswith("tries again")]) == 2
