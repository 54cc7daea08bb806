"""What is measured: each study gives rows of figures for one kind of database."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.exchange import demo as demos
from benchmarks.exchange import looking
from benchmarks.exchange.clients import Connection, Played, Tally, batches, repeat, request
from benchmarks.exchange.stand import Served, Size, databases, filled, folder, reset
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.service import Service
from walras.exchange.service import jobs
from walras.exchange.simulation.world import Memory, World

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Scale:
    """How long and how much is measured.

    Attributes:
        seconds: Of each load.
        size: Of the database of rounds.
        growth: Tasks that wait, in the rounds that are compared.
        repeats: Of a cold start.
        recovered: Tasks in the database of a service that is killed.
        viewers: Pages that stay open.
        clones: Fresh clones in which a demo starts.
    """

    seconds: float = 6.0
    size: Size = field(default_factory=Size)
    growth: tuple[int, ...] = (1_000, 3_000, 10_000, 30_000, 100_000)
    repeats: int = 3
    recovered: int = 100_000
    viewers: int = 200
    clones: int = 5


FULL = Scale()
QUICK = Scale(1.0, Size(5_000, 20_000, 50, 10), (1_000, 5_000), 1, 5_000, 20, 1)


@contextmanager
def _new(kind: str, interval: float) -> Iterator[Served]:
    """A service on an empty home."""
    with (
        databases(kind) as urls,
        folder() as home,
        Served(home / "home", next(urls), interval=interval) as one,
    ):
        yield one


def submissions(kind: str, scale: Scale) -> Rows:
    """Durable submissions a second over HTTP, in batches of 100 and one by one."""
    rows: Rows = []
    for size, connections in ((100, 8), (1, 128)):
        with _new(kind, 3600.0) as one:
            tally, seconds = asyncio.run(_submitted(one, size, connections, scale.seconds))
        rows.append(
            {
                "database": kind,
                "tasks a request": size,
                "connections": connections,
                "tasks_per_second": size * len(tally.seconds) / seconds,
                "p50_ms": 1e3 * tally.at(0.5),
                "p99_ms": 1e3 * tally.at(0.99),
                "refused": len(tally.wrong),
            }
        )
    return rows


async def _submitted(
    one: Served, size: int, connections: int, seconds: float
) -> tuple[Tally, float]:
    tally, made = Tally(), batches(one.token, size)
    first = Connection(one.url)
    await repeat(first, made, _once(), Tally())  # the first request imports and compiles
    began = time.perf_counter()
    over = began + seconds
    clients = [
        repeat(Connection(one.url), made, lambda: time.perf_counter() > over, tally)
        for _ in range(connections)
    ]
    await asyncio.gather(*clients)
    return tally, time.perf_counter() - began


def _once() -> Callable[[], bool]:
    calls = itertools.count()
    return lambda: next(calls) > 0


def start(kind: str, scale: Scale) -> Rows:
    """Seconds from the start on an empty home to ready, and to the first grant of a task."""
    rows: Rows = []
    for _ in range(scale.repeats):
        with _new(kind, 10.0) as one:
            granted = asyncio.run(_granted(one))
        rows.append({"database": kind, "ready_s": one.ready, "granted_s": granted})
    return rows


async def _granted(one: Served) -> float:
    way, agent = Connection(one.url), Played("a0", 1)

    async def send(method: str, path: str, body: Any) -> bytes:
        status, answer = await way.send(request(method, path, one.token, body))
        if status // 100 != 2:
            raise RuntimeError(answer.decode())
        return answer

    await send("PUT", "/v1/clusters/c0", {"slots": 1})
    await send("POST", "/v1/agents", {"uid": "a0", "cluster": "c0"})
    await send("POST", "/v1/agents/a0/sync", agent.message())
    await send("POST", "/v1/tasks", {"name": "first", "command": ["true"]})
    await send("POST", "/v1/rounds:run", {})
    while not agent.running:
        agent.heard(await send("POST", "/v1/agents/a0/sync", agent.message()))
        await asyncio.sleep(0.05)
    way.close()
    return time.monotonic() - one.began


def recovery(kind: str, scale: Scale) -> Rows:
    """Seconds until a service that was killed under load is ready again."""
    size = Size(scale.recovered, 0, 1, 1)
    with databases(kind) as urls, folder() as home:
        url = next(urls)
        filled(home / "home", url, size).close()
        with Served(home / "home", url, interval=1.0) as one:
            asyncio.run(_killed(one))
        with Served(home / "home", url) as again:
            return [{"database": kind, "tasks": size.pending, "ready_s": again.ready}]


async def _killed(one: Served) -> None:
    """Kill a service while it commits."""
    made, tally = batches(one.token, 10), Tally()
    clients = [
        asyncio.ensure_future(repeat(Connection(one.url), made, lambda: False, tally))
        for _ in range(4)
    ]
    while len(tally.seconds) < 50:
        await asyncio.sleep(0.01)
    one.kill()
    await asyncio.gather(*clients, return_exceptions=True)


def rounds(kind: str, scale: Scale) -> Rows:
    """What a round costs in seconds, by step, against the tasks that wait.

    The last row is of the whole database; then a service serves it, with readers and agents.
    """
    rows: Rows = []
    with databases(kind) as urls, folder() as home:
        for pending in scale.growth:
            last = pending == scale.growth[-1]
            ended = scale.size.ended if last else 0
            size = Size(pending, ended, scale.size.clusters, scale.size.slots)
            place, url = home / f"home-{pending}", next(urls)
            with closing(filled(place, url, size)) as exchange:
                key = {"database": kind, "pending": pending, "tasks": pending + ended}
                rows.append(key | {"clusters": size.clusters} | _round(exchange))
                exchange.write(reset)
        with Served(place, url, interval=3600.0) as one:
            served = asyncio.run(_served(one, size, max(4 * scale.seconds, 5.0)))
    rows[-1] |= served
    return rows


def _round(exchange: Exchange) -> dict[str, Any]:
    """A round of this process' service, after one that warmed everything up."""
    service = Service.of(exchange)
    found: dict[str, Any] = {}
    try:
        service.compute.call("warm", b"predictor", 120.0)
        for _ in range(2):
            exchange.write(reset)
            exchange.write(lambda tx, now: jobs.ask(tx, now, "round", "asked"))
            before = _steps(service)
            service.background.work("round")
            found = {f"{k}_s": v - before[k] for k, v in _steps(service).items()}
        value = service.metrics.registry.get_sample_value
        found["placed"] = (value("walras_tasks_placed_total") or 0.0) / 2
        found["gap"] = value("walras_round_gap")
        for state in ("published", "fallback", "failed"):
            if value("walras_rounds_total", {"state": state}):
                found["state"] = state
    finally:
        service.stop()
        exchange.stopping.clear()
    return found


