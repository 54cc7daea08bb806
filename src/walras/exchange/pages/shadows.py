"""Pages of shadow mode: logs that were compared, one of them with its report."""

from __future__ import annotations

import shlex
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from walras.exchange.api.gate import BODY
from walras.exchange.api.routing import Uid, needs
from walras.exchange.pages.ask import ask
from walras.exchange.pages.render import PageRoute, shown

router = APIRouter(route_class=PageRoute, include_in_schema=False)

MOST = int(0.9 * BODY)
"""Bytes of a log that the page sends; as JSON it grows a little."""


@router.get("/shadow", openapi_extra=needs("read-all"))
async def listed(request: Request) -> Response:
    """Logs that were compared, and a form that sends one."""
    found = await ask(request, "/v1/shadows")
    running = any(one["state"] == "running" for one in found["items"])
    return shown(request, "shadows.html", shadows=found["items"], running=running, most=MOST)


@router.get("/shadow/{uid:name}", openapi_extra=needs("read-all"))
async def one(request: Request, uid: Uid) -> Response:
    """A comparison: its progress, its report, or why it was refused."""
    found = await ask(request, f"/v1/shadows/{uid}")
    return shown(request, "shadow.html", shadow=found, command=command(found))


def command(asked: dict[str, Any]) -> str:
    """The command that compares the same log on another machine, for a shell.

    Example:
        >>> usual = {"only_seen": False, "train": 0.5, "min_success": 0.8, "seed": 0}
        >>> of = {"name": "my log.csv", "scheduler": "csv", "slots": {"a": 4}, "prices": {}}
        >>> command(of | usual)[:66]
        "walras shadow 'my log.csv' --scheduler csv --slots a=4 --train 0.5"
    """
    name = asked["name"] or "LOG"
    path = f"./{name}" if name.startswith("-") else name  # or it would be an option
    words = ["walras", "shadow", path, "--scheduler", asked["scheduler"]]
    for option, pairs in (("--slots", asked["slots"]), ("--price", asked["prices"])):
        for name, value in pairs.items():
            words += [option, f"{name}={value}"]
    if asked["scheduler"] == "slurm":
        words += ["--cluster", asked["cluster"]]
        words += ["--slots-by", asked["slots_by"]] if asked["slots_by"] else []
    words += ["--only-seen"] if asked["only_seen"] else []
    for option in ("train", "min_success", "seed"):
        words += [f"--{option.replace('_', '-')}", str(asked[option])]
    return shlex.join([*words, "--report", "shadow.html"])
