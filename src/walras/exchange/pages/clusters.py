"""Pages of clusters: the list, one cluster with what was predicted and measured."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from walras.exchange.api.routing import Uid, caller_of, needs
from walras.exchange.pages.ask import ask, ask_if_allowed
from walras.exchange.pages.render import PageRoute, shown
from walras.rounds.blockers import MEANINGS

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_LISTED = 50


def covered(runs: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many completed runs took a time within their 90 % interval, and how many have one.

    Args:
        runs: Observations with ``outcome``, ``seconds`` and ``seconds_interval``, in seconds.

    Example:
        >>> from walras.exchange.pages.clusters import covered
        >>> run = {"outcome": "completed", "seconds_interval": [1.0, 3.0]}
        >>> covered([run | {"seconds": 2.0}, run | {"seconds": 4.0}])
        (1, 2)
    """
    timed = [
        (low, one["seconds"], high)
        for one in runs
        if one["outcome"] == "completed" and one["seconds"] and one["seconds_interval"]
        for low, high in [one["seconds_interval"]]
        if low is not None and high is not None
    ]
    return sum(low <= took <= high for low, took, high in timed), len(timed)


@router.get("/clusters", openapi_extra=needs("read-or-provider"))
async def listed(request: Request) -> Response:
    """All clusters that the caller sees."""
    found, by = await asyncio.gather(ask(request, "/v1/clusters", limit=500), _providers(request))
    return shown(request, "clusters.html", clusters=found["items"], providers=by)


async def _providers(request: Request) -> dict[str, Any]:
    """Name of a provider -> its confirmed work."""
    found = await ask(request, "/v1/providers")
    return {one["provider"]: one for one in found["items"]}


@router.get("/clusters/{uid:name}", openapi_extra=needs("read-or-provider"))
async def one(request: Request, uid: Uid) -> Response:
    """A cluster: its state and agents, how well its runs were foreseen, drain and cordon."""
    found, every, by, status, runs = await asyncio.gather(
        ask(request, f"/v1/clusters/{uid}"),
        ask(request, "/v1/clusters", limit=500),
        _providers(request),
        ask_if_allowed(request, "/v1/status"),
        ask_if_allowed(request, "/v1/observations", cluster=uid, limit=500),
    )
    agents = [a for a in (status or {"agents": []})["agents"] if a["cluster"] == uid]
    caller = caller_of(request)
    may_change = caller.tenant is None and bool(
        {"operate", "admin", f"provider:{uid}"} & caller.scopes
    )
    return shown(
        request,
        "cluster.html",
        cluster=found,
        slots_up=sum(c["slots"] for c in every["items"] if c["state"] == "up" and c["heard"]),
        meanings=MEANINGS,
        provider=by.get(found["provider"], {"share": None, "cap": None}),
        agents=agents if status else None,
        runs=None if runs is None else runs["items"][:_LISTED],
        covered=None if runs is None else covered(runs["items"]),
        may_change=may_change,
    )
