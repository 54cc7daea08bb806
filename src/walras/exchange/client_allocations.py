"""Rounds of a cluster that the service solves, for its client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from walras.exchange.api import allocation_views as views
from walras.exchange.outgoing import part

M = TypeVar("M", bound=BaseModel)


class _Sender(Protocol):
    """What sends requests: a client."""

    def _get(self, path: str, model: type[M], **query: Any) -> M: ...

    def _post(self, path: str, model: type[M], body: Any = None) -> M: ...


class Allocations:
    """Rounds of a cluster, solved beside HiGHS; see :class:`walras.exchange.client.Client`.

    Args:
        client: The client.
    """

    def __init__(self, client: _Sender) -> None:
        self._client = client

    def list(self) -> list[views.AllocationItem]:
        """The newest rounds that the service keeps, the newest first."""
        return self._client._get("/v1/allocations", views.AllocationList).items

    def get(self, uid: str) -> views.Allocation:
        """A round: how far it is, and what was found so far."""
        return self._client._get(f"/v1/allocations/{part(uid)}", views.Allocation)

    def start(self, tables: Mapping[str, str] | None = None, **settings: Any) -> views.Allocation:
        """Begin to solve a round; it goes on in the service.

        Args:
            tables: Texts of the CSV tables ``throughput``, ``jobs`` and ``resources`` of
                ``walras solve cluster``; None for a drawn round.
            settings: ``jobs``, ``resources``, ``seed``, ``objective``, ``normalise``,
                ``tolerance``, ``seconds``, ``highs`` and ``name``.

        Returns:
            The round, whose ``state`` is ``running``.

        Raises:
            ExchangeError: The service refuses it, or does not answer.
        """
        body = settings if tables is None else {"tables": dict(tables), **settings}
        return self._client._post("/v1/allocations", views.Allocation, body)

    def jobs(
        self, uid: str, like: str = "", first: int = 0, limit: int = 50
    ) -> views.AllocationJobs:
        """Jobs of a round that is done, those with the least throughput by weight first."""
        query = {"like": like, "first": first, "limit": limit}
        path = f"/v1/allocations/{part(uid)}/jobs"
        return self._client._get(path, views.AllocationJobs, **query)

    def explain(self, uid: str, job: str) -> views.AllocationExplained:
        """Why a job got what it got."""
        path = f"/v1/allocations/{part(uid)}/why"
        return self._client._get(path, views.AllocationExplained, job=job)

    def cancel(self, uid: str) -> views.Allocation:
        """End a round that runs."""
        return self._client._post(f"/v1/allocations/{part(uid)}:cancel", views.Allocation)
