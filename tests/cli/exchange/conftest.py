"""A service in this process, and the commands on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.cli.exchange.runs import Run
from tests.exchange.api.serving import Served
from typer.testing import CliRunner

from walras.cli.exchange import cluster, cluster_import, predictor, task, tenant, token
from walras.cli.exchange import round as rounds
from walras.cli.main import app
from walras.exchange.client import Client


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

    for module in (cluster, cluster_import, predictor, rounds, task, tenant, token):
        monkeypatch.setattr(module, "client_of", client_of)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: str, code: int = 0) -> str:
        found = CliRunner().invoke(app, words)
        assert found.exit_code == code, found.output
        return found.stdout

    return run
