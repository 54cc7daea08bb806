"""Pages of rounds of a cluster: those that were solved, one beside HiGHS, a job's explanation."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from walras.exchange.api.gate import BODY
from walras.exchange.api.routing import Uid, needs
from walras.exchange.pages.ask import AskError, ask
from walras.exchange.pages.render import PageRoute, shown

router = APIRouter(route_class=PageRoute, include_in_schema=False)

MOST = int(0.9 * BODY)
"""Bytes of tables that the page sends; as JSON they grow a little."""

_SHOWN = 50  # jobs of a page
_SAME = 1e-5  # relative difference of two values that are one optimum

Like = Annotated[str, Query(max_length=200)]
First = Annotated[int, Query(ge=0, le=1_000_000)]


@router.get("/allocate", openapi_extra=needs("read-all"))
async def listed(request: Request) -> Response:
    """Rounds that were solved, and a form that states one."""
    found = await ask(request, "/v1/allocations")
    return shown(request, "allocations.html", allocations=found["items"], most=MOST)


@router.get("/allocate/{uid:name}", openapi_extra=needs("read-all"))
async def one(
    request: Request, uid: Uid, like: Like = "", first: First = 0, job: Like = ""
) -> Response:
    """A round: value and bound, prices, its jobs, and why one of them got its share."""
    found = await ask(request, f"/v1/allocations/{uid}")
    path, jobs, why, unknown = f"/v1/allocations/{uid}", None, None, ""
    if found["state"] == "done":
        try:
            jobs = await ask(request, f"{path}/jobs", like=like, first=first, limit=_SHOWN)
            why = await ask(request, f"{path}/why", job=job) if job else None
        except AskError as error:
            unknown = str(error)  # its process has ended, or there is no such job
    return shown(
        request,
        "allocation.html",
        allocation=found,
        jobs=jobs,
        why=why,
        unknown=unknown,
        like=like,
        first=first,
        shown=_SHOWN,
        command=command(found),
        speedup=speedup(found["result"]),
    )


def speedup(result: dict[str, Any] | None) -> float | None:
    """HiGHS' seconds over ours, where both reached the same optimum.

    Example:
        >>> speedup({"ours": {"status": "optimal", "seconds": 2.0, "value": 1.0},
        ...          "highs": {"status": "Optimal", "seconds": 30.0, "value": 1.0}})
        15.0
    """
    if result is None or result["highs"] is None:
        return None
    ours, highs = result["ours"], result["highs"]
    if ours.get("status") != "optimal" or highs.get("status") != "Optimal":
        return None
    scale = max(abs(ours["value"]), 1e-12)
    if abs(ours["value"] - highs["value"]) > _SAME * scale:
        return None  # ours was asked for less
    return float(highs["seconds"] / ours["seconds"])


def command(asked: dict[str, Any]) -> str:
    """The command that solves the same tables on another machine; empty for a drawn round.

    Example:
        >>> asked = {"objective": "max-min", "normalise": "gpu", "limit": 60.0}
        >>> command(asked | {"uploaded": True})[-51:]
        '--objective max-min --normalise gpu --time-limit 60'
    """
    if not asked["uploaded"]:
        return ""
    words = ["walras", "solve", "cluster", "--throughput", "t.csv", "--jobs", "j.csv"]
    words += ["--resources", "r.csv", "--objective", asked["objective"]]
    words += ["--normalise", asked["normalise"], "--time-limit", f"{asked['limit']:g}"]
    return shlex.join(words)
