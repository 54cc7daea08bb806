"""``walras serve`` as a function: one port, one exchange, until a signal.

What it imports first is light: the process that decides rounds begins while the rest is imported.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from walras.exchange.api.address import Address, bind
from walras.exchange.errors import FieldError
from walras.exchange.runtime import logs
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.settings import Settings

if TYPE_CHECKING:
    from walras.exchange.api.app import Pages
    from walras.exchange.api.auth import Verifier
    from walras.exchange.api.http import Server
    from walras.exchange.runtime.exchange import Exchange
    from walras.exchange.runtime.held import Handler
    from walras.exchange.runtime.planner import Planner
    from walras.policies.placements import Policy

log = logging.getLogger("walras.exchange")


class _Early:
    """A signal to end, before the server takes them: it is heeded as soon as nothing is half done.

    The second signal of a kind ends the process at once.
    """

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.server: Server | None = None

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take SIGINT, SIGTERM and, unless it is ignored, SIGHUP."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
            numbers.append(signal.SIGHUP)
        before = {number: signal.signal(number, self._take) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _take(self, number: int, _: FrameType | None) -> None:
        self.ended.set()
        signal.signal(number, signal.SIG_DFL)
        if self.server is not None:
            self.server.stop()


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
    policy: Policy | None = None,
    planner: Planner | None = None,
    handlers: dict[str, Handler] | None = None,
    oidc: Verifier | None = None,
    pages: Callable[[], Pages] | None = None,
    log_level: str = "INFO",
    on_start: Callable[[str, Exchange], None] | None = None,
) -> None:
    """Serve an exchange until SIGINT, SIGTERM or, unless it is ignored, SIGHUP.

    Args:
        home: Its folder; the first start writes ``admin.token`` there, with mode 0600.
        host: Interface to listen on.
        port: Port; 0 for any that is free.
        database: ``sqlite:///PATH`` or ``postgresql://…``; a file in the folder if not given.
        interval: Seconds between rounds, while tasks wait.
        tls_in_front: That a proxy in front speaks TLS; asked for beyond loopback.
        names: Further names that the Host header may have.
        settings: All settings; the interval is then taken from them.
        policy: How rounds decide from now on; as before if None.
        planner: Makes rounds.
        handlers: Who does further kinds of jobs.
        oidc: Verifies tokens of a trusted issuer.
        pages: Makes the pages for people; called once the other process has begun.
        log_level: The least level of the logs, which are JSON on standard error.
        on_start: Called with the address and the exchange once it listens.

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
    early = _Early()
    with early.taken(), closing(bind(address)) as listener, closing(Compute()) as compute:
        logs.configure(log_level)
        compute.warm()
        # All this takes about as long to import as the other process takes to begin.
        from walras.exchange.api.http import server_of  # noqa: PLC0415
        from walras.exchange.runtime.exchange import Exchange  # noqa: PLC0415
        from walras.exchange.runtime.service import Service  # noqa: PLC0415
        from walras.exchange.service import policies  # noqa: PLC0415

        if early.ended.is_set():
            return
        with Exchange.open(home, database, settings=chosen) as exchange:
            if policy is not None:
                exchange.write(lambda tx, now: policies.put(tx, now, policy, "service"))
            service = Service.of(exchange, planner, handlers, compute)
            with service:
                server = server_of(service, address, oidc, pages() if pages else None)
                early.server = server
                if early.ended.is_set():
                    return
                name = f"[{host}]" if ":" in host else host
                url = f"http://{name}:{listener.getsockname()[1]}"
                log.info("serving", extra={"url": url, "home": str(exchange.home)})
                if on_start is not None:
                    on_start(url, exchange)
                # What was imported lives as long as the process: looking through it for garbage
                # would stop every request for a tenth of a second now and then.
                gc.collect()
                gc.freeze()
                asyncio.run(server.serve(sockets=[listener]))
