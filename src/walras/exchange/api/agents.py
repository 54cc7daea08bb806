"""Routes of agents: register, sync."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from walras.exchange import wire
from walras.exchange.api import views
from walras.exchange.api.auth import allow_cluster
from walras.exchange.api.models import AgentIn, SyncIn
from walras.exchange.api.routing import (
    IdempotencyKey,
    Reply,
    ScopedRoute,
    Uid,
    api_of,
    caller_of,
    needs,
    once,
)
from walras.exchange.errors import ForbiddenError, NotFoundError, StaleError
from walras.exchange.service import audit, clusters, listings
from walras.exchange.service.messages import Finished, Running, Sync
from walras.exchange.service.sync import sync
from walras.exchange.service.tokens import Caller
from walras.exchange.store.statements import Transaction

router = APIRouter(prefix="/v1/agents", route_class=ScopedRoute, tags=["agents"])


@router.post(
    "",
    status_code=201,
    response_model=views.Agent,
    openapi_extra=needs("provider"),
    summary="Register an agent of a cluster",
)
async def register(request: Request, body: AgentIn, key: IdempotencyKey = None) -> Response:
    """Register an agent, or find it again; its newest incarnation, and how long leases last."""
    caller, timing = caller_of(request), api_of(request).exchange.settings.timing
    allow_cluster(caller, body.cluster)

    def work(tx: Transaction, now: float) -> Reply:
        fences = body.fences and body.backend == "local"  # the others' runs cannot end themselves
        newest = clusters.register(tx, now, body.uid, body.cluster, body.backend, fences)
        if newest == 0:
            audit.record(tx, now, caller.name, "agent.register", body.uid)
        made = {
            "uid": body.uid,
            "cluster": body.cluster,
            "incarnation": newest,
            "lease_seconds": timing.lease,
            "grace_seconds": timing.grace,
            "kill_seconds": timing.kill,
            "sync_seconds": min(timing.sync, api_of(request).exchange.settings.interval),
        }
        return Reply(made, 201)

    return await once(request, key, work)


@router.post(
    "/{uid:name}/sync",
    response_model=views.SyncAnswer,
    openapi_extra=needs("provider"),
    summary="Say what runs and what has ended; hear what to start and to stop",
)
async def synced(request: Request, uid: Uid, body: SyncIn, key: IdempotencyKey = None) -> Response:
    """The agent protocol; a message that is not newer than the last one gets 409."""
    api, caller = api_of(request), caller_of(request)
    message = _message(body)

    def work(tx: Transaction, now: float) -> Reply:
        _allow(tx, caller, uid)
        answer = sync(tx, now, uid, message, api.exchange.settings.timing)
        return Reply(wire.answer_to_json(answer))

    try:
        return await once(request, key, work)
    except StaleError:
        api.metrics.stale.inc()
        raise


def _allow(tx: Transaction, caller: Caller, uid: str) -> None:
    """Check that the agent is there and is the caller's; another provider's agent is not found."""
    of = listings.cluster_of_agent(tx, uid)
    try:
        if of is not None:
            allow_cluster(caller, of)
            return
    except ForbiddenError:
        pass
    raise NotFoundError(
        f"there is no agent '{uid}'", where="agent", remedy="register it: POST /v1/agents"
    )


def _message(body: SyncIn) -> Sync:
    return Sync(
        body.incarnation,
        body.seq,
        body.free,
        [Running(one.placement, one.token, one.started) for one in body.running],
        [
            Finished(one.placement, one.token, one.outcome, one.seconds, one.exit, one.log)
            for one in body.finished
        ],
    )
