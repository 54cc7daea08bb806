"""Jobs are asked for, claimed by one owner, kept, ended, run again and forgotten."""

from __future__ import annotations

import pytest

from walras.exchange.errors import NotFoundError
from walras.exchange.service import jobs
from walras.exchange.service.jobs import Job
from walras.exchange.store.database import Database


def _claim(database: Database, now: float, **asked: object) -> Job | None:
    return database.write(
        lambda tx: jobs.claim(tx, now, "train", "me", 60.0, **asked)  # type: ignore[arg-type]
    )


def test_one_job_of_a_kind_and_key_is_open(empty: Database) -> None:
    ask = lambda kind, key: empty.write(lambda tx: jobs.enqueue(tx, 1.0, kind, key))  # noqa: E731
    assert ask("train", "a")
    assert not ask("train", "a")
    assert ask("train", "b")
    assert ask("round", "a")
    held = _claim(empty, 1.0, key="a")
    assert held is not None
    assert not ask("train", "a"), "it runs"
    assert empty.write(lambda tx: jobs.end(tx, held, "done"))
    assert ask("train", "a"), "it has ended"


def test_the_oldest_job_that_is_due_is_claimed(empty: Database) -> None:
    for key, after in (("late", 30.0), ("soon", 10.0), ("now", 20.0)):
        empty.write(
            lambda tx, k=key, a=after: jobs.enqueue(  # type: ignore[misc]
                tx, 0.0, "train", k, {"of": k}, after=a
            )
        )
    assert _claim(empty, 9.0) is None
    assert empty.read(lambda tx: jobs.due(tx, 20.0, "train")) == ["soon", "now"]
    held = _claim(empty, 20.0)
    assert held is not None
    assert (held.subject, held.payload, held.token, held.attempts) == ("soon", {"of": "soon"}, 1, 1)
    assert _claim(empty, 20.0, alone=True) is None, "one is held"
    other = _claim(empty, 20.0)
    assert other is not None
    assert other.subject == "now"


def test_a_lost_owner_changes_nothing(empty: Database) -> None:
    empty.write(lambda tx: jobs.enqueue(tx, 0.0, "train", "a"))
    lost = _claim(empty, 0.0)
    assert lost is not None
    assert _claim(empty, 60.0) is None, "its lease runs"
    taken = _claim(empty, 60.1)
    assert taken is not None
    assert (taken.token, taken.attempts) == (2, 2)
    assert not empty.write(lambda tx: jobs.heartbeat(tx, 61.0, lost, 60.0))
    assert not empty.write(lambda tx: jobs.end(tx, lost, "failed"))
    assert not empty.write(lambda tx: jobs.again(tx, lost, 70.0))
    assert empty.write(lambda tx: jobs.heartbeat(tx, 61.0, taken, 60.0))
    assert _claim(empty, 120.9) is None, "the heartbeat kept it"
    assert empty.read(lambda tx: jobs.status(tx, taken.key))["state"] == "running"


def test_a_job_runs_again_at_its_time_as_if_for_the_first(empty: Database) -> None:
    empty.write(lambda tx: jobs.enqueue(tx, 0.0, "train", "a"))
    held = _claim(empty, 0.0)
    assert held is not None
    assert empty.write(lambda tx: jobs.again(tx, held, 50.0, {"n": 3}))
    found = empty.read(lambda tx: jobs.status(tx, held.key))
    assert (found["state"], found["attempts"], found["result"]) == ("waiting", 0, {"n": 3})
    assert _claim(empty, 49.0) is None
    assert _claim(empty, 50.0) is not None


def test_asking_hastens_a_job_that_waits_and_follows_one_that_runs(empty: Database) -> None:
    ask = lambda now: empty.write(lambda tx: jobs.ask(tx, now, "train", "all"))  # noqa: E731
    empty.write(lambda tx: jobs.enqueue(tx, 0.0, "train", "all", after=100.0))
    first = ask(5.0)
    assert ask(6.0) == first
    assert empty.read(lambda tx: jobs.status(tx, first))["run_at"] == 5.0
    assert _claim(empty, 5.0) is not None
    second = ask(7.0)
    assert second != first
    assert ask(8.0) == second
    assert empty.read(lambda tx: jobs.status(tx, second))["key"] == "all-next"


def test_the_only_process_frees_what_was_held_before(empty: Database) -> None:
    empty.write(lambda tx: jobs.enqueue(tx, 0.0, "train", "a"))
    before = _claim(empty, 0.0)
    assert before is not None
    assert empty.write(jobs.free_all) == 1
    assert not empty.write(lambda tx: jobs.end(tx, before, "done"))
    assert _claim(empty, 0.0) is not None


def test_jobs_that_ended_long_ago_are_forgotten_but_never_the_newest(empty: Database) -> None:
    for key in "abc":
        empty.write(lambda tx, k=key: jobs.enqueue(tx, 0.0, "train", k))  # type: ignore[misc]
        held = _claim(empty, 0.0)
        assert held is not None
        empty.write(lambda tx, h=held: jobs.end(tx, h, "done"))  # type: ignore[misc]
    assert empty.write(lambda tx: jobs.forget(tx, 0.0)) == 0
    assert empty.write(lambda tx: jobs.forget(tx, 1.0)) == 2
    assert empty.read(lambda tx: jobs.status(tx, 3))["state"] == "done"
    with pytest.raises(NotFoundError, match="no job 1"):
        empty.read(lambda tx: jobs.status(tx, 1))