def _steps(service: Service) -> Mapping[str, float]:
    value = service.metrics.registry.get_sample_value
    names = ("snapshot", "decide", "publish", "whole")
    return {n: value("walras_round_seconds_sum", {"step": n}) or 0.0 for n in names}


async def _served(one: Served, size: Size, seconds: float) -> dict[str, Any]:
    """Readers, agents and clients that submit, while one round follows the other."""
    over = time.perf_counter() + seconds
    reads, syncs, writes, made = Tally(), Tally(), Tally(), batches(one.token, 1)
    rounds_run = [0]
    agents = [Played(f"a{k}", size.slots) for k in range(size.clusters)]

    def ended() -> bool:
        return time.perf_counter() > over

    await asyncio.gather(
        _rounds(one, ended, rounds_run),
        *(
            repeat(Connection(one.url), _reading(one.token, k), ended, reads, 0.05)
            for k in range(2)
        ),
        *(repeat(Connection(one.url), made, ended, writes, 0.02) for _ in range(4)),
        *(_syncs(one, agent, ended, syncs, seconds) for agent in agents),
    )
    wrong = [*reads.wrong, *syncs.wrong, *writes.wrong]
    if wrong:
        raise RuntimeError(wrong[0].decode())
    return {
        "read_p99_ms": 1e3 * reads.at(0.99),
        "reads": len(reads.seconds),
        "sync_p99_ms": 1e3 * syncs.at(0.99),
        "syncs": len(syncs.seconds),
        "submit_p99_ms": 1e3 * writes.at(0.99),
        "rounds_served": rounds_run[0],
    }


async def _rounds(one: Served, ended: Callable[[], bool], count: list[int]) -> None:
    """Ask for a round as soon as the one before has ended."""
    way = Connection(one.url)
    while not ended():
        _, answer = await way.send(request("POST", "/v1/rounds:run", one.token, {}))
        number, state = json.loads(answer)["id"], "waiting"
        while state in ("waiting", "running") and not ended():
            await asyncio.sleep(0.1)
            _, answer = await way.send(request("GET", f"/v1/jobs/{number}", one.token))
            state = json.loads(answer)["state"]
        count[0] += state == "done"
    way.close()


def _reading(token: str, seed: int) -> Any:
    draw = random.Random(seed)
    paths = ("/v1/tasks?limit=100", "/v1/tasks?state=pending&limit=100", "/v1/clusters?limit=200",
             "/v1/rounds?limit=20", "/v1/tasks/first", "/v1/tasks/first/why")  # fmt: skip
    while True:
        yield request("GET", draw.choice(paths), token)


async def _syncs(
    one: Served, agent: Played, ended: Callable[[], bool], tally: Tally, seconds: float
) -> None:
    """An agent that syncs every 20 s; all of them begin at moments of their own."""
    way, pause = Connection(one.url), min(20.0, seconds / 2)
    await asyncio.sleep(random.Random(agent.name).random() * pause)
    while not ended():
        path = f"/v1/agents/{agent.name}/sync"
        data = request("POST", path, one.token, agent.message())
        began = time.perf_counter()
        status, answer = await way.send(data)
        tally.seconds.append(time.perf_counter() - began)
        if status != 200:
            tally.wrong.append(answer)
            return
        agent.heard(answer)
        await asyncio.sleep(pause)
    way.close()


def simulation(kind: str, scale: Scale) -> Rows:
    """Schedules of the deterministic simulation a second, on one core."""
    memory, count = Memory(), 0
    for seed in range(20):
        World(seed, memory).run()
    began = time.perf_counter()
    while time.perf_counter() - began < scale.seconds:
        World(1_000 + count, memory).run()
        count += 1
    seconds = time.perf_counter() - began
    memory.close()
    return [{"database": kind, "schedules_per_second": count / seconds}]


def pages(kind: str, scale: Scale) -> Rows:
    """Milliseconds to the first paint of each page, and of each filter of tasks, in Chromium."""
    return looking.pages(kind, scale.size, 5)


def open_pages(kind: str, scale: Scale) -> Rows:
    """Milliseconds of reads while many pages stay open."""
    return looking.open_pages(kind, scale.size, scale.viewers, 5 * scale.seconds)


def demo(kind: str, scale: Scale) -> Rows:
    """Seconds from a fresh clone to the page of its demo, and to that of a second demo."""
    return demos.demo(scale.clones)


STUDIES: Mapping[str, Callable[[str, Scale], Rows]] = {
    "submissions": submissions,
    "start": start,
    "recovery": recovery,
    "rounds": rounds,
    "simulation": simulation,
    "pages": pages,
    "open-pages": open_pages,
    "demo": demo,
}
