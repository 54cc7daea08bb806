"""The processes of the demo: ports, and the error where one does not start."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from walras.demo.live.processes import DemoError, Processes, port_of


def test_a_port_that_is_taken_is_one_error_or_another_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        with pytest.raises(DemoError) as caught:
            port_of(port)
        assert caught.value.where == f"port {port}"
        assert "--port" in caught.value.remedy
    assert port_of(port) == port
    assert port_of(None) > 0


def test_a_service_that_does_not_start_is_one_error(tmp_path: Path) -> None:
    policy = tmp_path / "policy.json"
    policy.write_text("{}")
    (tmp_path / "exchange").write_text("a file, and no folder")
    with (
        pytest.raises(DemoError, match="has ended") as caught,
        Processes(tmp_path, port_of(None)) as processes,
    ):
        processes.serve(1.0, policy)
    assert caught.value.remedy == f"see {tmp_path / 'serve.log'}"
    assert "error" in (tmp_path / "serve.log").read_text()
