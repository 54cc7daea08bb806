"""Runs from elsewhere become tasks that have ended, with an observation each."""

from __future__ import annotations

import dataclasses

import pytest
import sqlalchemy as sa

from walras.exchange.errors import FieldError, NotFoundError
from walras.exchange.service import imports, queries
from walras.exchange.service.imports import Past
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Statement

_RUN = Past("east", {"rows": 2.0, "depth": 1.0}, "completed", 30.0, 90.0, slots=2)
_SEEN = Statement(sa.text("SELECT outcome, at, seconds, weight FROM observation ORDER BY id"))


def test_a_run_is_kept_as_if_it_had_been_ours(database: Database) -> None:
    runs = [_RUN, dataclasses.replace(_RUN, outcome="timeout", features={})]
    assert database.write(lambda tx: imports.add(tx, 100.0, "old", runs, "lab")) == 2
    first, second = (
        database.read(lambda tx, u=uid: queries.detail(tx, u, "lab"))  # type: ignore[misc]
        for uid in ("old-0", "old-1")
    )
    assert first["features"] == {"depth": 1.0, "rows": 2.0}
    assert (first["state"], first["cluster"], first["slots"]) == ("succeeded", "east", 2)
    assert (second["state"], second["failures"], second["features"]) == ("failed", 1, {})
    (placed,) = database.read(lambda tx: queries.placements(tx, "old-0", "lab"))
    assert [placed[key] for key in ("granted", "ended", "seconds")] == [60.0, 90.0, 30.0]
    assert database.read(lambda tx: tx.rows(_SEEN)) == [
        ("completed", 90.0, 30.0, "used"),
        ("timeout", 90.0, 30.0, "used"),
    ]


@pytest.mark.parametrize(
    ("change", "error", "words", "pointer"),
    [
        ({"at": 100.1}, FieldError, "at: is to come", "/observations/1/at"),
        ({"cluster": "x"}, NotFoundError, "no cluster 'x'", "/observations/1/cluster"),
    ],
)
def test_one_wrong_run_is_named_and_none_is_added(
    database: Database, change: dict[str, object], error: type[Exception], words: str, pointer: str
) -> None:
    runs = [_RUN, dataclasses.replace(_RUN, **change)]  # type: ignore[arg-type]
    with pytest.raises(error, match=words) as raised:
        database.write(lambda tx: imports.add(tx, 100.0, "old", runs, "lab"))
    assert raised.value.pointer == pointer  # type: ignore[attr-defined]
    assert database.read(lambda tx: tx.rows(_SEEN)) == []
