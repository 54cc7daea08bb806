"""What a run's end, and a lease that runs out, do to its task; on both databases."""

from __future__ import annotations

import pytest
from tests.exchange.service.east import TIMING, agent, expire, given, place, say, seen, states

from walras.exchange.service import outcomes, queries
from walras.exchange.service.messages import Finished, Running
from walras.exchange.store.database import Database


@pytest.mark.parametrize(
    ("reported", "used"), [(1.0, 85.0), (95.0, 95.0), (1000.0, 100.0), (None, 100.0)]
)
def test_reported_seconds_are_believed_within_bounds(
    database: Database, reported: float | None, used: float
) -> None:
    """[0.9 D - 5, D] of the D = 100 s from grant to result."""
    agent(database)
    given(database)
    (grant,) = say(database, 10.0, 1).run
    run = Running(grant.placement, grant.token)
    for seq, now in enumerate((40.0, 70.0, 100.0), 2):
        say(database, now, seq, running=[run])
    say(database, 110.0, 9, finished=[Finished(grant.placement, grant.token, "failed", reported)])
    assert seen(database) == [("failed", used, 100.0)]


@pytest.mark.parametrize(
    ("jump", "used", "confirmed"), [(0.0, 20.0, 20.0), (-15.0, None, 5.0), (3600.0, None, 20.0)]
)
def test_over_a_jump_of_the_clock_no_time_is_learned_and_no_work_gained(
    database: Database, jump: float, used: float | None, confirmed: float
) -> None:
    """Over a start of the service by the same clock it is."""
    agent(database)
    given(database)
    (grant,) = say(database, 100.0, 1).run
    now = 110.0 + jump
    database.write(lambda tx: outcomes.extend_leases(tx, now, TIMING))
    done = Finished(grant.placement, grant.token, "completed", 20.0)
    say(database, now + 10.0, 2, finished=[done])
    assert seen(database) == [("completed", used, confirmed)]


def test_failures_count_until_the_last_attempt_and_lost_runs_do_not(database: Database) -> None:
    agent(database)
    given(database, max_attempts=2)
    (grant,) = say(database, 10.0, 1).run
    say(database, 11.0, 2, finished=[Finished(grant.placement, grant.token, "timeout")])
    assert states(database) == [("pending", 1, 1)]
    place(database)
    (grant,) = say(database, 12.0, 3).run
    say(database, 13.0, 1, life=2)  # a new life that lists nothing
    assert states(database) == [("pending", 1, 2)]
    place(database)
    (grant,) = say(database, 14.0, 2, life=2).run
    say(database, 15.0, 3, life=2, finished=[Finished(grant.placement, grant.token, "node_fail")])
    assert states(database) == [("failed", 2, 3)]


def test_a_lease_that_runs_out_gives_the_task_away_and_a_late_result_still_counts(
    database: Database,
) -> None:
    agent(database)
    given(database)
    (grant,) = say(database, 10.0, 1).run
    before, after = 10.0 + TIMING.held, 10.1 + TIMING.held
    assert database.write(lambda tx: outcomes.expire_leases(tx, before, TIMING)) == 0
    assert database.write(lambda tx: outcomes.expire_leases(tx, after, TIMING)) == 1
    assert states(database) == [("pending", 0, 1)]
    place(database)  # offered again, not granted yet
    assert database.read(lambda tx: queries.shown_attempt(tx, "t-0", None)) == 2
    done = Finished(grant.placement, grant.token, "completed", 5.0)
    answer = say(database, 200.0, 2, free=0, finished=[done])
    assert answer.ack == [(grant.placement, grant.token, "stored")]
    assert states(database) == [("succeeded", 0, 1)]
    assert say(database, 201.0, 3).run == [], "the offer was withdrawn"
    listed = database.read(lambda tx: queries.detail(tx, "t-0", None))
    assert (listed["cluster"], listed["round"]) == ("east", 1), "the run that ended it"
    assert database.read(lambda tx: queries.shown_attempt(tx, "t-0", None)) == 1
    assert seen(database)[0][1] is None, "it missed a sync: no time"


