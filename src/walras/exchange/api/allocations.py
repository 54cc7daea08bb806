"""Routes of rounds of a cluster: solve one beside HiGHS, look, read its jobs, explain, cancel.

They change nothing of the exchange. Each is computed in a process of its own, which stays for a
while to explain jobs; results are kept in the service's memory.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from walras.exchange.api import allocation_views as views
from walras.exchange.api import computed
from walras.exchange.api.allocation_models import AllocationIn
from walras.exchange.api.apart import apart
from walras.exchange.api.remembered import once_in_memory
from walras.exchange.api.routing import (
    IdempotencyKey,
    ScopedRoute,
    Uid,
    answered,
    api_of,
    needs,
)
from walras.exchange.runtime.works import Work, Works

router = APIRouter(prefix="/v1", route_class=ScopedRoute, tags=["allocations"])

Job = Annotated[str, Query(min_length=1, max_length=200, description="The job's name.")]
Like = Annotated[str, Query(max_length=200, description="Jobs whose name holds this.")]
First = Annotated[int, Query(ge=0, le=1_000_000, description="How many to leave out.")]
Limit = Annotated[int, Query(ge=1, le=500, description="How many at most.")]


def _allocations(request: Request) -> Works:
    return api_of(request).allocations


def _shown(one: Work) -> dict[str, Any]:
    return one.look() | {"result": one.result}


def _facts(body: AllocationIn) -> dict[str, Any]:
    """What is asked, as it is shown: of uploaded tables nothing is drawn."""
    facts = body.model_dump(exclude={"tables", "seconds"})
    uploaded = body.tables is not None
    drawn = dict.fromkeys(("jobs", "resources", "seed")) if uploaded else {}
    return facts | drawn | {"limit": body.seconds, "uploaded": uploaded}


@router.post(
    "/allocations",
    status_code=202,
    response_model=views.Allocation,
    openapi_extra=needs("operate"),
    summary="Solve a round of a cluster beside HiGHS",
)
async def start(
    request: Request, body: AllocationIn | None = None, key: IdempotencyKey = None
) -> Response:
    """Begin to solve a drawn round or tables; look again until it is no longer running."""
    allocations, asked = _allocations(request), body or AllocationIn()

    def work() -> dict[str, Any]:
        data = b"" if asked.tables is None else asked.tables.model_dump_json().encode()
        return _shown(computed.begin(request, allocations, _facts(asked), data))

    return await once_in_memory(request, allocations.replies, key, 202, work)


@router.get(
    "/allocations",
    response_model=views.AllocationList,
    openapi_extra=needs("read-all"),
    summary="List rounds of a cluster",
)
async def listed(request: Request) -> Response:
    """The newest rounds of this service, the newest first."""
    return answered({"items": [one.look() for one in _allocations(request).list()]})


@router.get(
    "/allocations/{uid:name}",
    response_model=views.Allocation,
    openapi_extra=needs("read-all"),
    summary="Look at a round of a cluster",
)
async def shown(request: Request, uid: Uid) -> Response:
    """How far it is, value and bound so far, and the prices once it is solved."""
    return answered(_shown(_allocations(request).get(uid)))


@router.get(
    "/allocations/{uid:name}/jobs",
    response_model=views.AllocationJobs,
    openapi_extra=needs("read-all"),
    summary="List the jobs of a round of a cluster",
)
async def jobs(
    request: Request, uid: Uid, like: Like = "", first: First = 0, limit: Limit = 50
) -> Response:
    """Jobs with their shares, those with the least throughput by weight first."""
    one = _allocations(request).get(uid)
    question = {"like": like, "first": first, "most": limit}
    return answered(await apart(request, lambda: one.ask(question)))


@router.get(
    "/allocations/{uid:name}/why",
    response_model=views.AllocationExplained,
    openapi_extra=needs("read-all"),
    summary="Explain a job of a round of a cluster",
)
async def explained(request: Request, uid: Uid, job: Job) -> Response:
    """Why a job got what it got: what each type would bring and cost, and what binds."""
    one = _allocations(request).get(uid)
    return answered(await apart(request, lambda: one.ask({"job": job})))


@router.post(
    "/allocations/{uid:name}:cancel",
    response_model=views.Allocation,
    openapi_extra=needs("operate"),
    summary="Cancel a round of a cluster",
)
async def cancel(request: Request, uid: Uid, key: IdempotencyKey = None) -> Response:
    """End its process; one that has ended stays as it is, and is not cancelled."""
    allocations = _allocations(request)

    def work() -> dict[str, Any]:
        return _shown(computed.cancel(request, allocations, uid))

    return await once_in_memory(request, allocations.replies, key, 200, work)
