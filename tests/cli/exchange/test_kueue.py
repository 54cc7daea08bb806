"""``walras kueue dispatch``: its options, what it prints, how it ends, what goes wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from tests.exchange.api.serving import Served
from tests.exchange.dispatch.fake_kueue import FakeKueue
from tests.exchange.dispatch.serving_kueue import TOKEN, ServingKueue
from tests.exchange.runtime.test_deciding import _model as trained_model
from typer.testing import CliRunner

from walras.cli import main as command
from walras.cli.exchange import kueue
from walras.cli.main import app
from walras.errors import InputError
from walras.exchange.service import learning, predictors
from walras.exchange.store.statements import Transaction


@pytest.fixture
def serving() -> Iterator[ServingKueue]:
    fake = FakeKueue()
    fake.chain("east", "north", "west")
    fake.workload("w")
    with ServingKueue(fake) as made:
        yield made


@pytest.fixture
def words(serving: ServingKueue, tmp_path: Path) -> list[str]:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    return ["kueue", "dispatch", "--server", serving.url, "--token-file", str(token)]


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WALRAS_SERVER", "WALRAS_TOKEN_FILE", "WALRAS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "120")


def test_one_pass_prints_where_workloads_stand(words: list[str]) -> None:
    found = CliRunner().invoke(app, [*words, "--once", "--batch", "2"])
    assert found.exit_code == 0, found.output
    assert "east north" in found.stdout
    assert "by order of the MultiKueueConfig: no exchange is named" in found.stderr
    again = CliRunner().invoke(app, [*words, "--once", "-o", "json"])
    assert json.loads(again.stdout) == [
        {
            "namespace": "lab",
            "workload": "w",
            "state": "waits",
            "nominated": ["east", "north"],
            "text": "more clusters are added later",
        }
    ]
    document = yaml.safe_load(CliRunner().invoke(app, [*words, "--once", "-o", "yaml"]).stdout)
    assert document == json.loads(again.stdout)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """An exchange at http://testserver, over the typed client."""
    from starlette.testclient import TestClient

    from walras.exchange import client as module

    made = Served(tmp_path / "home")

    class Client(module.Client):
        def __init__(self, server: str, token: str, **more: Any) -> None:
            assert (server, more["tries"]) == ("http://testserver", 1)
            transport: Any = TestClient(made.app, headers={"Authorization": f"Bearer {token}"})
            super().__init__(server, token, transport=transport)

    monkeypatch.setattr(module, "Client", Client)
    monkeypatch.setenv("WALRAS_TOKEN", made.tokens["reader"])
    yield made
    made.close()


def test_an_exchange_that_has_learned_nothing_says_so(words: list[str], served: Served) -> None:
    found = CliRunner().invoke(app, [*words, "--once", "--exchange", "http://testserver"])
    assert found.exit_code == 0, found.output
    assert "the exchange has no predictor for these features and clusters" in found.stderr


def test_clusters_are_ordered_by_the_exchanges_own_predictor(
    words: list[str], served: Served, serving: ServingKueue
) -> None:
    """A predictor that was trained on ``rows``: fast on east, slow on west, north unknown."""

    def promoted(tx: Transaction, now: float) -> None:
        version = learning.store(tx, now, trained_model(), ("east", "west"), 5, {})
        predictors.promote(tx, now, version, "admin")

    served.exchange.write(promoted)
    serving.fake.chain("west", "north", "east")
    serving.fake.delete("w")
    template = {"metadata": {"annotations": {"walras.dev/feature-rows": "2"}}}
    serving.fake.workload("w", spec={"podSets": [{"count": 1, "template": template}]})
    found = CliRunner().invoke(app, [*words, "--once", "--exchange", "http://testserver"])
    assert found.exit_code == 0, found.output
    assert serving.fake.names("w") == ["east", "west", "north"]
    assert "order of the MultiKueueConfig" not in found.stderr


