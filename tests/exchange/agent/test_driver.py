"""The agent's loop with real processes and the service's transactions, without a socket."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.exchange.agent.links import QUICK, Direct
from tests.exchange.agent.slurm_stand_in import StandIn

from walras.exchange.agent import machine
from walras.exchange.agent.driver import Agent, Service
from walras.exchange.agent.local import Local
from walras.exchange.agent.slurm import Slurm
from walras.exchange.errors import ConflictError


def until(what: Callable[[], bool], seconds: float = 20.0) -> None:
    last = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < last, "in vain"
        time.sleep(0.02)


@contextmanager
def serving(link: Direct, home: Path, *, end_runs: bool = True) -> Iterator[Agent]:
    home.mkdir(exist_ok=True)
    agent = Agent(Service("one", "here", 4), link, Local(home), home, QUICK)
    thread = threading.Thread(target=agent.run, kwargs={"end_runs": end_runs})
    thread.start()
    try:
        yield agent
    finally:
        agent.stop()
        thread.join(20.0)
        assert not thread.is_alive()


@pytest.fixture
def link(tmp_path: Path) -> Iterator[Direct]:
    made = Direct(tmp_path / "service")
    yield made
    made.database.close()


def test_tasks_run_and_their_results_and_outputs_are_reported(link: Direct, tmp_path: Path) -> None:
    good = link.submit("/bin/sh", "-c", "echo hello $WALRAS_TASK; echo oops >&2")
    bad = link.submit("/bin/sh", "-c", "exit 7", max_attempts=1)
    missing = link.submit("/no/such/program", max_attempts=1)
    slow = link.submit("/bin/sleep", "60", max_attempts=1, time_limit=0.5)
    with serving(link, tmp_path / "agent"):
        until(lambda: [link.state(t) for t in (bad, missing, slow)] == ["failed"] * 3)
        until(lambda: link.state(good) == "succeeded")
    found = {row[1:3]: row[3] for row in link.placements()}
    assert found["completed", 0] == f"hello {good}\noops\n"
    assert ("failed", 7) in found
    assert "cannot start /no/such/program" in found["failed", 127]
    assert ("timeout", None) in found


def test_a_run_ends_when_its_agent_and_service_are_silent(link: Direct, tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    uid = link.submit("/bin/sh", "-c", f"while :; do date +%s.%N > {mark}; sleep 0.05; done")
    with serving(link, tmp_path / "agent", end_runs=False):
        until(mark.exists)
        link.down = True
        last = time.monotonic() + QUICK.lease + QUICK.kill + 1.0
        time.sleep(last - time.monotonic())
        seen = mark.read_text()
        time.sleep(0.3)
        assert mark.read_text() == seen, "it still runs"
        until(lambda: link.expire() == 1 or link.state(uid) == "pending", 5.0)
        link.down = False
        until(lambda: link.state(uid) == "pending")
        link.database.write(lambda tx: None)


def test_more_results_than_a_message_holds_are_sent_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "RESULTS", 2)
    link = Direct(tmp_path / "service", slots=5)
    home = tmp_path / "agent"
    uids = [link.submit("/bin/echo", str(k)) for k in range(5)]
    home.mkdir()
    agent = Agent(Service("one", "here", 5), link, Local(home), home, QUICK)
    thread = threading.Thread(target=agent.run)
    thread.start()
    try:
        until(lambda: [link.state(uid) for uid in uids] == ["succeeded"] * 5)
        outputs = sorted(row[3] for row in link.placements())
    finally:
        agent.stop()
        thread.join(20.0)
        link.database.close()
    assert outputs == [f"{k}\n" for k in range(5)]


def test_runs_that_end_with_their_agent_are_reported_with_their_outputs(
    link: Direct, tmp_path: Path
) -> None:
    mark = tmp_path / "begun"
    long = link.submit("/bin/sh", "-c", f"echo begun; touch {mark}; sleep 60")
    with serving(link, tmp_path / "agent"):
        until(mark.exists)
    assert link.state(long) == "pending"
    assert [(row[1], row[3]) for row in link.placements()] == [("preempted", "begun\n")]


def test_a_new_life_adopts_the_runs_of_the_one_before(link: Direct, tmp_path: Path) -> None:
    mark = tmp_path / "starts"
    uid = link.submit("/bin/sh", "-c", f"echo x >> {mark}; sleep 2; echo done")
    with serving(link, tmp_path / "agent", end_runs=False):
        until(lambda: link.state(uid) == "running")
    time.sleep(0.3)
    with serving(link, tmp_path / "agent"):
        until(lambda: link.state(uid) == "succeeded")
    assert mark.read_text() == "x\n", "started once"
    assert [row[1] for row in link.placements()] == ["completed"]


def test_an_exit_while_no_agent_lives_is_told_by_the_next(link: Direct, tmp_path: Path) -> None:
    uid = link.submit("/bin/sh", "-c", "sleep 1.5; exit 0")
    with serving(link, tmp_path / "agent", end_runs=False):
        until(lambda: link.state(uid) == "running")
    time.sleep(1.0)
    with serving(link, tmp_path / "agent"):
        until(lambda: link.state(uid) == "succeeded")
    assert not list((tmp_path / "agent" / "runs").iterdir()), "nothing is left"


def test_all_processes_of_a_cancelled_task_end(link: Direct, tmp_path: Path) -> None:
    from walras.exchange.service import tasks

    pids = tmp_path / "pids"
    script = f"setsid sh -c 'echo $$ >> {pids}; sleep 60' & echo $$ >> {pids}; trap '' TERM; wait"
    uid = link.submit("/bin/sh", "-c", script)
    with serving(link, tmp_path / "agent"):
        until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
        link.database.write(lambda tx: tasks.cancel(tx, time.time(), uid, "default"))
        until(lambda: link.state(uid) == "cancelled")
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_an_agent_that_stops_ends_its_runs_when_asked(link: Direct, tmp_path: Path) -> None:
    uid = link.submit("/bin/sleep", "60")
    with serving(link, tmp_path / "agent", end_runs=True):
        until(lambda: link.state(uid) == "running")
    assert link.state(uid) == "pending", "it was reported, and does not count"
    assert link.placements()[0][:2] == ("preempted", "preempted")


def test_a_run_that_waits_in_a_queue_is_reported_as_waiting(
    link: Direct, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm = StandIn(tmp_path / "slurm")
    monkeypatch.setenv("PATH", slurm.path)
    uid = link.submit("true")
    home = tmp_path / "agent"
    agent = Agent(Service("one", "here", 4), link, Slurm(home), home, QUICK)
    agent._begin()

    def turn() -> str:
        agent._soon = 0.0
        agent._turn()
        return link.state(uid)

    try:
        assert [turn() for _ in range(3)] == ["leased"] * 3
        slurm.move(0, state="RUNNING")
        assert turn() == "running"
        slurm.move(0, state="SUSPENDED")
        assert turn() == "leased"
        slurm.move(0, state="RUNNING")
        assert turn() == "running"
        slurm.move(0, state="COMPLETED")
        assert turn() == "succeeded"
    finally:
        agent._journal.close()
        agent._lock.close()
    assert len(slurm.calls("sbatch")) == 1


def test_one_agent_a_folder(link: Direct, tmp_path: Path) -> None:
    with serving(link, tmp_path / "agent") as agent:
        until(lambda: agent._machine is not None)
        with pytest.raises(ConflictError, match="another agent uses it"):
            Agent(Service("two", "here", 1), link, Local(tmp_path), tmp_path / "agent", QUICK)


def test_an_older_agent_of_the_same_name_gives_way(link: Direct, tmp_path: Path) -> None:
    first = Agent(Service("one", "here", 1), link, Local(tmp_path / "a"), tmp_path / "a", QUICK)
    first._begin()
    first._turn()
    second = Agent(Service("one", "here", 1), link, Local(tmp_path / "b"), tmp_path / "b", QUICK)
    second._begin()
    second._turn()
    first._soon = 0.0
    with pytest.raises(ConflictError, match="another agent of this name"):
        first._turn()
    for agent in (first, second):
        agent.stop()
        agent._journal.close()
        agent._lock.close()


def test_runs_outlive_a_service_that_is_away_for_most_of_a_lease(
    link: Direct, tmp_path: Path
) -> None:
    task = link.submit("/bin/sleep", "5")
    with serving(link, tmp_path / "agent"):
        until(lambda: link.state(task) == "running")
        link.down = True
        time.sleep(0.6 * QUICK.lease)
        link.down = False
        until(lambda: link.state(task) == "succeeded")
    assert [row[:2] for row in link.placements()] == [("succeeded", "completed")]
