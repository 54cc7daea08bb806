"""What goes wrong at the exchange's command line: one clear error, a stable exit code."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import typer
from tests.exchange.api.process import Process

from walras.cli import main as command
from walras.cli.exchange import agent, cluster, db, kueue, predictor, serve, task, tenant, token
from walras.cli.exchange import round as rounds
from walras.exchange import client
from walras.exchange.store.migrate import connected, migrate

COMMANDS = {
    "task submit": "--name a -- true",
    "task wait": "t-1",
    "task list": "",
    "task show": "t-1",
    "task why": "t-1",
    "task receipt": "t-1",
    "task log": "t-1",
    "task cancel": "t-1",
    "task reject": "t-1 --reason x",
    "task audits": "",
    "task release": "t-1",
    "why": "t-1",
    "cluster list": "",
    "cluster add": "east --slots 1",
    "cluster import": "--from skypilot {catalog}",
    "cluster drain": "east",
    "cluster cordon": "east",
    "cluster uncordon": "east",
    "round list": "",
    "round show": "1",
    "round run": "",
    "round diff": "1 2",
    "whatif": "",
    "predictor list": "",
    "predictor train": "",
    "predictor promote": "1",
    "predictor rollback": "",
    "tenant list": "",
    "tenant add": "lab",
    "tenant change": "lab",
    "token create": "ann --scope read",
    "token list": "",
    "token revoke": "k-1",
    "agent run": "--server {server} --cluster here --home {home}",
}
"""Command -> what it needs besides the service."""
GROUPS = {
    "task": task.app,
    "cluster": cluster.app,
    "round": rounds.app,
    "predictor": predictor.app,
    "tenant": tenant.app,
    "token": token.app,
    "agent": agent.app,
    "db": db.app,
    "kueue": kueue.app,
}


def _leaves() -> Iterator[tuple[str, Any]]:
    for name, app in GROUPS.items():
        found: Any = typer.main.get_command(app)
        for word, leaf in found.commands.items():
            yield f"{name} {word}", leaf
    alone = typer.Typer(add_completion=False)
    for function in (serve.serve, rounds.whatif, task.why):
        alone.command()(function)
    both: Any = typer.main.get_command(alone)
    yield from both.commands.items()


LEAVES = dict(_leaves())


def test_every_command_has_examples_and_prints_three_formats() -> None:
    for name, leaf in LEAVES.items():
        assert "Examples:" in leaf.help, name
        assert f"walras {name.removeprefix('task ')}" in leaf.help.replace(
            "walras task ", "walras "
        )
        options = {word for parameter in leaf.params for word in parameter.opts}
        speaks = name != "agent run" and not name.startswith("serve")
        assert ("-o" in options) == speaks, name
    # The dispatcher goes on without the exchange; its own service is Kubernetes: test_kueue.py.
    away = {n for n in LEAVES if not n.startswith(("db ", "serve", "kueue "))}
    assert set(COMMANDS) == away


@pytest.mark.parametrize("name", COMMANDS)
def test_with_the_service_away_there_is_one_clear_error(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(client, "_AGAIN", ())
    monkeypatch.setenv("WALRAS_TOKEN", "wlr_of_nobody")
    monkeypatch.setenv("WALRAS_SERVER", "http://127.0.0.1:1")
    catalog = tmp_path / "vms.csv"
    catalog.write_text("InstanceType,Region,Price,SpotPrice\na,b,1,\n", encoding="utf-8")
    at = {"server": "http://127.0.0.1:1", "home": tmp_path, "catalog": catalog}
    words = COMMANDS[name].format(**at)
    monkeypatch.setattr(sys, "argv", ["walras", *name.split(), *shlex.split(words)])
    with pytest.raises(SystemExit) as caught:
        command.main()
    said = capsys.readouterr()
    assert (caught.value.code, said.out) == (1, "")
    lines = said.err.splitlines()
    assert lines[0].startswith("error[unreachable]: does not answer: ")
    assert lines[1:] == [
        "  where:   http://127.0.0.1:1",
        "  allowed: the address of a service that runs",
        "  remedy:  see that walras serve runs, and that the address is right",
    ]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with Process(tmp_path_factory.mktemp("errors") / "home") as made:
        yield made


def _end(*words: str, **more: str) -> tuple[int, list[str]]:
    """Exit code and standard error of a command in a process of its own."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("WALRAS_")} | more
    run = subprocess.run(
        [sys.executable, "-m", "walras", *words],
        capture_output=True,
        text=True,
        timeout=120,
        env=env,
        check=False,
    )
    assert "Traceback" not in run.stderr
    assert run.stdout == ""
    return run.returncode, run.stderr.splitlines()


def test_a_wrong_token_is_refused(service: Process) -> None:
    code, said = _end("task", "list", "--server", service.url, WALRAS_TOKEN="wlr_" + "x" * 43)
    assert code == 2
    assert said[0].startswith("error[token]: token: is ")
    assert "walras token create" in said[-1]


def test_what_is_not_there_is_named(service: Process) -> None:
    at = ("--server", service.url, "--token-file", str(service.home / "admin.token"))
    code, said = _end("cluster", "drain", "nowhere", *at)
    assert code == 2
    assert "there is no cluster 'nowhere'" in said[0]
    assert said[-1] == "  remedy:  walras cluster list shows them"


