"""The HTTP server of a service: uvicorn, which ends open streams before it waits for them."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from walras.exchange.api.address import Address
from walras.exchange.api.app import Pages, create_app
from walras.exchange.api.auth import Authenticator, Verifier
from walras.exchange.api.gate import Gate
from walras.exchange.api.hub import Hub
from walras.exchange.api.state import Api
from walras.exchange.runtime.service import Service

_KEEP_ALIVE = 75  # seconds; an agent syncs every 20
_GRACE = 2  # seconds that requests may take when the service ends


def _no_cancel(record: logging.LogRecord) -> bool:
    """Leave out requests that the end of the service cuts off: another line counts them."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


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


def build(
    service: Service, address: Address, oidc: Verifier | None = None, pages: Pages | None = None
) -> tuple[Gate, Api]:
    """The app of a service and what its routes work on."""
    exchange = service.exchange
    api = Api(
        exchange,
        service.background,
        service.planner,
        service.compute,
        service.asking,
        service.networks,
        service.allocations,
        service.shadows,
        service.metrics,
        Authenticator(exchange, oidc),
        Hub(exchange),
    )
    return create_app(api, address.hosts, pages), api


def server_of(
    service: Service, address: Address, oidc: Verifier | None = None, pages: Pages | None = None
) -> Server:
    """The HTTP server of a service."""
    app, api = build(service, address, oidc, pages)

    def ending() -> None:
        api.exchange.stopping.set()
        api.hub.wake()

    logging.getLogger("uvicorn.error").addFilter(_no_cancel)
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
