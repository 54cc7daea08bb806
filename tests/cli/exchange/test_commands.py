"""Every command of the exchange, on a service in this process."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient
from tests.exchange.api.serving import Served
from typer.testing import CliRunner

from walras.cli.exchange import cluster, connect, db, predictor, task, tenant, token
from walras.cli.exchange import round as rounds
from walras.cli.main import app
from walras.errors import InputError
from walras.exchange.api import views
from walras.exchange.client import Client

Run = Callable[..., str]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path / "home")
    yield made
    made.close()


@pytest.fixture
def walras(served: Served, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as the admin; what it prints."""

    def client_of(server: str, token_file: Path | None) -> Client:
        transport: Any = TestClient(served.app, raise_server_exceptions=False)
        transport.headers["Authorization"] = f"Bearer {served.tokens['admin']}"
        return Client(server, "", transport=transport)

    for module in (cluster, predictor, rounds, task, tenant, token):
        monkeypatch.setattr(module, "client_of", client_of)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: str, code: int = 0) -> str:
        found = CliRunner().invoke(app, words)
        assert found.exit_code == code, found.output
        return found.stdout

    return run


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


def test_clusters_are_added_changed_and_drained(walras: Run) -> None:
    walras("cluster", "add", "east", "--slots", "8", "--label", "gpu=h100", "--price", "2.5")
    again = json.loads(walras("cluster", "add", "east", "--slots", "9", "-o", "json"))
    assert (again["slots"], again["version"]) == (9, 2)
    assert "east" in walras("cluster", "list")
    assert "draining" in walras("cluster", "drain", "east")
    assert "cordoned" in walras("cluster", "cordon", "east")
    assert "up" in walras("cluster", "uncordon", "east")


def test_rounds_predictors_tenants_and_tokens(walras: Run) -> None:
    assert "seq" in walras("round", "list")
    assert "waiting" in walras("round", "run", "--wait", "0")
    assert "version" in walras("predictor", "list")
    assert "train" in walras("predictor", "train")
    assert "lab" in walras("tenant", "add", "lab", "--weight", "2", "--quota", "40")
    assert "3" in walras("tenant", "change", "lab", "--weight", "3")
    assert "lab" in walras("tenant", "list")
    made = walras("token", "create", "ann", "--scope", "read", "--tenant", "lab", "--days", "1")
    assert made.startswith("wlr_")
    listed = json.loads(walras("token", "list", "-o", "json"))
    uid = next(t["uid"] for t in listed if t["name"] == "ann")
    assert "revoked" in walras("token", "revoke", uid)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["round", "show", "7"], "there is no round"),
        (["round", "diff", "7", "8"], "there is no round"),
        (["predictor", "promote", "3"], "there is no predictor"),
        (["predictor", "rollback"], "predictor"),
        (["task", "show", "nothing"], "there is no task"),
        (["task", "receipt", "nothing"], "there is no task"),
        (["task", "release", "nothing"], "there is no task"),
        (["task", "submit", "--name", "NO", "--", "true"], "name"),
    ],
)
def test_what_is_refused_is_an_error_of_walras(walras: Run, words: list[str], what: str) -> None:
    found = CliRunner().invoke(app, words)
    assert found.exit_code != 0
    assert what in str(found.exception)


@pytest.mark.parametrize(
    ("given", "kind", "found"),
    [
        (["a=1", "b=2.5"], float, {"a": 1.0, "b": 2.5}),
        (["a=x=y", "b="], str, {"a": "x=y", "b": ""}),
        (None, str, {}),
    ],
)
def test_pairs_are_read(given: list[str] | None, kind: Any, found: dict[str, Any]) -> None:
    assert connect.key_values(given, "feature", kind) == found


@pytest.mark.parametrize("given", [["a"], ["=1"], ["a=1", "a=2"], ["a=x"]])
def test_pairs_that_are_none_are_refused(given: list[str]) -> None:
    with pytest.raises(InputError, match="--feature: is"):
        connect.key_values(given, "feature", float)


def test_a_token_is_read_or_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WALRAS_TOKEN", raising=False)
    with pytest.raises(InputError, match="there is no token"):
        connect.read_token(None)
    with pytest.raises(InputError, match="cannot be read"):
        connect.read_token(tmp_path / "none")
    (tmp_path / "token").write_text("wlr_abc\n")
    assert connect.read_token(tmp_path / "token") == "wlr_abc"
    monkeypatch.setenv("WALRAS_TOKEN", "wlr_def")
    assert connect.read_token(None) == "wlr_def"


def test_a_database_is_migrated_backed_up_and_checked(served: Served, tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(app, ["db", *words])

    home = str(tmp_path / "home")
    assert run("migrate", "--home", home).stdout.strip()
    copy = tmp_path / "copy.db"
    assert run("backup", "--home", home, "--to", str(copy)).stdout.strip() == str(copy)
    assert run("check", "--home", home).stdout == "nothing is wrong\n"
    assert run("check", "--database", f"sqlite:///{copy}").exit_code == 0
    with pytest.raises(InputError, match="both missing"):
        db._url(None, None)
    with pytest.raises(InputError, match="holds no exchange"):
        db._url(tmp_path, None)


def test_a_receipt_tells_all_in_words() -> None:
    receipt = {
        "seconds": 50.0, "seconds_interval": [40.0, None], "chance": 0.9,
        "chance_interval": [0.8, 0.95], "runner_up": "west", "runner_up_seconds": 70.0,
        "runner_up_chance": 0.99, "makespan_if_moved": 80.0, "binds": "makespan",
        "slot_price": 1.5, "floor_price": 0.0, "propensity": 0.25, "random": True,
        "state": "ok", "method": "exact", "predictor": "predictor 3", "gap": 0.01,
    }  # fmt: skip
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
        "binds: makespan", "price of a slot: 1.5 s", "placed at random", "chance 0.25",
        "by exact, predictor 3, gap 1.00%", "result: disputed; audits: agreed", ": empty",
    ):  # fmt: skip
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
