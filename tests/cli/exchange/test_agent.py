"""``walras agent``: which backend, which name, and a cluster that is created once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.agent.links import Direct
from typer.testing import CliRunner

from walras.cli.exchange import agent
from walras.cli.exchange.agent import Kind
from walras.cli.main import app
from walras.errors import InputError
from walras.exchange.agent import driver
from walras.exchange.agent.local import Local
from walras.exchange.agent.slurm import Slurm
from walras.exchange.errors import NotFoundError


def test_a_backend_is_made_of_its_options(tmp_path: Path) -> None:
    slurm = agent._backend(Kind.SLURM, tmp_path, None, None, "gpu", None)
    assert isinstance(slurm, Slurm)
    local = agent._backend(Kind.LOCAL, tmp_path, None, None, None, 0.5)
    assert isinstance(local, Local)
    assert local._limits.memory == 2**29
    with pytest.raises(InputError, match="--image: is missing"):
        agent._backend(Kind.KUBERNETES, tmp_path, None, "n", None, None)


class Clusters:
    """Clusters of a service."""

    def __init__(self) -> None:
        self.slots: dict[str, int] = {}

    def get(self, name: str) -> int:
        if name not in self.slots:
            raise NotFoundError("there is none", where="cluster")
        return self.slots[name]

    def put(self, name: str, slots: int) -> None:
        self.slots[name] = slots


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Clusters]:
    """A service with no cluster; its agents end at once."""
    made, link = Clusters(), Direct(tmp_path / "service")
    link.clusters = made  # type: ignore[attr-defined]

    @contextmanager
    def client_of(server: str, token_file: Path | None) -> Iterator[Any]:
        yield link

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(agent, "client_of", client_of)
    yield made
    for number, handler in before.items():
        signal.signal(number, handler)
    link.database.close()


def test_a_cluster_that_is_not_there_is_created_and_one_that_is_stays(
    clusters: Clusters, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served: list[driver.Service] = []

    def run(self: driver.Agent, end_runs: bool) -> None:
        served.append(self.service)
        _closed(self)

    monkeypatch.setattr(driver.Agent, "run", run)
    at = ["agent", "run", "--server", "http://x", "--cluster", "Here.1", "--home"]
    first = CliRunner().invoke(app, [*at, str(tmp_path / "a"), "--slots", "3"])
    assert first.exit_code == 0, first.exception
    assert first.stderr.splitlines() == ["cluster Here.1 was created with 3 slots", "stopped"]
    second = CliRunner().invoke(app, [*at, str(tmp_path / "b"), "--name", "mine"])
    assert second.stderr.splitlines() == ["stopped"]
    assert clusters.slots == {"Here.1": 3}
    assert served[0].name.startswith("here-1-")
    assert served[0].slots == 3
    assert served[1].name == "mine"
    assert served[1].slots >= 1, "one a core"


def _closed(made: driver.Agent) -> None:
    made._journal.close()
    made._lock.close()


def test_a_signal_ends_the_agent(
    clusters: Clusters, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ends: list[bool] = []

    def run(self: driver.Agent, end_runs: bool) -> None:
        signal.raise_signal(signal.SIGTERM)
        ends.extend([self.stopped.is_set(), end_runs])
        _closed(self)

    monkeypatch.setattr(driver.Agent, "run", run)
    words = ["agent", "run", "--server", "http://x", "--cluster", "c", "--end-runs", "--home"]
    assert CliRunner().invoke(app, [*words, str(tmp_path / "a")]).exit_code == 0
    assert ends == [True, True]
