"""Comparisons in shadow mode, for the client of a service."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from walras.exchange.api import shadow_views as views
from walras.exchange.outgoing import part

M = TypeVar("M", bound=BaseModel)


class _Sender(Protocol):
    """What sends requests: a client."""

    def _get(self, path: str, model: type[M], **query: Any) -> M: ...

    def _post(self, path: str, model: type[M], body: Any = None) -> M: ...


class Shadows:
    """Logs of schedulers against the exchange's policy; see :class:`walras.exchange.client.Client`.

    Args:
        client: The client.
    """

    def __init__(self, client: _Sender) -> None:
        self._client = client

    def list(self) -> list[views.ShadowItem]:
        """The newest comparisons of the service, the newest first."""
        return self._client._get("/v1/shadows", views.ShadowList).items

    def get(self, uid: str) -> views.Shadow:
        """A comparison: how far it is, and its report once it is done."""
        return self._client._get(f"/v1/shadows/{part(uid)}", views.Shadow)

    def start(self, log: str, scheduler: str, **settings: Any) -> views.Shadow:
        """Begin to compare a log; it goes on in the service.

        Args:
            log: Text of the log, 8 MiB at most.
            scheduler: ``slurm``, ``kueue`` or ``csv``.
            settings: ``name``, ``slots``, ``prices``, ``train``, ``only_seen`` and so on, as
                :func:`walras.shadow.compare` has them.

        Returns:
            The comparison, whose ``state`` is ``running``.

        Raises:
            ExchangeError: The service refuses it, or does not answer.
        """
        body = {"log": log, "scheduler": scheduler, **settings}
        return self._client._post("/v1/shadows", views.Shadow, body)

    def cancel(self, uid: str) -> views.Shadow:
        """End a comparison that runs."""
        return self._client._post(f"/v1/shadows/{part(uid)}:cancel", views.Shadow)
