"""Routes of predictors and of what they learn from."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from walras.exchange.api import views
from walras.exchange.api.admin import NumberQuery
from walras.exchange.api.models import NAME, ObservationsIn, PredictIn, PromoteIn, TrainIn
from walras.exchange.api.routing import (
    IdempotencyKey,
    Reply,
    ScopedRoute,
    answered,
    api_of,
    caller_of,
    needs,
    once,
    reading,
)
from walras.exchange.errors import BusyError
from walras.exchange.runtime.home import new_uid
from walras.exchange.runtime.predicting import predictions
from walras.exchange.service import audit, imports, jobs, listings, predictors, runs
from walras.exchange.store.statements import Transaction

router = APIRouter(prefix="/v1", route_class=ScopedRoute, tags=["predictors"])

_TRAIN = "train"


@router.get(
    "/predictors",
    response_model=views.PredictorPage,
    openapi_extra=needs("read"),
    summary="List predictors",
)
async def listed(request: Request, query: Annotated[NumberQuery, Query()]) -> Response:
    """Predictors with their scores, the newest first."""
    found, cursor = await reading(
        request, lambda tx: listings.predictors(tx, query.limit, query.after)
    )
    return answered({"items": found, "next_cursor": cursor})


class RunQuery(NumberQuery):
    """A page of runs that have ended."""

    cluster: str | None = Field(default=None, pattern=NAME)


@router.get(
    "/observations",
    response_model=views.RunPage,
    openapi_extra=needs("read"),
    summary="List runs that have ended",
)
async def runs_listed(request: Request, query: Annotated[RunQuery, Query()]) -> Response:
    """Runs with what was predicted and what was measured, the newest first.

    A tenant's token sees its own.
    """
    owner = caller_of(request).tenant
    found, cursor = await reading(
        request, lambda tx: runs.page(tx, owner, query.cluster, query.limit, query.after)
    )
    return answered({"items": found, "next_cursor": cursor})


@router.post(
    "/predictors:train",
    status_code=202,
    response_model=views.Job,
    openapi_extra=needs("operate"),
    summary="Ask for a training now",
)
async def train(
    request: Request, body: TrainIn | None = None, key: IdempotencyKey = None
) -> Response:
    """Ask for a training on all that was observed; the job tells what came of it."""
    caller = caller_of(request)

    def work(tx: Transaction, now: float) -> Reply:
        number = jobs.ask(tx, now, _TRAIN, "asked")
        audit.record(tx, now, caller.name, "predictor.train", str(number))
        return Reply(jobs.status(tx, number), 202, {"Location": f"/v1/jobs/{number}"})

    made = await once(request, key, work)
    api_of(request).background.wake(_TRAIN)
    return made


@router.post(
    "/predictors:promote",
    response_model=views.PredictorState,
    openapi_extra=needs("operate"),
    summary="Use a predictor from now on",
)
async def promote(request: Request, body: PromoteIn, key: IdempotencyKey = None) -> Response:
    """Use a predictor from the next round on; the one before is kept."""
    caller = caller_of(request)

    def work(tx: Transaction, now: float) -> Reply:
        predictors.promote(tx, now, body.version, caller.name)
        return Reply({"version": body.version, "state": "active"})

    return await once(request, key, work)


@router.post(
    "/predictors:rollback",
    response_model=views.PredictorState,
    openapi_extra=needs("operate"),
    summary="Use the predictor of before again",
)
async def rollback(
    request: Request, body: TrainIn | None = None, key: IdempotencyKey = None
) -> Response:
    """Use the predictor that was active before, from the next round on."""
    caller = caller_of(request)

    def work(tx: Transaction, now: float) -> Reply:
        version = predictors.rollback(tx, now, caller.name)
        return Reply({"version": version, "state": "active"})

    return await once(request, key, work)


@router.post(
    "/predictors:predict",
    response_model=views.Predictions,
    openapi_extra=needs("read"),
    summary="Predict a task on clusters",
)
async def predict(request: Request, body: PredictIn, key: IdempotencyKey = None) -> Response:
    """Time and chance of success of a task on clusters; nothing is submitted or stored."""
    api = api_of(request)
    if not api.predicting.acquire(blocking=False):
        raise BusyError("too many predictions are asked for", where="predict", remedy="wait")
    try:
        found = await asyncio.to_thread(
            predictions, api.exchange, api.asking, body.features, body.clusters
        )
    finally:
        api.predicting.release()
    if key is None:
        return answered(found)
    return await once(request, key, lambda tx, now: Reply(found))


@router.post(
    "/observations:import",
    status_code=201,
    response_model=views.Imported,
    openapi_extra=needs("operate"),
    summary="Add runs from elsewhere to learn from",
)
async def imported(request: Request, body: ObservationsIn, key: IdempotencyKey = None) -> Response:
    """Add runs of tasks that were not ours, all or none."""
    caller = caller_of(request)
    rows = [
        imports.Past(one.cluster, one.features, one.outcome, one.seconds, one.at, one.slots)
        for one in body.observations
    ]

    def work(tx: Transaction, now: float) -> Reply:
        count = imports.add(tx, now, new_uid("i"), rows)
        audit.record(tx, now, caller.name, "observations.import", str(count))
        return Reply({"imported": count}, 201)

    return await once(request, key, work)
