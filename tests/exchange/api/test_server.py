"""The service as a process: it starts, refuses with one clear error, and ends soon."""

from __future__ import annotations

import json
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.exchange.api.process import Process

from walras.exchange.api.address import Address, bind
from walras.exchange.api.server import serve
from walras.exchange.errors import (
    ConflictError,
    ExchangeError,
    FieldError,
    SchemaError,
    ServeError,
    StoreError,
)
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.store.migrate import connected


def test_from_an_empty_folder_to_a_grant_and_to_the_end(tmp_path: Path) -> None:
    with Process(tmp_path / "home", interval=1.0) as one:
        token = one.home / "admin.token"
        assert stat.S_IMODE(one.home.stat().st_mode) == 0o700
        for path in (token, one.home / "exchange.db", one.home / "exchange.db-wal"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        one.put("/v1/clusters/c1", {"slots": 1})
        one.post("/v1/agents", {"uid": "a1", "cluster": "c1"})
        one.post("/v1/agents/a1/sync", {"incarnation": 1, "seq": 1, "free": 1})
        one.post("/v1/tasks", {"name": "a", "command": ["true"]})
        runs: list[object] = []
        seq = 1
        while not runs and time.monotonic() - one.began < 60:
            seq += 1
            body = {"incarnation": 1, "seq": seq, "free": 1}
            runs = one.post("/v1/agents/a1/sync", body)["run"]
        assert len(runs) == 1
        assert one.end(signal.SIGINT) == 0
        lines = [json.loads(line) for line in one.log]
        assert {"serving", "request"} <= {line["message"] for line in lines}
        assert all(line["request_id"] for line in lines if line["message"] == "request")
        before = token.read_text()
    with Process(tmp_path / "home") as again:  # the same home, later: the token is as it was
        assert token.read_text() == before
        assert again.client.get("/v1/tasks").json()["items"][0]["state"] == "leased"


def test_a_policy_holds_also_after_a_start_without_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    entries: list[float] = []
    cases: tuple[dict[str, Any], ...] = ({"policy": {"rules": {"min_success": 0.6}}}, {})
    for given in cases:
        with Process(home, interval=0.2, **given) as one:
            one.post("/v1/rounds:run")
            name = f"a{len(entries)}"
            one.post("/v1/tasks", {"name": name, "command": ["true"]})
            last = time.monotonic() + 30.0
            rounds: list[dict[str, Any]] = []
            while len(rounds) <= len(entries) and time.monotonic() < last:
                rounds = one.client.get("/v1/rounds").json()["items"]
                time.sleep(0.1)
            seq = rounds[0]["seq"]
            found = one.client.get(f"/v1/rounds/{seq}").json()["policy"]["rules"]
            entries.append(found["min_success"])
            log = one.client.get("/v1/audit").json()["items"]
            assert [entry["action"] for entry in log].count("policy.set") == 1
    assert entries == [0.6, 0.6]


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_open_streams_do_not_hold_the_end_up(tmp_path: Path, sig: signal.Signals) -> None:
    with Process(tmp_path / "home") as one:
        ended = threading.Event()
        started = threading.Event()

        def follow() -> None:
            with one.client.stream("GET", "/v1/events", timeout=60.0) as response:
                for _ in response.iter_raw():
                    started.set()
            ended.set()

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        assert started.wait(20.0)
        began = time.monotonic()
        assert one.end(sig) == 0
        assert time.monotonic() - began < 3.0
        assert ended.wait(5.0)  # the stream was closed in order, not cut off


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("where", ["warm", "open", "on_start"])
def test_a_signal_while_it_begins_ends_it_in_order(
    tmp_path: Path, sig: signal.Signals, where: str
) -> None:
    script = f"""
import os, signal, sys
for number in (signal.SIGHUP, signal.SIGTERM):  # who runs the tests may ignore them
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
from walras.exchange.api import server
from walras.exchange.runtime import compute, exchange
def end(*_):
    os.kill(os.getpid(), {int(sig)})
def after(whole):
    def work(*given, **named):
        made = whole(*given, **named)
        end()
        return made
    return work
where, home = sys.argv[1:]
given = {{}}
if where == "warm":
    compute.Compute._running = after(compute.Compute._running)
elif where == "open":
    exchange.Exchange.open = after(exchange.Exchange.open)
else:
    given["on_start"] = end
server.serve(home, port=0, **given)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, where, str(tmp_path / "home")],
        capture_output=True,
        text=True,
        timeout=60.0,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_stream_resumes_after_the_last_event_that_was_seen(tmp_path: Path) -> None:
    with Process(tmp_path / "home") as one:
        one.post("/v1/tasks", {"name": "first", "command": ["true"]})

        def events(last: str | None, count: int) -> list[tuple[str, str]]:
            headers = {} if last is None else {"Last-Event-ID": last}
            found: list[tuple[str, str]] = []
            with one.client.stream("GET", "/v1/events", headers=headers, timeout=30.0) as response:
                number = ""
                for line in response.iter_lines():
                    name, _, value = line.partition(": ")
                    if name == "id":
                        number = value
                    elif name == "event":
                        found.append((number, value))
                        if len(found) == count:
                            return found
            return found

        first = events("0", 1)
        assert first[0][1] == "task.submitted"
        for k in range(3):
            one.post("/v1/tasks", {"name": f"n{k}", "command": ["true"]})
        later = events(first[0][0], 3)
        assert len({number for number, _ in later}) == 3
        assert min(int(number) for number, _ in later) > int(first[0][0])
        assert events(later[0][0], 2) == later[1:]


def test_a_body_of_64_mib_in_chunks_is_refused_without_memory(tmp_path: Path) -> None:
    def memory(pid: int) -> int:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024

    def parts() -> Iterator[bytes]:
        for _ in range(64):
            yield b" " * 2**20

    with Process(tmp_path / "home") as one:
        headers = {"Content-Type": "application/json"}
        one.post("/v1/tasks", {"name": "a", "command": ["true"]})
        before = memory(one.process.pid)
        for given in (headers, headers | {"Authorization": "Bearer none"}):
            response = one.client.post("/v1/tasks", content=parts(), headers=given)
            assert response.status_code == (413 if given is headers else 401)
            assert response.headers["content-type"] == "application/problem+json"
        assert memory(one.process.pid) - before < 32
        one.post("/v1/tasks", {"name": "b", "command": ["true"]})


def test_a_connection_outlives_the_pause_between_two_syncs(tmp_path: Path) -> None:
    with Process(tmp_path / "home") as one:
        port = int(one.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10.0) as connection:
            for pause in (0.0, 6.0):  # longer than uvicorn's own five seconds
                time.sleep(pause)
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                answer = b""
                while b'"version"' not in answer:
                    answer += connection.recv(4096)
                assert answer.startswith(b"HTTP/1.1 200")


def _refused(kind: type[ExchangeError], words: str, home: Path, **given: object) -> None:
    with pytest.raises(kind, match=words) as caught:
        serve(home, **given)  # type: ignore[arg-type]
    assert caught.value.where
    assert caught.value.remedy


def test_a_port_in_use_is_one_clear_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        _refused(ServeError, "already in use", tmp_path / "home", port=port)
    assert not (tmp_path / "home").exists()  # nothing was begun


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_beyond_this_machine_tls_in_front_must_be_stated(tmp_path: Path, host: str) -> None:
    _refused(ServeError, "--tls-in-front", tmp_path / "home", host=host, port=0)


def test_a_host_or_port_that_cannot_be_had_is_refused(tmp_path: Path) -> None:
    _refused(ServeError, "192.0.2.1:0", tmp_path / "h", host="192.0.2.1", port=0, tls_in_front=True)
    _refused(FieldError, "0 to 65535", tmp_path / "h", port=70_000)
    _refused(FieldError, "interval: is -1", tmp_path / "h", port=0, interval=-1.0)
    bind(Address("0.0.0.0", 0, tls_in_front=True)).close()
    bind(Address("::1", 0)).close()


def test_a_home_that_cannot_be_used_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    _refused(StoreError, "cannot be written", tmp_path / "file", port=0)
    _refused(StoreError, "cannot be written", tmp_path / "file" / "below", port=0)
    _refused(StoreError, "database: is 'mysql'", tmp_path / "h", port=0, database="mysql://x/y")
    with Exchange.open(tmp_path / "home") as first:
        _refused(ConflictError, "another process serves it", tmp_path / "home", port=0)
        url = first.url
    with connected(url) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    _refused(SchemaError, "9999, which is newer", tmp_path / "home", port=0)


def test_a_full_disk_is_one_clear_error_and_leaves_no_half_home(tmp_path: Path) -> None:
    code = (
        "import sys; from walras.exchange.api.server import serve\n"
        "from walras.errors import WalrasError\n"
        f"try: serve({str(tmp_path / 'home')!r}, port=0)\n"
        "except WalrasError as error: sys.exit(f'{type(error).__name__}: {error}')\n"
    )

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

    run = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=small,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 1
    error = run.stderr.strip().splitlines()[-1]
    assert error.startswith("StoreError: ")
    assert "remedy: " in error
    assert "Traceback" not in run.stderr
    with Exchange.open(tmp_path / "home"):  # with room again it begins as if for the first time
        assert (tmp_path / "home" / "admin.token").exists()


def test_a_killed_service_loses_nothing_that_it_answered(tmp_path: Path) -> None:
    answered: list[str] = []
    with Process(tmp_path / "home") as one:

        def send(k: int) -> None:
            with httpx2.Client(base_url=one.url, headers=one.client.headers) as client:
                for n in range(200):
                    try:
                        body = {"name": f"n{k}-{n}", "command": ["true"]}
                        response = client.post("/v1/tasks", json=body)
                    except httpx2.HTTPError:
                        return
                    answered.append(response.json()["uid"])

        threads = [threading.Thread(target=send, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        while len(answered) < 60:
            time.sleep(0.005)
        one.process.kill()
        for thread in threads:
            thread.join(30.0)
    with Process(tmp_path / "home") as again:
        kept: set[str] = set()
        cursor = ""
        while True:
            page = again.client.get(f"/v1/tasks?limit=500{cursor}").json()
            kept |= {task["uid"] for task in page["items"]}
            if page["next_cursor"] is None:
                break
            cursor = f"&cursor={page['next_cursor']}"
    assert len(answered) >= 60
    assert set(answered) <= kept
