"""``walras task``: submit, list, show, explain, wait, cancel, reject."""

from __future__ import annotations

import json
import shlex
import time

import pytest
import yaml
from tests.cli.exchange.runs import Run
from tests.exchange.api.serving import Served

from walras.cli.exchange import task
from walras.exchange.api import views


@pytest.mark.parametrize(("outcome", "code"), [("completed", 0), ("failed", 1)])
@pytest.mark.parametrize("apart", [False, True])
def test_waiting_ends_with_the_task_and_its_exit_code(
    walras: Run,
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    outcome: str,
    code: int,
    apart: bool,
) -> None:
    served.put("/v1/clusters/c1", {"slots": 4})
    served.post("/v1/agents", {"uid": "a1", "cluster": "c1"})
    served.sync(1)

    def turn(seconds: float) -> None:
        """What happens while the command sleeps."""
        served.post("/v1/rounds:run")
        served.round()
        (run,) = served.sync(2)["run"]
        run = {"placement": run["placement"], "token": run["token"], "outcome": outcome}
        served.sync(3, finished=[run])

    monkeypatch.setattr(time, "sleep", turn)
    words = "task submit --name quick --max-attempts 1 -o json"
    if apart:
        walras(*shlex.split(f"{words} -- true"))
        (found,) = json.loads(walras("task", "wait", "quick", "-o", "json", code=code))
    else:
        found = json.loads(walras(*shlex.split(f"{words} --wait -- true"), code=code))
    assert found["state"] == ("succeeded" if code == 0 else "failed")
    assert found["cluster"] == "c1"


def test_waiting_for_several_ends_after_the_seconds_as_they_are(
    walras: Run, served: Served
) -> None:
    for name in ("a", "b"):
        served.task(name)
    shown = walras("task", "wait", "a", "b", "--seconds", "0.05", "-o", "json", code=1)
    assert [one["state"] for one in json.loads(shown)] == ["pending", "pending"]
    walras("task", "wait", "a", "nobody", code=1)  # before it waits for a


def test_a_list_that_is_cut_says_so(
    walras: Run, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b", "c"):
        served.task(name)
    shown = json.loads(walras("task", "list", "--most", "2", "-o", "json"))
    assert [one["name"] for one in shown] == ["c", "b"]


def test_a_receipt_without_a_prediction_or_a_runner_up() -> None:
    found = views.Receipt(
        task="t-1",
        attempt=1,
        cluster="east",
        round=3,
        state="running",
        receipt={
            "seconds": 5.0,
            "seconds_interval": [4.0, 6.0],
            "chance": 0.9,
            "chance_interval": [0.8, 1.0],
        },
        result=None,
        rejected=None,
        reason=None,
        audits=[],
        audit_of=None,
    )
    assert list(task.receipt_lines(found)) == [
        "predicted time: 5 s, 90 % within 4 to 6 s",
        "predicted success: 0.9, 90 % within 0.8 to 1",
        "runner-up: none, no other cluster could take it",
    ]
    assert list(task.receipt_lines(found.model_copy(update={"receipt": None}))) == []


def test_a_task_is_submitted_listed_shown_explained_and_cancelled(walras: Run) -> None:
    asked = """task submit --name train-7 --feature layers=50 --slots 2 --priority 3
        --min-success .8 --max-attempts 3 --require gpu=h100 --env SEED=1 --time-limit 60
        --deadline 3600 -o json -- python train.py --lr 0.1"""
    said = walras(*shlex.split(asked))
    made = json.loads(said)
    assert made["state"] == "pending"
    shown = yaml.safe_load(walras("task", "show", "train-7", "-o", "yaml"))
    assert shown["command"] == ["python", "train.py", "--lr", "0.1"]
    assert (shown["features"], shown["requires"]) == ({"layers": 50.0}, {"gpu": "h100"})
    assert "train-7" in walras("task", "show", "train-7")
    assert "train-7" in walras("task", "list", "--state", "pending")
    assert "train-7" not in walras("task", "list", "--state", "running")
    assert "train-7 is pending" in walras("why", "train-7")
    assert json.loads(walras("task", "why", "train-7", "-o", "json"))["state"] == "pending"
    assert "by tenant default" in walras("task", "log", "train-7")
    assert "cancelled" in walras("task", "cancel", made["uid"])


def test_a_receipt_tells_all_in_words() -> None:
    receipt = {
        "seconds": 50.0,
        "seconds_interval": [40.0, None],
        "chance": 0.9,
        "chance_interval": [0.8, 0.95],
        "runner_up": "west",
        "runner_up_seconds": 70.0,
        "runner_up_chance": 0.99,
        "makespan_if_moved": 80.0,
        "binds": "makespan",
        "slot_price": 1.5,
        "floor_price": 0.0,
        "propensity": 0.25,
        "random": True,
        "state": "ok",
        "method": "exact",
        "predictor": "predictor 3",
        "gap": 0.01,
    }
    found = views.Receipt(
        task="t-1",
        attempt=1,
        cluster="east",
        round=3,
        state="succeeded",
        receipt=receipt,
        result="disputed",
        rejected=1e9,
        reason="empty",
        audits=["agreed"],
        audit_of=None,
    )
    lines = list(task.receipt_lines(found))
    assert lines[:3] == [
        "predicted time: 50 s, 90 % within 40 to any s",
        "predicted success: 0.9, 90 % within 0.8 to 0.95",
        "runner-up: west, 70 s, success 0.99; makespan there 80 s",
    ]
    words = "\n".join(lines[3:])
    for part in (
        "binds: makespan",
        "price of a slot: 1.5 s",
        "placed at random",
        "chance 0.25",
        "by exact, predictor 3, gap 1.00%",
        "result: disputed; audits: agreed",
        ": empty",
    ):
        assert part in words
    again = found.model_copy(update={"receipt": None, "result": None, "audit_of": "t-0"})
    assert next(task.receipt_lines(again)) == "audits the result of t-0"


def test_a_result_is_rejected_and_audits_are_listed(walras: Run, served: Served) -> None:
    _, grant = served.running("a")
    done = {"placement": grant["placement"], "token": grant["token"], "outcome": "completed"}
    served.sync(9, finished=[done])
    assert "quarantined" in walras("task", "reject", "a", "--reason", "empty")
    assert "result: quarantined" in walras("task", "receipt", "a")
    assert json.loads(walras("task", "audits", "-o", "json")) == []
