"""Routes of clusters: list, offer, change, cordon, drain."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from walras.exchange.api import views
from walras.exchange.api.auth import allow_cluster, operates
from walras.exchange.api.models import NAME, ClusterIn
from walras.exchange.api.routing import (
    IdempotencyKey,
    IfMatch,
    IfNoneMatch,
    Reply,
    ScopedRoute,
    Uid,
    answered,
    api_of,
    caller_of,
    etag,
    needs,
    once,
    reading,
    tagged,
    writing,
)
from walras.exchange.errors import ForbiddenError, NotFoundError
from walras.exchange.service import audit, clusters, listings, providers
from walras.exchange.service.tokens import Caller
from walras.exchange.store.statements import Transaction

router = APIRouter(prefix="/v1/clusters", route_class=ScopedRoute, tags=["clusters"])

offers = APIRouter(prefix="/v1", route_class=ScopedRoute, tags=["clusters"])


class ClusterQuery(BaseModel):
    """A page of clusters."""

    model_config = ConfigDict(extra="forbid")

    cursor: str | None = Field(default=None, pattern=NAME)
    limit: int = Field(default=100, ge=1, le=500)


def _silent(request: Request) -> float:
    """Clusters that were last heard before this time are not heard."""
    exchange = api_of(request).exchange
    return exchange.now() - exchange.settings.timing.held


def _own(caller: Caller) -> list[str] | None:
    """The clusters that a provider's token sees; None for all."""
    if {"read", "operate", "admin"} & caller.scopes:
        return None
    return [name.partition(":")[2] for name in caller.scopes if name.startswith("provider:")]


@router.get(
    "",
    response_model=views.ClusterPage,
    openapi_extra=needs("read-or-provider"),
    summary="List clusters",
)
async def listed(request: Request, query: Annotated[ClusterQuery, Query()]) -> Response:
    """Clusters with their free slots; a provider's token sees its own."""
    only, silent = _own(caller_of(request)), _silent(request)
    found, cursor = await reading(
        request, lambda tx: listings.clusters(tx, silent, query.limit, query.cursor, only)
    )
    return answered({"items": found, "next_cursor": cursor})


@router.get(
    "/{uid:name}",
    response_model=views.Cluster,
    openapi_extra=needs("read-or-provider"),
    summary="Look at a cluster",
)
async def shown(request: Request, uid: Uid, seen: IfNoneMatch = None) -> Response:
    """A cluster; its version is the ETag."""
    only, silent = _own(caller_of(request)), _silent(request)
    if only is not None and uid not in only:
        raise NotFoundError(f"there is no cluster '{uid}'", where="cluster")
    return tagged(request, await reading(request, lambda tx: listings.one_cluster(tx, uid, silent)))


@offers.get(
    "/providers",
    response_model=views.ProviderList,
    openapi_extra=needs("read-or-provider"),
    summary="List providers with their confirmed work",
)
async def provided(request: Request) -> Response:
    """What share of the confirmed work each has, and what it may get; one's own for a provider."""
    only, exchange = _own(caller_of(request)), api_of(request).exchange
    now, timing = exchange.now(), exchange.settings.timing
    found = await reading(request, lambda tx: providers.providers(tx, now, timing, only))
    return answered({"items": found})


@router.put(
    "/{uid:name}",
    response_model=views.Cluster,
    responses={201: {"model": views.Cluster, "description": "It was created."}},
    openapi_extra=needs("provider"),
    summary="Offer a cluster, or change it",
)
async def put(request: Request, uid: Uid, body: ClusterIn, match: IfMatch = None) -> Response:
    """Create a cluster, or with If-Match change the version that was read."""
    caller, silent = caller_of(request), _silent(request)
    allow_cluster(caller, uid)
    for name in ("trusted", "provider"):
        if getattr(body, name) is not None and not operates(caller):
            raise ForbiddenError(
                f"may not set {name}",
                where="token",
                allowed="scope operate or admin",
                remedy=f"leave {name} out",
            )

    def work(tx: Transaction, now: float) -> tuple[bool, dict[str, Any]]:
        version = _version(tx, uid, match, silent)
        offer = clusters.Offer(
            body.slots, body.labels, body.price, body.provider or "", bool(body.trusted)
        )
        created, _ = clusters.put(tx, now, uid, offer, version=version)
        if body.trusted is not None and not created:
            clusters.trust(tx, uid, body.trusted)
        action = "cluster.add" if created else "cluster.change"
        audit.record(tx, now, caller.name, action, uid, body.model_dump(exclude_none=True))
        return created, listings.one_cluster(tx, uid, silent)

    created, found = await writing(request, work)
    return tagged(request, found, 201 if created else 200)


def _version(tx: Transaction, uid: str, match: str | None, silent: float) -> int | None:
    """The version that If-Match asks for."""
    if match is None:
        return None
    if match == "*":
        return int(listings.one_cluster(tx, uid, silent)["version"])
    return int(match.strip('"'))


def _setting(state: str, word: str, summary: str) -> None:
    """A route that sets a cluster's state."""

    async def change(request: Request, uid: Uid, key: IdempotencyKey = None) -> Response:
        caller, silent = caller_of(request), _silent(request)
        allow_cluster(caller, uid)

        def work(tx: Transaction, now: float) -> Reply:
            version = clusters.set_state(tx, now, uid, state)
            audit.record(tx, now, caller.name, f"cluster.{word}", uid)
            return Reply(listings.one_cluster(tx, uid, silent), headers={"ETag": etag(version)})

        return await once(request, key, work)

    router.post(
        f"/{{uid:name}}:{word}",
        response_model=views.Cluster,
        openapi_extra=needs("provider"),
        summary=summary,
        name=f"{word}_cluster",
    )(change)


_setting("draining", "drain", "Give no tasks to a cluster and take its offers back; runs go on")
_setting("cordoned", "cordon", "Give no new tasks to a cluster; its offers and runs go on")
_setting("up", "uncordon", "Give tasks to a cluster again")