@pytest.mark.parametrize(
    ("option", "value", "what"),
    [
        ("--min-success", "1.5", "input should be less than or equal to 1"),
        ("--min-success", "nan", "is nan"),
        ("--deadline", "inf", "is inf"),
        ("--slots", "0", "input should be greater than or equal to 1"),
        ("--feature", "layers=nan", "is nan"),
        ("--env", "A=\udcff", "is no text"),
    ],
)
def test_a_bad_value_is_one_error_that_names_the_option_or_the_field(
    service: Process, option: str, value: str, what: str
) -> None:
    at = ("--server", service.url, "--token-file", str(service.home / "admin.token"))
    code, said = _end("task", "submit", "--name", "bad", option, value, *at, "--", "true")
    where = {"--feature": "features/layers", "--env": "environment/A"}.get(option, option)
    assert (code, said[:2]) == (2, [f"error[exchange]: {what}", f"  where:   {where}"])
    assert [line.split(":")[0] for line in said[2:]] == ["  allowed", "  remedy"]


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, said = _end("serve", "--home", str(tmp_path / "home"), "--port", port)
    assert code == 2
    found = [line for line in said if not line.startswith("{")]
    assert "in use" in found[0]
    assert found[1] == f"  where:   127.0.0.1:{port}"
    assert found[-1].startswith("  remedy:  choose another --port")


def test_a_home_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/exchange.db"
    migrate(url)
    with connected(url) as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    for words in (("serve", "--port", "0"), ("db", "check"), ("db", "migrate")):
        code, said = _end(*words, "--home", str(tmp_path))
        assert code == 1
        found = [line for line in said if not line.startswith("{")]
        assert "has schema 9999, which is newer than this Walras" in found[0]
        assert found[-1].startswith("  remedy:  install the newer Walras again")


@pytest.mark.parametrize("damage", ["text", "cut", "overwritten"])
def test_a_damaged_database_is_named_and_a_backup_takes_its_place(
    damage: str, tmp_path: Path
) -> None:
    file, backup = tmp_path / "exchange.db", tmp_path / "backup.db"
    for path in (file, backup):
        migrate(f"sqlite:///{path}")
    whole = file.read_bytes()
    file.write_bytes(
        {
            "text": b"no database, but a text that is longer than a header of one hundred bytes\n"
            * 9,
            "cut": whole[: len(whole) // 4],
            "overwritten": whole[:8192] + b"\xff" * (len(whole) - 8192),
        }[damage]
    )
    commands = (
        [("db", "check")] if damage != "cut" else [("serve", "--port", "0"), ("db", "migrate")]
    )
    for words in commands:
        code, said = _end(*words, "--home", str(tmp_path))
        assert code == 1
        found = [line for line in said if not line.startswith("{")]
        assert found[0].endswith(("file is not a database", "database disk image is malformed"))
        assert found[1] == f"  where:   {file}"
        assert found[-1].endswith("put a backup in its place, walras db restore FILE --replace")
    if damage != "cut":
        return
    restore = ["db", "restore", str(backup), "--home", str(tmp_path), "--replace"]
    subprocess.run([sys.executable, "-m", "walras", *restore], check=True, capture_output=True)
    checked = [sys.executable, "-m", "walras", "db", "check", "--home", str(tmp_path)]
    assert subprocess.run(checked, check=True, capture_output=True).stdout == b"nothing is wrong\n"


def test_a_home_that_is_served_is_not_served_twice_nor_restored_over(
    service: Process, tmp_path: Path
) -> None:
    code, said = _end("serve", "--home", str(service.home), "--port", "0")
    assert code != 0
    assert any("another process serves it" in line for line in said)
    copy = str(tmp_path / "copy.db")
    made = [sys.executable, "-m", "walras", "db", "backup", "--home", str(service.home)]
    subprocess.run([*made, "--to", copy], check=True, capture_output=True, timeout=120)
    code, said = _end("db", "restore", copy, "--home", str(service.home), "--replace")
    assert code != 0
    assert "another process serves it" in said[0]


def test_an_agent_whose_name_another_one_takes_ends_with_one_error(tmp_path: Path) -> None:
    """The service knows a later life of the name: the earlier agent must not go on."""
    with Process(tmp_path / "exchange", interval=1.0) as service, ExitStack() as ends:
        at = ["--server", service.url, "--token-file", str(service.home / "admin.token")]
        agents = []
        for name in ("one", "two"):
            options = ["--cluster", "here", "--name", "a", "--slots", "1"]
            home = ["--home", str(tmp_path / name)]
            agents.append(
                subprocess.Popen(
                    [sys.executable, "-m", "walras", "agent", "run", *at, *options, *home],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            ends.enter_context(agents[-1])  # closes its pipes and waits for it
            ends.callback(agents[-1].kill)
            said = iter(agents[-1].stderr or ())
            assert any(f"agent a, life {len(agents)}, serves" in line for line in said)
        printed, errors = agents[0].communicate(timeout=60)
        assert (agents[0].returncode, printed) == (2, "")
        assert errors.splitlines() == [
            "error[exchange]: another agent of this name has begun",
            "  where:   agent a",
            "  allowed: one agent a name",
            "  remedy:  stop the other one, or give this one a --name of its own",
        ]
        agents[1].send_signal(signal.SIGINT)
        _, errors = agents[1].communicate(timeout=60)
        assert (agents[1].returncode, errors) == (0, "stopped\n")


def test_completion_is_written_for_a_shell() -> None:
    asked = {"_WALRAS_COMPLETE": "complete_bash", "COMP_WORDS": "walras task re", "COMP_CWORD": "2"}
    run = subprocess.run(
        [sys.executable, "-m", "walras"],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | asked,
        check=False,
    )
    assert set(run.stdout.split()) == {"receipt", "reject", "release"}, run.stderr
