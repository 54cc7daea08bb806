"""Networks in virtual time, for the client of a service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from walras.exchange.api import network_views as views
from walras.exchange.outgoing import part

M = TypeVar("M", bound=BaseModel)


class _Sender(Protocol):
    """What sends requests: a client."""

    def _get(self, path: str, model: type[M], **query: Any) -> M: ...

    def _post(self, path: str, model: type[M], body: Any = None) -> M: ...


class Networks:
    """Networks in virtual time; see :class:`walras.exchange.client.Client`.

    Args:
        client: The client.
    """

    def __init__(self, client: _Sender) -> None:
        self._client = client

    def list(self) -> list[views.NetworkItem]:
        """All networks of the service, the newest first."""
        return self._client._get("/v1/networks", views.NetworkList).items

    def get(self, uid: str) -> views.Network:
        """A network as of the last round reported."""
        return self._client._get(f"/v1/networks/{part(uid)}", views.Network)

    def start(self, **sample: Any) -> views.Network:
        """Start a network; it is paused.

        Args:
            sample: ``centres``, ``graph``, ``seed`` and so on; what is left out is chosen.

        Returns:
            The network before its first round.

        Raises:
            ExchangeError: The service refuses it, or does not answer.
        """
        return self._client._post("/v1/networks", views.Network, sample)

    def step(self, uid: str, rounds: int = 1) -> views.Network:
        """Make rounds now; the state after them."""
        return self._do(uid, "step", {"rounds": rounds})

    def run(self, uid: str, speed: float = 20.0, rounds: int | None = None) -> views.Network:
        """Let it go on by itself, so many rounds a second, until it is paused."""
        return self._do(uid, "run", {"speed": speed, "rounds": rounds})

    def pause(self, uid: str) -> views.Network:
        """Make no further round."""
        return self._do(uid, "pause")

    def cut(self, uid: str, links: Sequence[Sequence[int]]) -> views.Network:
        """Let no message pass over links, each two centres."""
        return self._do(uid, "cut", {"links": [[*link] for link in links]})

    def mend(self, uid: str, links: Sequence[Sequence[int]]) -> views.Network:
        """Let messages pass over links again."""
        return self._do(uid, "mend", {"links": [[*link] for link in links]})

    def kill(self, uid: str, centre: int) -> views.Network:
        """Stop a centre with all that it holds."""
        return self._do(uid, "kill", {"centre": centre})

    def restart(self, uid: str, centre: int) -> views.Network:
        """Begin a new life of a killed centre, without holdings."""
        return self._do(uid, "start", {"centre": centre})

    def faults(self, uid: str, **rates: float) -> views.Network:
        """Change ``loss``, ``duplication``, ``delay`` or ``churn`` from now on."""
        return self._do(uid, "faults", rates)

    def end(self, uid: str) -> views.NetworkEnd:
        """End its process and forget it."""
        return self._client._post(f"/v1/networks/{part(uid)}:end", views.NetworkEnd)

    def _do(self, uid: str, verb: str, body: Any = None) -> views.Network:
        return self._client._post(f"/v1/networks/{part(uid)}:{verb}", views.Network, body)
