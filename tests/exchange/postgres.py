"""A PostgreSQL server of the tests' own, on a unix socket; each test gets a database of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from itertools import count
from pathlib import Path


@cache
def programs() -> dict[str, str] | None:
    """The paths of ``initdb`` and ``postgres``; None where they are not installed."""
    folders = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"))]
    where = os.pathsep.join([os.environ.get("PATH", ""), *reversed(folders)])
    found = {name: shutil.which(name, path=where) for name in ("initdb", "postgres")}
    return None if None in found.values() else {k: v for k, v in found.items() if v}


def _owner() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = [user.pw_name for user in pwd.getpwall()]
    return "postgres" if "postgres" in names else "nobody"


class Server:
    """A server; nothing listens on the network, and nothing outlives :meth:`stop`.

    Args:
        durable: Whether what it acknowledges is on the disk; tests that stop it ask for that.
    """

    def __init__(self, *, durable: bool = False) -> None:
        self.durable = durable
        found = programs()
        assert found is not None
        self.owner = _owner()
        self.folder = Path(tempfile.mkdtemp(prefix="walras-pg-"))
        if self.owner is not None:
            shutil.chown(self.folder, self.owner)
        self._run = found
        self._made = count()
        subprocess.run(
            [
                found["initdb"],
                "-D",
                self.folder / "data",
                "-U",
                "walras",
                "--auth=trust",
                "--no-sync",
                "--encoding=UTF8",
                "--locale=C",
            ],
            check=True,
            capture_output=True,
            timeout=120,
            user=self.owner,
            cwd=self.folder,
        )
        self.start()

    def start(self) -> None:
        """Start it and wait until it answers."""
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(
            [
                self._run["postgres"],
                "-D",
                self.folder / "data",
                "-k",
                self.folder,
                "-c",
                "listen_addresses=",
                "-c",
                f"fsync={'on' if self.durable else 'off'}",
                "-c",
                "max_connections=200",
            ],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            user=self.owner,
            cwd=self.folder,
        )
        log.close()
        end = time.monotonic() + 60
        while True:
            try:
                self.execute("SELECT 1")
                return
            except Exception:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.05)

    def url(self, database: str = "postgres") -> str:
        """The address of a database."""
        return f"postgresql://walras@/{database}?host={self.folder}"

    def execute(self, sql: str) -> None:
        """Run a statement outside a transaction."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql)

    def new(self) -> str:
        """The address of a new database."""
        name = f"t{next(self._made)}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop it; SIGQUIT is ``pg_ctl stop -m immediate``."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(timeout=30)

    def remove(self) -> None:
        """Stop it and delete its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
