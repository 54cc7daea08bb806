"""Pages of tasks: the list with its filter, one task, a form for a new one."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from walras.exchange.api.models import NAME
from walras.exchange.api.routing import Uid, caller_of, needs
from walras.exchange.pages.ask import AskError, ask
from walras.exchange.pages.render import PageRoute, shown
from walras.exchange.pages.words import BINDING
from walras.exchange.states import ENDED_TASK, OPEN_TASK

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_SHOWN = 50  # tasks of a page


class Chosen(BaseModel):
    """Which tasks are shown; a field of the form that is left empty asks for nothing."""

    model_config = ConfigDict(extra="ignore")

    state: list[str] = Field(default=[], max_length=20)
    name: str = Field(default="", max_length=200)
    cluster: str = Field(default="", pattern=rf"{NAME}|^$")
    round: str = Field(default="", pattern=r"^[0-9]{0,15}$")
    cursor: str = Field(default="", pattern=rf"{NAME}|^$")


@router.get("/tasks", openapi_extra=needs("read"))
async def listed(request: Request, chosen: Annotated[Chosen, Query()]) -> Response:
    """Tasks, the newest first."""
    asked = chosen.model_dump()
    found = await ask(request, "/v1/tasks", limit=_SHOWN, **asked)
    return shown(
        request,
        "tasks.html",
        tasks=found["items"],
        next_cursor=found["next_cursor"],
        chosen=chosen,
        states=(*OPEN_TASK, *ENDED_TASK),
    )


@router.get("/tasks/{uid:name}", openapi_extra=needs("read"))
async def one(request: Request, uid: Uid) -> Response:
    """A task: where it is and why, its receipt, its runs, what it printed."""
    found, why, log, receipt = await asyncio.gather(
        ask(request, f"/v1/tasks/{uid}"),
        ask(request, f"/v1/tasks/{uid}/why"),
        ask(request, f"/v1/tasks/{uid}/log"),
        _receipt(request, uid),
    )
    return shown(
        request,
        "task.html",
        task=found,
        why=why,
        log=log,
        receipt=receipt,
        ended=found["state"] in ENDED_TASK,
        binds=BINDING,
    )


async def _receipt(request: Request, uid: str) -> dict[str, Any] | None:
    """The receipt of a task's run; None before it was placed."""
    try:
        return await ask(request, f"/v1/tasks/{uid}/receipt")
    except AskError as error:
        if error.status == 404:
            return None
        raise


@router.get("/submit", openapi_extra=needs("submit"))
async def form(request: Request) -> Response:
    """A form for a new task."""
    return shown(request, "submit.html", owner=caller_of(request).tenant)
