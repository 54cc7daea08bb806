"""People who look: pages of a million tasks in a browser, and 200 pages that stay open."""

from __future__ import annotations

import asyncio
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import cycle
from typing import Any
from urllib.parse import urlencode, urlsplit

import sqlalchemy as sa

from benchmarks.exchange.clients import Connection, Played, Tally, batches, repeat, request
from benchmarks.exchange.stand import Served, Size, databases, filled, folder
from walras.exchange.client import Client
from walras.exchange.service import clusters
from walras.exchange.store.statements import Statement, Transaction
from walras.policies.placements import Policy

_EACH = 1_000  # tasks of a round of the past
_FAILED = 40  # of which every such one failed
_AGO = 1e6  # seconds since they ran
_RARE = 97  # runs on a cluster that had few

_ROUNDS = Statement(
    sa.text(
        "INSERT INTO round (state, started, ended, policy, seed, makespan, gap, counts)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :last + 0)"
        " SELECT 'published', :start + i, :start + i + 0.5, CAST(:policy AS TEXT), i, 100.0,"
        " 0.01, CAST(:counts AS TEXT) FROM n"
    )
)
_RUNS = Statement(
    sa.text(
        "INSERT INTO placement (task, attempt, token, round, cluster, state, outcome, slots,"
        " offered, granted, started, ended, missed, seconds, predicted)"
        " SELECT t.id, 1, 1, 1 + (t.id - :first) / :each,"
        f" CASE WHEN t.id < :first + {_RARE} THEN :rare ELSE 1 + t.id % :clusters END,"
        f" CASE WHEN t.id % {_FAILED} = 0 THEN 'failed' ELSE 'succeeded' END,"
        f" CASE WHEN t.id % {_FAILED} = 0 THEN 'failed' ELSE 'completed' END, 1,"
        " t.submitted - :ago, t.submitted - :ago + 1, t.submitted - :ago + 2,"
        " t.submitted - :ago + 62, 0, 60.0, 58.0"
        " FROM task t WHERE t.id >= :first AND t.state = 'succeeded'"
    )
)
_ENDS = Statement(
    sa.text(
        "UPDATE task SET attempt = 1, token = 1, submitted = submitted - :ago,"
        " ended = submitted - :ago + 62,"
        f" state = CASE WHEN id % {_FAILED} = 0 THEN 'failed' ELSE 'succeeded' END"
        " WHERE state = 'succeeded'"
    )
)
_FIRST = Statement(sa.text("SELECT MIN(id) FROM task WHERE state = 'succeeded'"))
_ANALYSE = Statement(sa.text("ANALYZE"))
_KEY = Statement(sa.text("SELECT id FROM cluster WHERE uid = 'rare'"))