def test_an_exchange_that_is_away_does_not_keep_workloads_waiting(
    words: list[str], serving: ServingKueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALRAS_TOKEN", "wlr_of_nobody")
    found = CliRunner().invoke(app, [*words, "--once", "--exchange", "http://127.0.0.1:1"])
    assert found.exit_code == 0, found.output
    assert "the exchange gives no predictions: http://127.0.0.1:1" in found.stderr
    assert serving.fake.names("w") == ["east", "north", "west"]


def _end(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["walras", *words])
    with pytest.raises(SystemExit) as caught:
        command.main()
    return int(str(caught.value.code))


def test_with_the_api_server_away_there_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _end(monkeypatch, "kueue", "dispatch", "--server", "http://127.0.0.1:1") == 1
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines[0].startswith("error[unreachable]: does not answer: ")
    assert lines[1:] == [
        "  where:   http://127.0.0.1:1",
        "  allowed: the address of a Kubernetes API server that runs",
        "  remedy:  see that --server is right, and --ca-file has the server's authority",
    ]


def test_without_a_service_account_or_an_address_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _end(monkeypatch, "kueue", "dispatch") == 2
    assert "there is no service account here" in capsys.readouterr().err


def test_without_the_policy_it_refuses(
    words: list[str],
    serving: ServingKueue,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    serving.fake.policy = False
    assert _end(monkeypatch, *words) == 2
    said = capsys.readouterr().err
    assert said.startswith("error[exchange]: is not there: Kueue could not clear the names")
    assert "MutatingAdmissionPolicy kueue-clear-nominated-cluster-names" in said
    assert "enableMutatingAdmissionPolicy=true" in said
    assert serving.fake.writes == []


def test_a_wrong_token_is_refused(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "token").write_text("wrong")
    assert _end(monkeypatch, *words) == 2
    assert "error[token]: the API server does not know the token" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["name", "a/", "/b", "a/b/c"])
def test_what_names_no_config_map_is_refused(place: str) -> None:
    with pytest.raises(InputError, match="NAMESPACE/NAME"):
        kueue._check_place(place)


def test_the_managers_configuration_need_not_be_looked_at(words: list[str]) -> None:
    found = CliRunner().invoke(app, [*words, "--once", "--manager-config", ""])
    assert found.exit_code == 0, found.output


def test_a_port_that_is_taken_is_named(
    words: list[str],
    serving: ServingKueue,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    port = serving.url.rpartition(":")[2]
    assert _end(monkeypatch, *words, "--metrics-port", port) == 2
    assert "--metrics-port: cannot be listened on" in capsys.readouterr().err.replace(
        "error[input]: ", "--metrics-port: "
    )


def test_every_option_is_told_and_the_gate_has_its_name() -> None:
    found: Any = typer.main.get_command(kueue.app)
    leaf = found.commands["dispatch"]
    options = {word for parameter in leaf.params for word in parameter.opts}
    assert {"--server", "--token-file", "--ca-file", "--once", "-o"} <= options
    assert "--workload-request-use-merge-patch" in options
    assert "walras kueue dispatch" in leaf.help


def _until(what: Callable[[], bool], seconds: float = 30.0) -> None:
    last = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < last, "in vain"
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_well(
    words: list[str], serving: ServingKueue, number: signal.Signals
) -> None:
    more = ["-o", "json", "--metrics-port", "0"]
    run = subprocess.Popen(
        [sys.executable, "-m", "walras", *words, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("WALRAS_")},
    )
    with run:
        try:
            assert run.stdout is not None
            assert run.stderr is not None
            first = run.stderr.readline()
            assert first.startswith("metrics at http://127.0.0.1:")
            record = json.loads(run.stdout.readline())
            assert record["workload"] == "w"
            assert record["nominated"] == ["east", "north", "west"]
            with urllib.request.urlopen(first.split()[-1], timeout=10) as answer:
                text = answer.read().decode()
            assert 'walras_kueue_nominations_total{cluster="east"} 1.0' in text
            run.send_signal(number)
            printed, said = run.communicate(timeout=20)
        finally:
            run.kill()
    assert (run.returncode, printed) == (0, "")
    assert said.splitlines()[-1] == "stopped"
    assert "Traceback" not in said


@pytest.mark.parametrize("output", ["table", "yaml"])
def test_writes_are_printed_as_they_happen(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    from walras.cli.exchange.connect import Format
    from walras.exchange.dispatch.records import Expected, Nominated

    expected = Expected(cluster="east", seconds=12.0, chance=0.97)
    record = Nominated(
        at=1.0,
        namespace="lab",
        workload="w",
        added=[expected],
        nominated=["east"],
        by="predictor 3",
        why="",
    )
    kueue._printer(Format(output))(record)
    printed = capsys.readouterr().out
    if output == "table":
        assert printed == "lab/w: nominated east (12 s, chance 0.97), by predictor 3\n"
    else:
        assert list(yaml.safe_load_all(printed)) == [record.model_dump(mode="json")]
