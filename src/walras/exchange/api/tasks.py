"""Routes of tasks: submit, list, look at, explain, cancel, release."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from walras.exchange.api import views
from walras.exchange.api.auth import operates
from walras.exchange.api.explain import history, why_of
from walras.exchange.api.models import NAME, Name, RejectIn, TaskIn, TaskItem, TasksIn, one_of
from walras.exchange.api.routing import (
    IdempotencyKey,
    IfNoneMatch,
    Reply,
    ScopedRoute,
    Uid,
    answered,
    api_of,
    caller_of,
    needs,
    once,
    reading,
    tagged,
)
from walras.exchange.errors import FieldError, NotFoundError
from walras.exchange.runtime.home import new_uid
from walras.exchange.service import audit, audits, queries, tasks
from walras.exchange.service.tokens import Caller
from walras.exchange.states import TASK
from walras.exchange.store.statements import Transaction

router = APIRouter(prefix="/v1/tasks", route_class=ScopedRoute, tags=["tasks"])
batches = APIRouter(prefix="/v1", route_class=ScopedRoute, tags=["tasks"])

_FALLBACK = "default"  # the tenant of tasks that a token of no tenant submits
State = Annotated[str, Field(pattern=one_of(TASK))]


class TaskQuery(BaseModel):
    """Which tasks a page shows."""

    model_config = ConfigDict(extra="forbid")

    state: list[State] = Field(default=[], max_length=9, description="In these states.")
    tenant: Name | None = None
    name: Name | None = None
    cluster: Name | None = Field(default=None, description="Whose newest placement is there.")
    round: int | None = Field(default=None, ge=1, le=2**53, description="That a round placed.")
    cursor: str | None = Field(
        default=None, pattern=NAME, description="``next_cursor`` of the page before."
    )
    limit: int = Field(default=100, ge=1, le=500)


def tenant_of(caller: Caller, asked: str | None) -> str:
    """The tenant for which a caller submits.

    Raises:
        NotFoundError: It does not exist, or is another one's; the answer is the same.
    """
    if caller.tenant is None:
        return asked or _FALLBACK
    if asked not in (None, caller.tenant):
        raise NotFoundError(
            f"there is no tenant '{asked}'",
            where="tenant",
            remedy="leave the tenant out",
            pointer="/tenant",
        )
    return caller.tenant


def _made(given: TaskItem, now: float, pointer: str) -> tasks.NewTask:
    if given.deadline is not None and given.deadline <= now:
        raise FieldError(
            f"is {now - given.deadline:.0f} s ago",
            where="deadline",
            allowed="a time to come, in seconds since 1970",
            remedy="choose a later one, or leave it out",
            pointer=f"{pointer}/deadline",
        )
    return tasks.NewTask(
        new_uid("t"),
        given.name,
        tuple(given.command),
        given.features,
        given.slots,
        given.priority,
        given.deadline,
        given.min_success,
        given.max_attempts,
        given.time_limit,
        given.requires,
        given.environment,
        given.auditable,
    )


def _submitted(made: tasks.NewTask, tenant: str, now: float) -> dict[str, Any]:
    return {
        "uid": made.uid,
        "name": made.name,
        "tenant": tenant,
        "state": "pending",
        "submitted": now,
        "version": 0,
    }


@router.post(
    "",
    status_code=201,
    response_model=views.Submitted,
    openapi_extra=needs("submit"),
    summary="Submit a task",
)
async def submit(request: Request, body: TaskIn, key: IdempotencyKey = None) -> Response:
    """Add a task; when the answer comes, it is durable."""
    tenant = tenant_of(caller_of(request), body.tenant)

    def work(tx: Transaction, now: float) -> Reply:
        made = _made(body, now, "")
        tasks.submit(tx, now, tenant, [made])
        where = {"Location": f"/v1/tasks/{made.uid}"}
        return Reply(_submitted(made, tenant, now), 201, where)

    return await once(request, key, work)


@batches.post(
    "/tasks:batch",
    status_code=201,
    response_model=views.SubmittedTasks,
    openapi_extra=needs("submit"),
    summary="Submit up to 500 tasks, all or none",
)
async def submit_batch(request: Request, body: TasksIn, key: IdempotencyKey = None) -> Response:
    """Add tasks of one tenant; all are durable when the answer comes, or none was added."""
    tenant = tenant_of(caller_of(request), body.tenant)

    def work(tx: Transaction, now: float) -> Reply:
        made = [_made(given, now, f"/tasks/{k}") for k, given in enumerate(body.tasks)]
        tasks.submit(tx, now, tenant, made, batch=True)
        return Reply({"tasks": [_submitted(one, tenant, now) for one in made]}, 201)

    return await once(request, key, work)


@router.get("", response_model=views.TaskPage, openapi_extra=needs("read"), summary="List tasks")
async def listed(request: Request, query: Annotated[TaskQuery, Query()]) -> Response:
    """Tasks, the newest first; a tenant's token sees its own."""
    caller = caller_of(request)
    if caller.tenant is not None and query.tenant not in (None, caller.tenant):
        return answered({"items": [], "next_cursor": None})
    which = queries.Filter(
        caller.tenant or query.tenant, tuple(query.state), query.name, query.cluster, query.round
    )
    found, cursor = await reading(
        request, lambda tx: queries.page(tx, which, query.limit, query.cursor)
    )
    return answered({"items": found, "next_cursor": cursor})


