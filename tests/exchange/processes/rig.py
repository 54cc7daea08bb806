"""An exchange of real processes: services, agents, and clients that submit."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx2
from tests.exchange.processes import invariants
from tests.exchange.processes.hosts import Network
from tests.exchange.processes.load import Load
from tests.exchange.processes.template import Child, Template, enter_network

_GUARD = """#!/bin/sh
# A run: it holds its task's lock and one of its cluster's slots while it lives, or tells.
root=../../../../..
exec 9>>"$root/guard/$WALRAS_TASK"
flock -n 9 || echo "two runs of task $WALRAS_TASK" >> "$root/broken"
held=
for slot in ../../../../slots/*; do
    exec 8>>"$slot"
    if flock -n 8; then held=1; break; fi
done
[ -n "$held" ] || echo "more runs than slots: task $WALRAS_TASK" >> "$root/broken"
exec sleep "$1"
"""


def free_port() -> int:
    """A port of this machine that nothing uses."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def in_mid_round(url: str, seconds: float = 30.0) -> None:
    """Wait until a round computes."""
    end = time.monotonic() + seconds
    while True:
        with invariants.view(url) as rows:
            if rows("SELECT 1 FROM round WHERE state = 'computing'"):
                return
        assert time.monotonic() < end, "no round begins"
        time.sleep(0.02)


@dataclass
class Service:
    """A service: its place, and its process while there is one."""

    home: Path
    url: str
    given: dict[str, Any]
    network: str = ""
    process: Child | None = None


@dataclass
class Agent:
    """An agent: its place, and its process while there is one."""

    home: Path
    given: dict[str, Any]
    network: str = ""
    process: Child | None = None

    def shims(self) -> list[int]:
        """Processes that watch its runs."""
        mark, found = str(self.home).encode() + b"/", []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (place / "cmdline").read_bytes()
                if mark in words and b"shim.py" in words:
                    found.append(int(place.name))
        return found


@dataclass
class Rig:
    """Processes on this machine; use it in a ``with``: all of them are ended in any case.

    Attributes:
        folder: Where everything is.
        template: What forks the processes.
        database: Address of the database; SQLite in the first service's home if None.
        services: How many services; more than one needs PostgreSQL.
        clusters: Slots of each cluster, which has one agent.
        think: Seconds that a round takes without predictions; None for the policy's rounds.
        settings: Of the services.
        network: Hosts: the first for the service, then one an agent, the last one for clients.
    """

    folder: Path
    template: Template
    database: str | None = None
    services: int = 1
    clusters: Sequence[int] = (2, 3)
    think: float | None = 0.0
    settings: dict[str, Any] = field(default_factory=dict)
    network: Network | None = None
    served: list[Service] = field(default_factory=list)
    agents: list[Agent] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.folder / "guard").mkdir(parents=True)
        self.script = self.folder / "run.sh"
        self.script.write_text(_GUARD)
        for k in range(self.services):
            port = free_port()
            home = self.folder / f"service-{k}"
            given = {
                "home": str(home),
                "port": port,
                "database": self.database,
                "think": self.think,
                "settings": {"interval": 0.1, **self.settings},
            }
            name, host = "", "127.0.0.1"
            if self.network is not None:
                name, host = self.network.names[k], self.network.address(k)
                given |= {"host": host, "tls_in_front": True}
            self.served.append(Service(home, f"http://{host}:{port}", given, name))
        for k, slots in enumerate(self.clusters):
            place = self.folder / f"cluster-{k}"
            (place / "slots").mkdir(parents=True)
            for n in range(slots):
                (place / "slots" / str(n)).touch()
            given = {
                "server": self.served[k % self.services].url,
                "token_file": str(self.token_file),
                "cluster": f"c{k}",
                "slots": slots,
                "home": str(place / "agent"),
                "name": f"a{k}",
            }
            name = "" if self.network is None else self.network.names[self.services + k]
            self.agents.append(Agent(place / "agent", given, name))

    @property
    def url(self) -> str:
        """The database's address."""
        return self.database or f"sqlite:///{self.served[0].home}/exchange.db"

    @property
    def token_file(self) -> Path:
        """The admin's token."""
        return self.served[0].home / "admin.token"

    def start(self) -> None:
        """Start all services, then all agents."""
        for service in self.served:
            self.start_service(service)
        for agent in self.agents:
            self.start_agent(agent)

    def start_service(self, service: Service, seconds: float = 30.0) -> float:
        """Start a service; seconds until it was ready."""
        began = time.monotonic()
        errors = self.folder / f"{service.home.name}.log"
        service.process = self.template.fork("serve", errors, service.network, **service.given)
        while not self.ready(service):
            assert service.process.alive, errors.read_text()[-3000:]
            assert time.monotonic() - began < seconds, errors.read_text()[-3000:]
            time.sleep(0.01)
        return time.monotonic() - began

    def ready(self, service: Service) -> bool:
        """Whether a service says that it can work."""

        def asked() -> bool:
            try:
                return httpx2.get(f"{service.url}/readyz", timeout=5.0).status_code == 200
            except httpx2.HTTPError:
                return False

        if not service.network:
            return asked()
        given = (service.network,)
        with ThreadPoolExecutor(1, initializer=enter_network, initargs=given) as inside:
            return inside.submit(asked).result()

    def start_agent(self, agent: Agent) -> None:
        """Start an agent."""
        errors = self.folder / f"{agent.given['name']}.log"
        agent.process = self.template.fork("agent", errors, agent.network, **agent.given)

    def kill(self, one: Service | Agent) -> None:
        """``kill -9`` of a service or an agent; an agent's runs live on."""
        assert one.process is not None
        one.process.close()
        one.process = None

    def kill_host(self, agent: Agent) -> None:
        """``kill -9`` of an agent with all that it has started, as when its host dies."""
        self.kill(agent)
        for pid in agent.shims():  # the run of a shim dies with it
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def load(self, seconds: float = 0.2, **more: Any) -> Load:
        """Clients of all services; a task that runs takes some seconds."""
        urls = [service.url for service in self.served]
        command = ["/bin/sh", str(self.script), str(seconds)]
        if self.network is not None:
            client = self.network.names[-1]
            more["enter"] = lambda: enter_network(client)
        return Load(urls, self.token_file.read_text().strip(), command, **more)

    def broken(self, load: Load) -> list[str]:
        """What does not hold: in the database, among the runs, and in what clients heard."""
        found = invariants.broken(self.url, dict(load.acknowledged)) + load.faults
        note = self.folder / "broken"
        return found + (note.read_text().splitlines() if note.exists() else [])

    def states(self) -> dict[str, str]:
        """Name -> state of every task."""
        with invariants.view(self.url) as rows:
            return {str(name): str(state) for name, state in rows("SELECT name, state FROM task")}

    def settle(self, load: Load, seconds: float) -> None:
        """Wait until every acknowledged task that can run has succeeded; one in each `seconds`."""
        end, left = time.monotonic() + seconds, len(load.runnable) + 1
        while True:
            with contextlib.suppress(sqlite3.OperationalError):
                states = self.states()
                open_ = [n for n in load.runnable & states.keys() if states[n] != "succeeded"]
                if not open_:
                    return
                if len(open_) < left:
                    end, left = time.monotonic() + seconds, len(open_)
            assert time.monotonic() < end, [(n, states[n]) for n in sorted(open_)[:10]]
            time.sleep(0.1)

    def close(self) -> None:
        """End everything."""
        for agent in self.agents:
            if agent.process is not None:
                self.kill(agent)
            for pid in agent.shims():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for service in self.served:
            if service.process is not None:
                self.kill(service)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