def past(tx: Transaction, now: float, size: Size) -> None:
    """Give every task that has ended a run on a cluster, in a round of a thousand."""
    clusters.put(tx, now, "rare", clusters.Offer(size.slots, {}, 1.0))
    first = tx.value(_FIRST)
    tx.run(
        _ROUNDS,
        last=-(-size.ended // _EACH),
        start=now - _AGO,
        policy=Policy().document(),
        counts='{"placed": 1000}',
    )
    rare = tx.value(_KEY)
    tx.run(_RUNS, first=first, each=_EACH, clusters=size.clusters, rare=rare, ago=_AGO)
    tx.run(_ENDS, ago=_AGO)
    if tx.dialect.name == "postgresql":
        tx.run(_ANALYSE)  # what its autovacuum does within minutes of such a load


@contextmanager
def served(kind: str, size: Size, interval: float) -> Iterator[Served]:
    """A service whose database is full."""
    with databases(kind) as urls, folder() as home:
        url = next(urls)
        with closing(filled(home / "home", url, size)) as exchange:
            exchange.write(lambda tx, now: past(tx, now, size))
        with Served(home / "home", url, interval=interval) as one:
            yield one


_LOOKED_AT = (
    "/rounds",
    "/rounds/7",
    "/tasks",
    "/clusters",
    "/clusters/c7",
    "/predictors",
    "/status",
    "/reference",
)
_FILTERS: tuple[dict[str, Any], ...] = (
    {"state": "failed"},
    {"state": "pending"},
    {"state": ["failed", "cancelled", "expired"]},
    {"state": "running"},
    {"name": "x-500000"},
    {"name": "no-such-task"},
    {"cluster": "c7"},
    {"cluster": "rare"},
    {"cluster": "no-such-cluster"},
    {"round": "7"},
    {"cluster": "rare", "state": "failed"},
    {"cluster": "c7", "round": "7", "state": "failed"},
)


def pages(kind: str, size: Size, repeats: int) -> list[dict[str, Any]]:
    """Milliseconds until a page is first painted in Chromium, and until a filter shows its tasks.

    Each is asked for anew, with an empty cache for the pages and a warm one for filters.
    """
    from playwright.sync_api import sync_playwright

    where = shutil.which("chromium")
    if where is None:
        raise RuntimeError("there is no Chromium: install Debian's package")
    rows = []
    with served(kind, size, 3600.0) as one, sync_playwright() as run, _client(one) as client:
        browser = run.chromium.launch(executable_path=where, args=["--no-sandbox", "--disable-gpu"])
        key = {"database": kind, "tasks": size.ended + size.pending}
        for path in _LOOKED_AT:
            found = [_painted(browser, client, one.url, [path]) for _ in range(repeats)]
            rows.append(key | {"what": "first paint"} | _spread(path, [x[-1] for x in found]))
        paths = [f"/tasks?{urlencode(asked, doseq=True)}" for asked in _FILTERS]
        found = [_painted(browser, client, one.url, ["/tasks", *paths]) for _ in range(repeats)]
        for k, path in enumerate(paths, 1):
            rows.append(key | {"what": "filter"} | _spread(path, [x[k] for x in found]))
        browser.close()
    return rows


def _client(one: Served) -> Client:
    return Client(one.url, one.token)


def _spread(path: str, found: list[float]) -> dict[str, Any]:
    ordered = sorted(found)
    return {"page": path, "median_ms": ordered[len(ordered) // 2], "most_ms": ordered[-1]}


_PAINT = """() => new Promise((done) => {
  const look = () => {
    const found = performance.getEntriesByName("first-contentful-paint")[0];
    if (found) done(found.startTime); else setTimeout(look, 10);
  };
  look();
})"""


def _painted(browser: Any, client: Client, url: str, paths: list[str]) -> list[float]:
    """Milliseconds from the start of each navigation to its first paint with content."""
    context = browser.new_context(base_url=url)
    try:
        context.request.get(client.login_link())  # a session, and nothing in the cache
        page, found = context.new_page(), []
        for path in paths:
            page.goto(path)
            found.append(float(page.evaluate(_PAINT)))
        return found
    finally:
        context.close()


_OPEN = (
    "/rounds",
    "/tasks",
    "/tasks?state=running",
    "/clusters",
    "/tasks?cluster=c7",
)  # that stay open


def open_pages(kind: str, size: Size, viewers: int, seconds: float) -> list[dict[str, Any]]:
    """Milliseconds of reads while pages stay open and renew themselves, rounds as by default.

    A page listens to ``/changes`` and asks for its main part anew, as its script does.
    """
    with served(kind, size, 10.0) as one:
        cookies = _cookies(one, viewers)
        rows = asyncio.run(_looked(one, size, cookies, seconds))
    return [{"database": kind, "pages": viewers, "tasks": size.ended + size.pending} | rows]


def _cookies(one: Served, count: int) -> list[str]:
    """Sessions of people who see everything, and of the tenant whose tasks come and go."""
    with _client(one) as client:
        own = [client.tokens.create(f"own{k}", ["read"], tenant="default") for k in range(3)]
        tokens = [one.token, *(one.token for one in own)]
    made, clients = [], [Client(one.url, token) for token in tokens]
    for _, client in zip(range(count), cycle(clients), strict=False):
        made.append(_session(client.login_link()))
    for client in clients:
        client.close()
    return made


def _session(link: str) -> str:
    """The cookie that a link gives."""
    import httpx2

    with httpx2.Client() as browser:
        answer = browser.get(link)
        name, value = next(iter(answer.cookies.items()))
        return f"{name}={value}"


def _asked(host: str, path: str, cookie: str, *more: str) -> bytes:
    head = [f"GET {path} HTTP/1.1", f"Host: {host}", f"Cookie: {cookie}", *more]
    return "\r\n".join(head).encode() + b"\r\n\r\n"


async def _looked(one: Served, size: Size, cookies: list[str], seconds: float) -> dict[str, Any]:
    reads, parts, writes = Tally(), Tally(), Tally()
    syncs, made = Tally(), batches(one.token, 1)
    agents = [Played(f"a{k}", size.slots) for k in range(size.clusters)]
    opened = asyncio.Event()
    begun: list[float] = []

    def ended() -> bool:
        return bool(begun) and time.perf_counter() > begun[0] + seconds

    pages = [
        asyncio.ensure_future(_viewer(one, cookie, path, opened, ended, parts))
        for k, cookie in enumerate(cookies)
        for path in _OPEN[k // 4 % len(_OPEN) :][:1]
    ]
    await asyncio.sleep(5.0)  # all are open, and the first round is over
    begun.append(time.perf_counter())
    opened.set()
    await asyncio.gather(
        *(repeat(Connection(one.url), _reads(one.token, k), ended, reads, 0.05) for k in range(2)),
        repeat(Connection(one.url), made, ended, writes, 0.1),
        *(_synced(one, agent, ended, syncs) for agent in agents),
    )
    for page in pages:
        page.cancel()
    wrong = [
        x for x in await asyncio.gather(*pages, return_exceptions=True) if isinstance(x, Exception)
    ]
    wrong += [RuntimeError(x.decode()) for t in (reads, parts, syncs, writes) for x in t.wrong]
    if wrong:
        raise wrong[0]
    return {
        "read_p50_ms": 1e3 * reads.at(0.5),
        "read_p99_ms": 1e3 * reads.at(0.99),
        "reads": len(reads.seconds),
        "renewed_p99_ms": 1e3 * parts.at(0.99),
        "renewed": len(parts.seconds),
        "sync_p99_ms": 1e3 * syncs.at(0.99),
        "seconds": seconds,
    }


def _reads(token: str, seed: int) -> Iterator[bytes]:
    draw = random.Random(seed)
    paths = (
        "/v1/tasks?limit=50",
        "/v1/tasks?state=failed&limit=50",
        "/v1/clusters?limit=200",
        "/v1/rounds?limit=20",
        "/v1/tasks/x-500",
        "/v1/tasks/first/why",
        "/v1/tasks?cluster=c7&limit=50",
    )
    while True:
        yield request("GET", draw.choice(paths), token)


async def _viewer(
    one: Served,
    cookie: str,
    path: str,
    counted: asyncio.Event,
    ended: Callable[[], bool],
    tally: Tally,
) -> None:
    """A page that is open: it hears of changes and asks for its part anew, one at a time."""
    place, way = urlsplit(one.url), Connection(one.url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        writer.write(_asked(place.netloc, "/changes", cookie))
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.splitlines()[0]:
            raise RuntimeError(head.decode())
        last = b"0"
        while not ended():
            line = (await reader.readuntil(b"\n")).strip()
            if line.startswith(b"id: "):
                last = line[4:]
            if not line.startswith(b"data: "):
                continue
            more = ("HX-Request: true", f"X-Walras-After: {last.decode()}")
            asked = _asked(place.netloc, path, cookie, *more)
            began = time.perf_counter()
            status, body = await way.send(asked)
            if counted.is_set():
                tally.seconds.append(time.perf_counter() - began)
            if status != 200:
                tally.wrong.append(body)
    finally:
        writer.close()
        way.close()


async def _synced(one: Served, agent: Played, ended: Callable[[], bool], tally: Tally) -> None:
    """An agent whose runs take seconds, each agent at a moment of its own."""
    way, pause = Connection(one.url), 20.0
    await asyncio.sleep(random.Random(agent.name).random() * pause)
    while not ended():
        sent = request("POST", f"/v1/agents/{agent.name}/sync", one.token, agent.message())
        began = time.perf_counter()
        status, answer = await way.send(sent)
        tally.seconds.append(time.perf_counter() - began)
        if status != 200:
            tally.wrong.append(answer)
            return
        agent.heard(answer)
        await asyncio.sleep(pause)
    way.close()