def test_a_run_that_cannot_end_itself_is_held_until_its_time_limit_from_its_start(
    database: Database,
) -> None:
    agent(database, fences=False)
    given(database, time_limit=500.0)
    (grant,) = say(database, 10.0, 1).run
    run = Running(grant.placement, grant.token)
    say(database, 20.0, 2, running=[run])
    say(database, 60.0, 3, running=[run])
    expire(database, 61.0 + TIMING.held)
    assert states(database) == [("held", 0, 1)]
    end = 20.0 + 500.0 + TIMING.overtime
    expire(database, end - 0.1)
    assert states(database) == [("held", 0, 1)]
    say(database, end, 4, running=[run])
    assert states(database) == [("running", 0, 1)], "its agent is back"
    expire(database, end + 0.1 + TIMING.held)
    assert states(database) == [("pending", 0, 1)], "its limit has passed since its start"


@pytest.mark.parametrize("last", ["nothing", "waits", "goes back"])
def test_a_run_that_may_wait_in_a_queue_is_held_without_end(database: Database, last: str) -> None:
    """Its scheduler starts it at any time; its limit counts from then."""
    agent(database, fences=False)
    given(database, time_limit=50.0)
    (grant,) = say(database, 10.0, 1).run
    waits, runs = (Running(grant.placement, grant.token, at) for at in (None, 11.0))
    if last == "goes back":
        say(database, 11.0, 2, running=[runs])
        assert states(database) == [("running", 0, 1)]
    if last != "nothing":
        say(database, 12.0, 3, running=[waits])
    assert states(database) == [("leased", 0, 1)]
    expire(database, 1000.0)
    assert states(database) == [("held", 0, 1)]
    database.write(lambda tx: outcomes.extend_leases(tx, 1e6, TIMING))
    assert expire(database, 1e9) == 0
    assert states(database) == [("held", 0, 1)]
    say(database, 1e9, 4, running=[waits])
    assert states(database) == [("leased", 0, 1)], "its agent is back, and it still waits"
    expire(database, 1e9 + 100.0)
    done = Finished(grant.placement, grant.token, "completed", 3.0)
    answer = say(database, 2e9, 5, finished=[done])
    assert answer.ack == [(grant.placement, grant.token, "stored")]
    assert states(database) == [("succeeded", 0, 1)]


@pytest.mark.parametrize("jumped", [1e6, 3.0])
def test_a_start_that_another_clock_told_ends_no_held_run(
    database: Database, jumped: float
) -> None:
    agent(database, fences=False)
    given(database, time_limit=500.0)
    (grant,) = say(database, 10.0, 1).run
    say(database, 60.0, 2, running=[Running(grant.placement, grant.token)])
    database.write(lambda tx: outcomes.extend_leases(tx, jumped, TIMING))
    late = jumped + 1.0 + TIMING.held
    expire(database, late)
    expire(database, late + 1.0)
    assert states(database) == [("held", 0, 1)]
    database.write(lambda tx: outcomes.extend_leases(tx, 2e6, TIMING))
    end = 2e6 + 500.0 + TIMING.overtime
    expire(database, end - 0.1)
    assert states(database) == [("held", 0, 1)], "nor does the end that was set on it"
    expire(database, end + 0.1)
    assert states(database) == [("pending", 0, 1)]


def test_a_held_run_without_a_limit_waits_for_its_agent_or_an_operator(database: Database) -> None:
    agent(database, fences=False)
    given(database)
    (grant,) = say(database, 10.0, 1).run
    say(database, 11.0, 2, running=[Running(grant.placement, grant.token)])
    expire(database, 1000.0)
    assert expire(database, 1e9) == 0
    assert states(database) == [("held", 0, 1)]
