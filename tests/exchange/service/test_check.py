"""Each thing that can be wrong in a database is found and named."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from tests.exchange.filled import fill

from walras.exchange.errors import SchemaError
from walras.exchange.service.check import check
from walras.exchange.store.migrate import connected, migrate

PLANTED = {
    "tasks with more than one live run": [
        "INSERT INTO placement (task, attempt, token, round, cluster, agent, state, slots, offered,"
        " missed) SELECT task, 9, 0, round, cluster, agent, 'running', 1, 1, 0 FROM placement "
        "WHERE state = 'running'"
    ],
    "tasks that run, without a run of their newest token": [
        "UPDATE task SET token = token + 1 WHERE state = 'running'"
    ],
    "tasks that are held, without a run that is unreachable": [
        "UPDATE task SET state = 'held' WHERE state = 'pending'"
    ],
    "tasks that are placed, without an offer": [
        "UPDATE task SET state = 'placed' WHERE state = 'pending'"
    ],
    "offers of tasks that are not placed": [
        "UPDATE task SET state = 'pending' WHERE state = 'placed'"
    ],
    "runs of tasks that do not run": ["UPDATE task SET state = 'failed' WHERE state = 'running'"],
    "runs with a newer token than their task's": [
        "UPDATE task SET token = 0 WHERE state = 'succeeded'"
    ],
    "tokens of tenants that do not exist": ["UPDATE credential SET tenant = 'nobody'"],
    "the audit log was changed, from this entry on": [
        "UPDATE audit_log SET actor = 'x' WHERE id = 2"
    ],
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_fault_is_found(what: str, url: str) -> None:
    migrate(url)
    fill(url)
    assert check(url) == []
    with connected(url) as connection:
        for statement in PLANTED[what]:
            connection.execute(sa.text(statement))
    found = {finding.what: finding for finding in check(url)}
    assert what in found
    assert found[what].count == len(found[what].rows) == 1
    assert len(found) <= 2


def test_rows_that_refer_to_nothing_are_found_in_sqlite(tmp_path: object) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    migrate(url)
    fill(url)
    with connected(url) as connection:
        connection.execute(sa.text("DELETE FROM cluster"))
    found = [finding.what for finding in check(url)]
    assert "rows that refer to rows that are missing" in found


def test_a_database_without_tables_is_sent_to_migrate(url: str) -> None:
    with pytest.raises(SchemaError, match=r"has no table.*run walras db migrate"):
        check(url)
