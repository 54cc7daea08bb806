"""Routes of rounds: list, look at, compare, ask for one, play one."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from walras.exchange.api import views
from walras.exchange.api.admin import NumberQuery
from walras.exchange.api.models import RunIn, WhatIfIn
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
from walras.exchange.errors import BusyError, ConflictError
from walras.exchange.runtime.round import ASKED, KIND
from walras.exchange.service import audit, jobs, listings
from walras.exchange.store.statements import Transaction

router = APIRouter(prefix="/v1/rounds", route_class=ScopedRoute, tags=["rounds"])
verbs = APIRouter(prefix="/v1", route_class=ScopedRoute, tags=["rounds"])

_SHOWN = 500  # moves that a comparison lists
_LARGE = 10**9

Seq = Annotated[int, Path(ge=1, le=2**53, description="The round's number.")]


@router.get(
    "",
    response_model=views.RoundPage,
    openapi_extra=needs("read"),
    summary="List rounds",
)
async def listed(request: Request, query: Annotated[NumberQuery, Query()]) -> Response:
    """Rounds, the newest first."""
    found, cursor = await reading(request, lambda tx: listings.rounds(tx, query.limit, query.after))
    return answered({"items": found, "next_cursor": cursor})


@router.get(
    "/{seq:name}",
    response_model=views.RoundDetail,
    openapi_extra=needs("read"),
    summary="Look at a round",
)
async def shown(request: Request, seq: Seq, query: Annotated[NumberQuery, Query()]) -> Response:
    """A round and a page of its placements; a tenant's token sees its own tasks."""
    owner = caller_of(request).tenant

    def work(tx: Transaction) -> dict[str, Any]:
        found = listings.one_round(tx, seq)
        placed, cursor = listings.placed(tx, seq, owner, query.limit, query.after)
        blockers = listings.left_out(tx, seq)
        return found | {"blockers": blockers, "placements": placed, "next_cursor": cursor}

    return answered(await reading(request, work))


@router.get(
    "/{seq:name}/diff/{other:name}",
    response_model=views.RoundDiff,
    openapi_extra=needs("read"),
    summary="Compare two rounds",
)
async def diff(request: Request, seq: Seq, other: Seq) -> Response:
    """What a round placed otherwise than another one, and their figures side by side."""
    owner = caller_of(request).tenant

    def work(tx: Transaction) -> dict[str, Any]:
        rounds = [listings.one_round(tx, number) for number in (seq, other)]
        plans: list[dict[str, str]] = []
        names: dict[str, str] = {}
        for number in (seq, other):
            placed, _ = listings.placed(tx, number, owner, _LARGE, None)
            plans.append({one["task"]: one["cluster"] for one in placed})
            names |= {one["task"]: one["name"] for one in placed}
        figures: dict[str, list[Any]] = {
            name: [one[name] for one in rounds] for name in ("makespan", "bound", "gap")
        }
        figures["placed"] = [len(plan) for plan in plans]
        moves = [move | {"name": names[move["task"]]} for move in moved(*plans)]
        moves.sort(key=lambda move: move["before"] is None or move["after"] is None)
        return {
            "seq": seq,
            "other": other,
            "figures": figures,
            "moves": moves[:_SHOWN],
            "more": max(len(moves) - _SHOWN, 0),
        }

    return answered(await reading(request, work))


def moved(before: dict[str, str], after: dict[str, str]) -> list[dict[str, Any]]:
    """Tasks that two plans place differently."""
    return [
        {"task": task, "before": before.get(task), "after": after.get(task)}
        for task in sorted(before.keys() | after.keys())
        if before.get(task) != after.get(task)
    ]


@verbs.post(
    "/rounds:run",
    status_code=202,
    response_model=views.Job,
    openapi_extra=needs("operate"),
    summary="Ask for a round now",
)
async def run(request: Request, body: RunIn | None = None, key: IdempotencyKey = None) -> Response:
    """Ask for a round that sees all that was stored before; the job tells its number."""
    caller = caller_of(request)

    def work(tx: Transaction, now: float) -> Reply:
        number = jobs.ask(tx, now, KIND, ASKED)
        audit.record(tx, now, caller.name, "round.run", str(number))
        return Reply(jobs.status(tx, number), 202, {"Location": f"/v1/jobs/{number}"})

    made = await once(request, key, work)
    api_of(request).background.wake(KIND)
    return made


@verbs.post(
    "/rounds:whatif",
    response_model=views.WhatIf,
    openapi_extra=needs("operate"),
    summary="Play a round and publish nothing",
)
async def what_if(request: Request, body: WhatIfIn, key: IdempotencyKey = None) -> Response:
    """Play a round on what is stored now, or on a past round, with some things otherwise."""
    api = api_of(request)
    if not api.playing.acquire(blocking=False):
        raise BusyError(
            "another what-if question is being answered", where="whatif", remedy="wait for it"
        )
    try:
        made = await asyncio.to_thread(_play, request, body)
    finally:
        api.playing.release()

    def work(tx: Transaction, now: float) -> Reply:
        return Reply(made)

    return await once(request, key, work)


def _play(request: Request, body: WhatIfIn) -> dict[str, Any]:
    api = api_of(request)

    def stored(tx: Transaction) -> bytes | None:
        if body.round is None:
            return None
        snapshot, _ = listings.blobs(tx, body.round)
        if snapshot is None:
            raise ConflictError(
                "its snapshot was forgotten",
                where=f"round {body.round}",
                allowed=f"one of the last {api.exchange.settings.keep_snapshots} rounds",
                remedy="choose a later round, or leave it out",
                pointer="/round",
            )
        return snapshot

    snapshot = api.exchange.read(stored)
    changes = body.model_dump(exclude={"round", "seed"}, exclude_none=True)
    played = api.planner.play(
        api.exchange,
        snapshot,
        changes,
        body.seed or 0,
        api.exchange.settings.round_seconds,
        api.asking,
    )
    moves = moved(played.before, played.after)
    return {
        "figures": played.figures,
        "state": played.state,
        "placed": len(played.after),
        "unplaced": played.unplaced,
        "clusters": played.clusters,
        "moves": moves[:_SHOWN],
        "more": max(len(moves) - _SHOWN, 0),
        "blockers": played.blockers,
    }
