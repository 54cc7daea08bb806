"""Runs as Slurm jobs, against a scripted stand-in that also fails and submits."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.agent.slurm_stand_in import StandIn

from walras.exchange.agent import scheduled
from walras.exchange.agent import slurm as module
from walras.exchange.agent.slurm import Slurm
from walras.exchange.service.messages import Grant


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    made = StandIn(tmp_path / "slurm")
    monkeypatch.setenv("PATH", made.path)
    return made


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(scheduled, "now", lambda: now[0])
    return now


def grant(placement: int = 1, token: int = 1, **options: Any) -> Grant:
    spec = {"command": ["train", "--lr", "a b; rm -rf /"], "environment": {"SEED": "3"}}
    fields = {"task": "abc", "slots": 2, "time_limit": 90.0, "spec": spec}
    return Grant(placement, token, **{**fields, **options})


def test_a_run_is_a_job_with_a_name_a_limit_and_no_shell(slurm: StandIn, tmp_path: Path) -> None:
    backend = Slurm(tmp_path / "agent", partition="gpu", options=["--mem=1G"])
    backend.start(grant(), 0.0)
    assert backend.poll() == []
    (call,) = slurm.calls("sbatch")
    assert {"--job-name=walras-abc-1", "--time=2", "--cpus-per-task=2"} < set(call)
    assert {"--partition=gpu", "--mem=1G", "--no-requeue"} < set(call)
    assert call[-3:] == ["train", "--lr", "a b; rm -rf /"]
    slurm.move(0, state="RUNNING")
    assert backend.poll() == []
    Path(str(slurm.jobs[0]["output"])).write_text("epoch 1\n")
    slurm.move(0, state="COMPLETED", elapsed=61)
    (ended,) = backend.poll()
    assert (ended.outcome, ended.seconds, ended.exit_code) == ("completed", 61.0, 0)
    assert ended.log == "epoch 1\n"
    assert len(slurm.calls("sbatch")) == 1
    backend.forget((1, 1))
    assert [p.name for p in (tmp_path / "agent" / "jobs").iterdir()] == ["run.sh"]


def test_many_runs_are_asked_about_in_parts(
    slurm: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_NAMES", 2)
    backend = Slurm(tmp_path / "agent")
    for number in range(1, 4):
        backend.start(grant(number, task=f"t{number}"), 0.0)
    assert backend.poll() == []
    for number, state in enumerate(("RUNNING", "COMPLETED", "FAILED")):
        slurm.move(number, state=state)
    assert {one.key: one.outcome for one in backend.poll()} == {
        (2, 1): "completed",
        (3, 1): "failed",
    }
    asked = [word for call in slurm.calls("squeue") for word in call if word.startswith("--name=")]
    assert {word.count(",") for word in asked} == {0, 1}
    assert len(slurm.calls("sbatch")) == 3


def test_a_job_in_the_queue_is_alive_whatever_its_state_is_called(
    slurm: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = Slurm(tmp_path / "agent")
    backend.start(grant(), 0.0)
    backend.poll()
    usual = module._run

    def newer(command: Any, environment: Any = None) -> str:
        name = command[0]
        return "walras-abc-1|HATCHING\n" if name == "squeue" else usual(command, environment)

    monkeypatch.setattr(module, "_run", newer)
    slurm.move(0, state="HATCHING")
    assert backend.poll() == []


@pytest.mark.parametrize(
    ("state", "code", "outcome"),
    [
        ("FAILED", "2:0", "failed"),
        ("TIMEOUT", "0:0", "timeout"),
        ("OUT_OF_MEMORY", "0:125", "out_of_memory"),
        ("NODE_FAIL", "0:0", "node_fail"),
        ("PREEMPTED", "0:0", "preempted"),
        ("CANCELLED by 1000", "0:0", "cancelled"),
        ("SOMETHING_NEW", "1:0", "failed"),
    ],
)
def test_ends_have_the_names_of_outcomes(
    slurm: StandIn, tmp_path: Path, state: str, code: str, outcome: str
) -> None:
    backend = Slurm(tmp_path / "agent")
    backend.start(grant(), 0.0)
    backend.poll()
    slurm.move(0, state=state, code=code)
    (ended,) = backend.poll()
    assert (ended.outcome, ended.exit_code) == (outcome, int(code[0]))


def test_a_submission_that_fails_and_takes_effect_is_found(
    slurm: StandIn, tmp_path: Path, clock: list[float]
) -> None:
    backend = Slurm(tmp_path / "agent")
    slurm.faults(sbatch="fails and submits")
    backend.start(grant(), 0.0)
    backend.poll()
    slurm.faults()
    for _ in range(3):
        clock[0] += 50.0
        assert backend.poll() == []
    assert len(slurm.jobs) == 1, "submitted once"
    slurm.move(0, state="COMPLETED")
    assert [e.outcome for e in backend.poll()] == ["completed"]


def test_a_submission_that_fails_is_given_up_not_tried_again(
    slurm: StandIn, tmp_path: Path, clock: list[float]
) -> None:
    backend = Slurm(tmp_path / "agent")
    slurm.faults(sbatch="fails")
    backend.start(grant(), 0.0)
    assert backend.poll() == []
    slurm.faults()
    clock[0] += 119.0
    assert backend.poll() == []
    clock[0] += 2.0
    assert [e.outcome for e in backend.poll()] == ["unreachable"]
    assert slurm.jobs == []
    assert len(slurm.calls("scancel")) == 1, "should it appear after all"


def test_silence_of_slurm_is_no_failure(slurm: StandIn, tmp_path: Path, clock: list[float]) -> None:
    backend = Slurm(tmp_path / "agent")
    backend.start(grant(), 0.0)
    backend.poll()
    slurm.move(0, state="RUNNING")
    slurm.faults(squeue="fails", sacct="fails")
    for _ in range(5):
        clock[0] += 100.0
        assert backend.poll() == []
    slurm.faults()
    assert backend.poll() == []
    slurm.move(0, state="COMPLETED")
    assert [e.outcome for e in backend.poll()] == ["completed"]


def test_a_new_life_of_the_agent_finds_its_jobs_and_submits_none_twice(
    slurm: StandIn, tmp_path: Path, clock: list[float]
) -> None:
    first = Slurm(tmp_path / "agent")
    first.start(grant(), 0.0)
    first.start(grant(2, task="other"), 0.0)
    first.poll()
    first.start(grant(3, task="new"), 0.0)
    slurm.move(0, state="COMPLETED")
    second = Slurm(tmp_path / "agent")
    assert second.adopt() == [(1, 1), (2, 1), (3, 1)]
    second.poll()
    assert len(slurm.calls("sbatch")) == 3
    assert second.fences is False


def test_a_run_that_is_told_to_end_is_cancelled(slurm: StandIn, tmp_path: Path) -> None:
    backend = Slurm(tmp_path / "agent")
    backend.start(grant(), 0.0)
    backend.poll()
    backend.stop((1, 1))
    backend.poll()
    (ended,) = backend.poll()
    assert ended.outcome == "cancelled"
    backend.start(grant(2, task="new"), 0.0)
    backend.stop((2, 1))
    assert [e.outcome for e in backend.poll() if e.key == (2, 1)] == ["cancelled"]
    assert len(slurm.jobs) == 1, "it was never submitted"


def test_an_end_that_the_accounting_does_not_know_yet_is_waited_for(
    slurm: StandIn, tmp_path: Path, clock: list[float]
) -> None:
    backend = Slurm(tmp_path / "agent")
    backend.start(grant(), 0.0)
    backend.poll()
    slurm.move(0, state="COMPLETED", unaccounted=True)
    clock[0] += 60.0
    assert backend.poll() == []
    slurm.move(0, unaccounted=False)
    assert [e.outcome for e in backend.poll()] == ["completed"]


def test_a_task_steers_its_job_and_not_sbatch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a consumer's variables would run its code beside the agent, as the agent's user."""
    asked: list[tuple[list[str], dict[str, str]]] = []

    def run(command: list[str], environment: dict[str, str] | None = None) -> str:
        if command[0] == "sbatch":
            asked.append((command, environment or {}))
        return ""

    monkeypatch.setattr(module, "_run", run)
    monkeypatch.setenv("WALRAS_TOKEN", "wlr_of_the_agent")
    monkeypatch.setenv("PATH", "/usr/bin")
    given = {"PATH": "/tmp/evil", "LD_PRELOAD": "x.so", "SBATCH_PARTITION": "root", "SEED": "3"}
    spec = {"command": ["train", "K=V"], "environment": given}
    backend = Slurm(tmp_path / "agent")
    backend.start(grant(spec=spec), 0.0)
    backend.poll()
    ((command, environment),) = asked
    assert environment["PATH"] == "/usr/bin"
    assert environment["SEED"] == "3"
    assert not {"LD_PRELOAD", "SBATCH_PARTITION", "WALRAS_TOKEN"} & set(environment)
    inside = command[command.index("env") :]
    assert inside == [
        "env",
        "PATH=/tmp/evil",
        "LD_PRELOAD=x.so",
        "SBATCH_PARTITION=root",
        "sh",
        "-c",
        'exec "$@"',
        "sh",
        "train",
        "K=V",
    ]
    said = subprocess.run(
        ["env", "SEED=3", "sh", "-c", 'exec "$@"', "sh", "printf", "%s", "a b; c"],
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    assert said.stdout == "a b; c"


def test_a_run_waits_until_its_job_is_seen_running(
    slurm: StandIn, tmp_path: Path, clock: list[float]
) -> None:
    backend = Slurm(tmp_path / "agent")
    assert not backend.waiting()
    backend.start(grant(), 0.0)
    backend.poll()
    assert backend.waiting() == {(1, 1)}, "submitted, not looked for yet"
    for state, waits in [
        ("PENDING", True),
        ("CONFIGURING", True),
        ("RUNNING", False),
        ("SUSPENDED", True),
        ("COMPLETING", False),
    ]:
        slurm.move(0, state=state)
        backend.poll()
        assert bool(backend.waiting()) == waits, state
    slurm.move(0, state="RUNNING")
    later = Slurm(tmp_path / "agent")
    later.adopt()
    slurm.faults(squeue="fails")
    later.poll()
    assert later.waiting() == {(1, 1)}, "nothing was seen in this life"
    slurm.faults()
    later.poll()
    assert not later.waiting()
    slurm.move(0, state="COMPLETED")
    later.poll()
    later.forget((1, 1))
    assert not later.waiting()
