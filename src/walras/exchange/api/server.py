"""The service as a process: one port, one exchange; it ends within seconds when it is told to."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from walras.exchange.api.app import create_app
from walras.exchange.api.auth import Authenticator, Verifier
from walras.exchange.api.gate import Gate
from walras.exchange.api.hub import Hub
from walras.exchange.api.state import Api
from walras.exchange.errors import FieldError, ServeError
from walras.exchange.runtime import logs
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.held import Handler
from walras.exchange.runtime.planner import Planner
from walras.exchange.runtime.service import Service
from walras.exchange.runtime.settings import Settings

log = logging.getLogger("walras.exchange")

_KEEP_ALIVE = 75  # seconds; an agent syncs every 20
_GRACE = 2  # seconds that requests may take when the service ends
_BACKLOG = 512
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Address:
    """Where a service listens.

    Attributes:
        host: Name or number of an interface.
        port: The port; 0 for any that is free.
        tls_in_front: That a proxy in front speaks TLS: it is asked for beyond loopback.
        names: Further names that the Host header may have.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    tls_in_front: bool = False
    names: Sequence[str] = ()

    @property
    def hosts(self) -> frozenset[str]:
        """Names that the Host header may have, without the port."""
        own = f"[{self.host}]" if ":" in self.host else self.host
        return frozenset(name.lower() for name in (*_LOCAL, own, *self.names))


def bind(address: Address) -> socket.socket:
    """Listen.

    Raises:
        ServeError: It is beyond loopback and no TLS is in front, or the port cannot be had.
    """
    if not _loopback(address.host) and not address.tls_in_front:
        raise ServeError(
            f"is {address.host}, beyond this machine, where tokens would travel unencrypted",
            where="host",
            allowed="127.0.0.1, ::1 or localhost; any with --tls-in-front",
            remedy="put a proxy with TLS in front, then say so with --tls-in-front",
        )
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address.host, address.port))
        made.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        made.close()
        raise ServeError(
            getattr(error, "strerror", None) or str(error),
            where=f"{address.host}:{address.port}",
            allowed="a port of this machine that is free, 0 to 65535",
            remedy="choose another --port, or stop what uses it",
        ) from error
    made.setblocking(False)
    return made


def _loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Server(uvicorn.Server):
    """uvicorn, which ends open streams before it waits for them.

    Args:
        config: uvicorn's settings.
        ending: Called once when the server is told to end.
    """

    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take signals; uvicorn's own way kills the process before all is closed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {sig: signal.signal(sig, self.handle_exit) for sig in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal: streams end first, then everything else."""
        self._ending()
        super().handle_exit(sig, frame)

    def stop(self) -> None:
        """End from another thread."""
        self._ending()
        self.should_exit = True


def build(service: Service, address: Address, oidc: Verifier | None = None) -> tuple[Gate, Api]:
    """The app of a service and what its routes work on."""
    exchange = service.exchange
    api = Api(
        exchange,
        service.background,
        service.planner,
        service.compute,
        service.asking,
        service.metrics,
        Authenticator(exchange, oidc),
        Hub(exchange),
    )
    return create_app(api, address.hosts), api


def server_of(service: Service, address: Address, oidc: Verifier | None = None) -> Server:
    """The HTTP server of a service."""
    app, api = build(service, address, oidc)

    def ending() -> None:
        api.exchange.stopping.set()
        api.hub.wake()

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
    )
    return Server(config, ending)


def serve(
    home: str | Path,
    host: str = "127.0.0.1",
    port: int = 8765,
    database: str | None = None,
    interval: float = 10.0,
    *,
    tls_in_front: bool = False,
    names: Sequence[str] = (),
    settings: Settings | None = None,
    planner: Planner | None = None,
    handlers: dict[str, Handler] | None = None,
    oidc: Verifier | None = None,
    log_level: str = "INFO",
    on_start: Callable[[str, Exchange], None] | None = None,
) -> None:
    """Serve an exchange until SIGINT or SIGTERM.

    Args:
        home: Its folder; the first start writes ``admin.token`` there, with mode 0600.
        host: Interface to listen on.
        port: Port; 0 for any that is free.
        database: ``sqlite:///PATH`` or ``postgresql://…``; a file in the folder if not given.
        interval: Seconds between rounds, while tasks wait.
        tls_in_front: That a proxy in front speaks TLS; asked for beyond loopback.
        names: Further names that the Host header may have.
        settings: All settings; the interval is then taken from them.
        planner: Makes rounds.
        handlers: Who does further kinds of jobs.
        oidc: Verifies tokens of a trusted issuer.
        log_level: The least level of the logs, which are JSON on standard error.
        on_start: Told the address and the exchange once it listens.

    Raises:
        ServeError: The port cannot be had, or TLS is asked for.
        ConflictError: Another process serves the home.
        SchemaError: The home is of a newer Walras.
        StoreError: The home or the database cannot be used.
        FieldError: A setting is outside its range.
    """
    if not 0 <= port <= 65535:
        raise FieldError(f"is {port}", where="port", allowed="0 to 65535", remedy="choose another")
    chosen = settings or Settings(interval=interval)
    address = Address(host, port, tls_in_front, names)
    listener = bind(address)
    try:
        logs.configure(log_level)
        with Exchange.open(home, database, settings=chosen) as exchange:
            service = Service.of(exchange, planner, handlers)
            with service:
                server = server_of(service, address, oidc)
                name = f"[{host}]" if ":" in host else host
                url = f"http://{name}:{listener.getsockname()[1]}"
                log.info("serving", extra={"url": url, "home": str(exchange.home)})
                if on_start is not None:
                    on_start(url, exchange)
                asyncio.run(server.serve(sockets=[listener]))
    finally:
        listener.close()
