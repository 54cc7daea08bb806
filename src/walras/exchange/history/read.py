"""Read the rounds of an exchange and what became of their placements; nothing is changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from walras.errors import DataError, WalrasError
from walras.exchange.errors import StoreError
from walras.exchange.service.snapshots import decision_of, snapshot_of
from walras.exchange.store.database import open_database, unusable
from walras.exchange.store.schema import observation, placement, predictor, round_
from walras.exchange.store.statements import SQLITE, Statement, Transaction
from walras.policies.placements import Policy
from walras.rounds import Decision, Snapshot

_ROUNDS = Statement(
    sa.select(
        round_.c.id,
        round_.c.policy,
        round_.c.seed,
        round_.c.predictor,
        round_.c.snapshot,
        round_.c.decision,
    )
    .where(
        round_.c.state.in_(["published", "fallback"]),
        round_.c.snapshot.is_not(None),
        round_.c.decision.is_not(None),
    )
    .order_by(round_.c.id)
)
_OUTCOMES = Statement(
    sa.select(
        placement.c.round,
        placement.c.task,
        placement.c.cluster,
        observation.c.outcome,
        observation.c.seconds_measured,
        observation.c.at,
    )
    .join(observation, observation.c.placement == placement.c.id)
    .where(placement.c.round.is_not(None), observation.c.weight.in_(["used", "audited"]))
)
_MODELS = Statement(
    sa.select(predictor.c.version, predictor.c.model).where(predictor.c.model.is_not(None))
)


@dataclass(frozen=True, eq=False)
class Recorded:
    """A round as it was decided.

    Attributes:
        seq: Its number.
        policy: The policy in force.
        seed: The seed.
        predictor: Name of what predicted.
        snapshot: What it was decided from.
        decision: What was decided.
    """

    seq: int
    policy: Policy
    seed: int
    predictor: str
    snapshot: Snapshot
    decision: Decision


@dataclass(frozen=True)
class Outcome:
    """What became of a placement.

    Attributes:
        outcome: ``completed``, or how it failed.
        seconds: From its grant to its result, by the service's clock.
        ended: When its result came, seconds of the service's clock.
    """

    outcome: str
    seconds: float
    ended: float

    @property
    def good(self) -> bool:
        """Whether it completed."""
        return self.outcome == "completed"


@dataclass(frozen=True, eq=False)
class History:
    """Rounds of an exchange whose snapshots are kept, and the outcomes that are known.

    Attributes:
        source: Where it was read.
        rounds: The rounds, in order.
        outcomes: Round, task and cluster (numbers in the store) -> outcome.
        models: Name of a predictor -> its file.
    """

    source: str
    rounds: tuple[Recorded, ...]
    outcomes: Mapping[tuple[int, int, int], Outcome]
    models: Mapping[str, bytes]


def read_history(source: str | Path) -> History:
    """Read an exchange's rounds; the service may run meanwhile, and nothing is changed.

    Args:
        source: The folder of ``walras serve --home``, a file of SQLite such as a backup, or a
            ``postgresql://`` address.

    Returns:
        The history. A service keeps the snapshots of its last rounds alone (``keep_snapshots``).

    Raises:
        StoreError: The database cannot be read, or a row of it is damaged.
        DataError: There is none, or it holds no round.
    """
    address = str(source)
    with _reading(address) as tx:
        rounds = tuple(_recorded(row, address) for row in tx.rows(_ROUNDS))
        outcomes = dict(_outcome(row, address) for row in tx.rows(_OUTCOMES))
        models = {f"predictor {version}": bytes(model) for version, model in tx.rows(_MODELS)}
    if not rounds:
        raise DataError(
            "holds no round whose snapshot is kept",
            where=address,
            allowed="an exchange that has decided at least one round",
            remedy="let it place tasks first",
        )
    return History(address, rounds, outcomes, models)


def _recorded(row: Sequence[Any], address: str) -> Recorded:
    seq, policy, seed, name, taken, made = row
    with _intact(f"round {seq}", address):
        snapshot, decision = snapshot_of(taken), decision_of(made)
        if (decision.tasks, decision.clusters) != (snapshot.tasks.uid, snapshot.clusters.uid):
            raise ValueError("its decision is of other tasks or clusters than its snapshot")
        stated = Policy.from_document(policy)
        return Recorded(int(seq), stated, int(seed), str(name), snapshot, decision)


def _outcome(row: Sequence[Any], address: str) -> tuple[tuple[int, int, int], Outcome]:
    seq, task, cluster, word, seconds, at = row
    with _intact(f"a result of round {seq}", address):
        took, ended = float(seconds), float(at)
        return (int(seq), int(task), int(cluster)), Outcome(str(word), took, ended)


@contextmanager
def _intact(what: str, address: str) -> Iterator[None]:
    """Name the row that holds something else than a service writes."""
    try:
        yield
    except (WalrasError, TypeError, ValueError, OverflowError) as error:
        said = f"{error.where}: {error.what}" if isinstance(error, WalrasError) else str(error)
        raise StoreError(
            f"{what} cannot be read: {said}",
            where=address,
            allowed="rows as a service of this version wrote them",
            remedy="walras db check looks at the whole database; or replay a backup",
        ) from error


@contextmanager
def _reading(address: str) -> Iterator[Transaction]:
    """One consistent view of a database."""
    if address.startswith("postgresql"):
        database = open_database(address)
        try:
            with database.reading() as tx:
                yield tx
        finally:
            database.close()
        return
    path = _file(address)
    try:
        link = f"file:{quote(str(path))}?mode=ro"
        with closing(sqlite3.connect(link, uri=True, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            yield Transaction(connection.cursor(), SQLITE)
    except sqlite3.Error as error:
        raise unusable(error, str(path)) from error


def _file(address: str) -> Path:
    path = Path(address.removeprefix("sqlite:///")).expanduser().absolute()
    path = path / "exchange.db" if path.is_dir() else path
    if "://" in address and not address.startswith("sqlite"):
        raise StoreError(
            f"is {address.partition(':')[0]!r}",
            where="history",
            allowed="a folder, a file of SQLite or postgresql://USER@HOST/NAME",
            remedy="give one of these",
        )
    if not path.is_file():
        raise DataError(
            "holds no exchange",
            where=str(path),
            allowed="the folder of walras serve --home, or a file of walras db backup",
            remedy="check the path",
        )
    return path
