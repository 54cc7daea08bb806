"""Routes of networks in virtual time: start one, let it run, cut, kill, mend, look, end.

They change nothing of the exchange: a network is kept in the service's memory, and its nodes run in
a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response

from walras.exchange.api import network_views as views
from walras.exchange.api.network_models import (
    CentreIn,
    FaultsIn,
    LinksIn,
    NetworkIn,
    PaceIn,
    StepIn,
)
from walras.exchange.api.remembered import once_in_memory
from walras.exchange.api.routing import (
    IdempotencyKey,
    ScopedRoute,
    Uid,
    answered,
    api_of,
    caller_of,
    needs,
)
from walras.exchange.runtime.networks import Networks, RunningNetwork
from walras.exchange.service import audit

router = APIRouter(prefix="/v1", route_class=ScopedRoute, tags=["networks"])

_ITEM = ("uid", "by", "state", "why", "speed", "sample", "round")


def _networks(request: Request) -> Networks:
    return api_of(request).networks


async def _changed(
    request: Request, uid: str, key: str | None, work: Callable[[RunningNetwork], dict[str, Any]]
) -> Response:
    networks = _networks(request)
    return await once_in_memory(
        request, networks.replies, key, 200, lambda: work(networks.get(uid))
    )


@router.post(
    "/networks",
    status_code=201,
    response_model=views.Network,
    openapi_extra=needs("operate"),
    summary="Start a network in virtual time",
)
async def start(
    request: Request, body: NetworkIn | None = None, key: IdempotencyKey = None
) -> Response:
    """Draw centres that share CPU and train a model, and begin their process; it is paused."""
    caller, networks = caller_of(request), _networks(request)
    sample = (body or NetworkIn()).model_dump()

    def work() -> dict[str, Any]:
        made = networks.start(caller.account, caller.name, sample)
        try:
            _noted(request, "network.start", made.uid)
        except BaseException:
            networks.end(made.uid)
            raise
        return made.look()

    return await once_in_memory(request, networks.replies, key, 201, work)


def _noted(request: Request, what: str, uid: str) -> None:
    """Note in the audit log who began or ended a process of the service."""
    by = caller_of(request).name
    api_of(request).exchange.write(lambda tx, now: audit.record(tx, now, by, what, uid))


@router.get(
    "/networks",
    response_model=views.NetworkList,
    openapi_extra=needs("read-all"),
    summary="List networks in virtual time",
)
async def listed(request: Request) -> Response:
    """All networks of this service, the newest first."""
    states = [one.peek() for one in _networks(request).list()]
    return answered({"items": [{name: one.get(name, 0) for name in _ITEM} for one in states]})


@router.get(
    "/networks/{uid:name}",
    response_model=views.Network,
    openapi_extra=needs("read-all"),
    summary="Look at a network",
)
async def shown(request: Request, uid: Uid) -> Response:
    """Its centres, links, balance, objective and traffic, as of the last round reported."""
    return answered(_networks(request).get(uid).look())


@router.post(
    "/networks/{uid:name}:step",
    response_model=views.Network,
    openapi_extra=needs("operate"),
    summary="Make rounds of a network",
)
async def step(
    request: Request, uid: Uid, body: StepIn | None = None, key: IdempotencyKey = None
) -> Response:
    """Make some rounds now; after ten seconds it answers with those that were made."""
    rounds = (body or StepIn()).rounds
    return await _changed(request, uid, key, lambda one: one.change("advance", rounds=rounds))


@router.post(
    "/networks/{uid:name}:run",
    response_model=views.Network,
    openapi_extra=needs("operate"),
    summary="Let a network go on by itself",
)
async def run(
    request: Request, uid: Uid, body: PaceIn | None = None, key: IdempotencyKey = None
) -> Response:
    """Make rounds at a pace until it is paused, or nobody has looked for two minutes."""
    pace = body or PaceIn()
    return await _changed(request, uid, key, lambda one: one.run(pace.speed, pace.rounds))


@router.post(
    "/networks/{uid:name}:pause",
    response_model=views.Network,
    openapi_extra=needs("operate"),
    summary="Pause a network",
)
async def pause(request: Request, uid: Uid, key: IdempotencyKey = None) -> Response:
    """Make no further round; the shares in use are valid whenever it stops."""
    return await _changed(request, uid, key, lambda one: one.pause())


@router.post(
    "/networks/{uid:name}:cut",
    response_model=views.Network,
    openapi_extra=needs("operate"),
    summary="Cut links of a network",
)
async def cut(request: Request, uid: Uid, body: LinksIn, key: IdempotencyKey = None) -> Response:
    """Let no message pass over some links; a link that is cut stays so."""
    return await _changed(request, uid, key, lambda one: one.change("cut", links=body.links))


@router.post(
    "/networks/{uid:name}:mend",
    response_model=views.Network,
    openapi_extra=needs("operate"),
    summary="Mend links of a network",
)
async def mend(request: Request, uid: Uid, body: LinksIn, key: IdempotencyKey = None) -> Response:
    """Let messages pass over some links again."""
    return await _changed(request, uid, key, lambda one: one.change("mend", links=body.links))


@router.post(
    "/networks/{uid:name}:kill",
    response_model=views.Network,
    openapi_extra=needs("operate"),
    summary="Kill a centre of a network",
)
async def kill(request: Request, uid: Uid, body: CentreIn, key: IdempotencyKey = None) -> Response:
    """Stop a centre with all that it holds; the others take it over once its lease has ended."""
    return await _changed(request, uid, key, lambda one: one.change("stop", centre=body.centre))


@router.post(
    "/networks/{uid:name}:start",
    response_model=views.Network,
    openapi_extra=needs("operate"),
    summary="Start a killed centre of a network",
)
async def start_centre(
    request: Request, uid: Uid, body: CentreIn, key: IdempotencyKey = None
) -> Response:
    """Begin a new life of a killed centre, without holdings."""
    return await _changed(request, uid, key, lambda one: one.change("restart", centre=body.centre))


@router.post(
    "/networks/{uid:name}:faults",
    response_model=views.Network,
    openapi_extra=needs("operate"),
    summary="Change the faults of a network",
)
async def faults(
    request: Request, uid: Uid, body: FaultsIn, key: IdempotencyKey = None
) -> Response:
    """Change loss, repeats, delay and churn from now on."""
    rates = body.model_dump(exclude={"churn"}, exclude_none=True)
    return await _changed(
        request, uid, key, lambda one: one.change("faults", rates=rates, churn=body.churn)
    )


@router.post(
    "/networks/{uid:name}:end",
    response_model=views.NetworkEnd,
    openapi_extra=needs("operate"),
    summary="End a network",
)
async def end(request: Request, uid: Uid, key: IdempotencyKey = None) -> Response:
    """End its process and forget it."""
    networks = _networks(request)

    def ended(one: RunningNetwork) -> dict[str, Any]:
        networks.end(one.uid)
        _noted(request, "network.end", one.uid)
        return {"uid": one.uid, "ended": True}

    return await _changed(request, uid, key, ended)
