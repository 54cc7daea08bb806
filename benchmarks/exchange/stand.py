"""Services as processes, and databases that are full enough to measure."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.error import URLError

import numpy as np
import sqlalchemy as sa

from walras.exchange.runtime.exchange import Exchange
from walras.exchange.service import clusters, tasks
from walras.exchange.store.schema import predictor
from walras.exchange.store.statements import Statement, Transaction, inserting

FEATURES = 30
_NAMES = tuple(f"f{k:02d}" for k in range(FEATURES))


@dataclass(frozen=True)
class Size:
    """How much is in a database.

    Attributes:
        pending: Tasks that wait.
        ended: Tasks that have ended.
        clusters: Clusters, each with an agent.
        slots: Slots of each.
    """

    pending: int = 100_000
    ended: int = 1_000_000
    clusters: int = 200
    slots: int = 10


class Served:
    """``walras serve`` as a process; use it in a ``with``.

    Attributes:
        url: Its address.
        began: Monotonic time of its start.
        ready: Seconds until it was ready.
    """

    def __init__(self, home: Path, database: str | None, *, interval: float = 10.0) -> None:
        self.home, self.began = home, time.monotonic()
        words = [sys.executable, "-m", "walras", "serve", "--home", str(home), "--port", "0"]
        words += ["--interval", str(interval), "--log-level", "WARNING"]
        words += ["--database", database] if database else []
        self.process = subprocess.Popen(
            words,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        self._said = self.process.stderr
        line = self._said.readline() if self._said is not None else ""
        if not line.startswith("serving "):
            self.kill()
            raise RuntimeError(f"the service did not start: {line}")
        # A service whose words nobody reads stands still when the pipe is full.
        threading.Thread(target=self._hear, daemon=True).start()
        self.url = line.split()[1]
        self._wait()
        self.ready = time.monotonic() - self.began
        self.token = (home / "admin.token").read_text().strip()

    def _hear(self) -> None:
        for line in self._said or ():
            sys.stderr.write(line)

    def _wait(self) -> None:
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/readyz", timeout=10.0):
                    return
            except (URLError, OSError):
                time.sleep(0.02)

    def kill(self) -> None:
        """``kill -9``."""
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        if self._said is not None:
            self._said.close()


@contextmanager
def databases(kind: str) -> Iterator[Iterator[str | None]]:
    """Addresses of new databases of a kind; None for the one in the service's home."""
    if kind == "sqlite":
        yield iter(lambda: None, 0)
        return
    from tests.exchange.postgres import Server

    server = Server(durable=True)
    try:
        yield iter(server.new, "")
    finally:
        server.remove()


@contextmanager
def folder() -> Iterator[Path]:
    """A folder on the disk under the working directory, not in memory; removed in the end."""
    made = Path(tempfile.mkdtemp(prefix=".exchange-", dir=Path.cwd()))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _sql(text: str) -> Statement:
    return Statement(sa.text(text))


_SEEDS = (
    _sql("CREATE TEMPORARY TABLE seed (k INTEGER PRIMARY KEY, features " + "BYTEA)"),
    _sql("CREATE TEMPORARY TABLE seed (k INTEGER PRIMARY KEY, features BLOB)"),
)
_SEED = _sql("INSERT INTO seed (k, features) VALUES (:k, :features)")
_DROP = _sql("DROP TABLE seed")
_FILL = _sql(
    "INSERT INTO task (uid, tenant, name, spec, requirement, feature_set, features, slots,"
    " priority, submitted, max_attempts, state, attempt, failures, token, version)"
    " WITH RECURSIVE n(i) AS (SELECT :first + 0 UNION ALL SELECT i + 1 FROM n WHERE i < :last + 0)"
    " SELECT 'x-' || i, t.tenant, 'x-' || i, t.spec, t.requirement, t.feature_set, s.features, 1,"
    " i % 7, t.submitted + i * 0.001, 3, CAST(:state AS TEXT), 0, 0, 0, 0"
    " FROM n JOIN seed s ON s.k = i % 1000 JOIN task t ON t.uid = 'first'"
)
_HEARD = _sql("UPDATE cluster SET seen = :now, trusted = 1")
_FREE = _sql("UPDATE agent SET seen = :now, free = 10000")  # no more than its cluster has
_PREDICTOR = inserting(predictor)
_RESET = (
    _sql("DELETE FROM observation"),
    _sql("DELETE FROM placement"),
    _sql(
        "UPDATE task SET state = 'pending', attempt = 0, token = 0"
        " WHERE state IN ('placed', 'leased', 'running', 'held')"
    ),
)


def begin(tx: Transaction, now: float, size: Size) -> None:
    """Clusters with agents, and a task after which others are made."""
    for k in range(size.clusters):
        clusters.put(tx, now, f"c{k}", clusters.Offer(size.slots, {}, 1.0))
        clusters.register(tx, now, f"a{k}", f"c{k}", "local", True)
    first = tasks.NewTask("first", "first", ("true",), dict.fromkeys(_NAMES, 0.5))
    tasks.submit(tx, now, "default", [first])
    tx.run(
        _PREDICTOR,
        version=1,
        state="active",
        sha256="",
        clusters="[]",
        trained_to=0,
        scores="{}",
        model=_model(size.clusters),
        created=now,
        decided=now,
    )


def fill(tx: Transaction, first: int, last: int, state: str) -> None:
    """Tasks ``first`` to ``last``, in a state, with features."""
    draw = np.random.default_rng(first)
    tx.run(_SEEDS[tx.dialect.name == "sqlite"])
    rows = draw.random((1000, FEATURES)).astype("<f4")
    tx.many(_SEED, [{"k": k, "features": row.tobytes()} for k, row in enumerate(rows)])
    tx.run(_FILL, first=first, last=last, state=state)
    tx.run(_DROP)


def reset(tx: Transaction, now: float) -> None:
    """Nothing is placed any more, and every cluster is heard."""
    for statement in _RESET:
        tx.run(statement)
    tx.run(_HEARD, now=now)
    tx.run(_FREE, now=now)


def filled(home: Path, url: str | None, size: Size) -> Exchange:
    """An exchange with all of a size in it; close it."""
    exchange = Exchange.open(home, url)
    exchange.write(lambda tx, now: begin(tx, now, size))
    exchange.write(lambda tx, now: fill(tx, 1, size.pending - 1, "pending"))
    step = 250_000
    for first in range(size.pending, size.pending + size.ended, step):
        last = min(first + step, size.pending + size.ended) - 1
        exchange.write(lambda tx, now, a=first, b=last: fill(tx, a, b, "succeeded"))  # type: ignore[misc]
    return exchange


@lru_cache(1)
def _model(count: int) -> bytes:
    """A predictor of clusters that differ tenfold in speed, from 12 runs of each."""
    from walras.predict import Training
    from walras.predict.by_cluster import Runs, fit_runs

    draw = np.random.default_rng(0)
    rows = 12 * count
    features = draw.random((rows, FEATURES))
    cluster = np.repeat(np.arange(count), 12)
    speed = np.exp(draw.uniform(-1.15, 1.15, count))
    work = 60.0 + features @ draw.uniform(0.0, 40.0, FEATURES)
    seconds = work / speed[cluster] * np.exp(draw.normal(0.0, 0.1, rows))
    names = tuple(f"c{k}" for k in range(count))
    runs = Runs(
        [str(k) for k in range(rows)],
        names,
        features,
        np.arange(rows),
        cluster,
        seconds,
        (draw.random(rows) < 0.95).astype(np.float64),
        np.ones(rows),
        _NAMES,
    )
    return fit_runs(runs, Training(link="exp")).to_bytes()