@router.get(
    "/{uid:name}",
    response_model=views.TaskDetail,
    openapi_extra=needs("read"),
    summary="Look at a task",
)
async def shown(request: Request, uid: Uid, seen: IfNoneMatch = None) -> Response:
    """A task, what it asks for, and its placements; its version is the ETag."""
    owner = caller_of(request).tenant

    def work(tx: Transaction) -> dict[str, Any]:
        found = queries.detail(tx, uid, owner)
        placements = queries.placements(tx, uid, owner)
        hidden = ("log", "receipt")
        shown = [{k: v for k, v in one.items() if k not in hidden} for one in placements]
        return found | {"placements": shown}

    return tagged(request, await reading(request, work))


@router.get(
    "/{uid:name}/why",
    response_model=views.Why,
    openapi_extra=needs("read"),
    summary="Why a task is where it is",
)
async def why(request: Request, uid: Uid) -> Response:
    """Every reason why a task was not placed, with numbers; or where it is and since when."""
    owner, exchange = caller_of(request).tenant, api_of(request).exchange
    now, timing = exchange.now(), exchange.settings.timing
    return answered(await reading(request, lambda tx: why_of(tx, now, uid, owner, timing)))


@router.get(
    "/{uid:name}/receipt",
    response_model=views.Receipt,
    openapi_extra=needs("read"),
    summary="Why an attempt is on its cluster",
)
async def receipt(
    request: Request,
    uid: Uid,
    attempt: Annotated[
        int | None,
        Query(ge=1, le=2**31, description="The newest, or the one that ended it, if not given."),
    ] = None,
) -> Response:
    """The predicted time and success with intervals, the runner-up, what binds, the price."""
    owner = caller_of(request).tenant

    def work(
        tx: Transaction,
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
        placed = queries.placements(tx, uid, owner)
        asked = attempt or queries.shown_attempt(tx, uid, owner) or 0
        chosen = [one for one in placed if one["attempt"] == asked]
        return placed, chosen, audits.marks(tx, uid, owner, asked)

    found, chosen, marks = await reading(request, work)
    if not chosen:
        raise NotFoundError(
            f"has no attempt {attempt}" if attempt else "was not placed yet",
            where=f"task {uid}",
            allowed=f"1 to {found[-1]['attempt']}" if found else "",
            remedy=f"walras why {uid} tells why it waits",
        )
    (one,) = chosen
    names = ("attempt", "cluster", "round", "state", "receipt")
    return answered({"task": uid} | {name: one[name] for name in names} | marks)


@router.get(
    "/{uid:name}/log",
    response_model=views.TaskLog,
    openapi_extra=needs("read"),
    summary="What happened to a task, and what it printed",
)
async def log(request: Request, uid: Uid) -> Response:
    """Each step with its time, and the end of what the last run printed."""
    owner = caller_of(request).tenant

    def work(tx: Transaction) -> dict[str, Any]:
        return history(queries.detail(tx, uid, owner), queries.placements(tx, uid, owner))

    return answered(await reading(request, work))


@router.post(
    "/{uid:name}:cancel",
    response_model=views.TaskState,
    openapi_extra=needs("submit"),
    summary="Cancel a task",
)
async def cancel(request: Request, uid: Uid, key: IdempotencyKey = None) -> Response:
    """Cancel a task; one that runs is stopped at its agent's next sync."""
    owner = caller_of(request).tenant

    def work(tx: Transaction, now: float) -> Reply:
        return Reply({"uid": uid, "state": tasks.cancel(tx, now, uid, owner)})

    return await once(request, key, work)


@router.post(
    "/{uid:name}:reject",
    response_model=views.TaskState,
    openapi_extra=needs("submit"),
    summary="Reject the result of a task that has succeeded",
)
async def reject(
    request: Request, uid: Uid, body: RejectIn, key: IdempotencyKey = None
) -> Response:
    """Say that a result is wrong: it counts no more, and is audited where the task allows that.

    The task stays as it is; the answer's state is that of its result. An operator's word is final:
    nothing of the provider's runs counts any more.
    """
    caller = caller_of(request)
    owner, final = caller.tenant, operates(caller)

    def work(tx: Transaction, now: float) -> Reply:
        state = audits.reject(tx, now, uid, owner, body.reason, actor=caller.name, final=final)
        return Reply({"uid": uid, "state": state})

    return await once(request, key, work)


@router.post(
    "/{uid:name}:release",
    response_model=views.TaskState,
    openapi_extra=needs("operate"),
    summary="Say that the run of a held task is dead",
)
async def release(request: Request, uid: Uid, key: IdempotencyKey = None) -> Response:
    """Let a held task be granted again; see that its run is dead first, or it runs twice."""
    caller = caller_of(request)

    def work(tx: Transaction, now: float) -> Reply:
        state = tasks.release(tx, now, uid)
        audit.record(tx, now, caller.name, "task.release", uid)
        return Reply({"uid": uid, "state": state})

    return await once(request, key, work)
