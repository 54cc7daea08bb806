"""Pages of networks in virtual time: those that there are, one of them with its controls."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from walras.exchange.api.routing import Uid, needs
from walras.exchange.pages.ask import ask
from walras.exchange.pages.render import PageRoute, shown

router = APIRouter(route_class=PageRoute, include_in_schema=False)

SPEEDS = (1, 5, 20, 50, 200)
"""Rounds a second that the page offers."""

_EVENTS = 12


@router.get("/network", openapi_extra=needs("read-all"))
async def listed(request: Request) -> Response:
    """Networks that run here, and a form that starts one."""
    found = await ask(request, "/v1/networks")
    return shown(request, "networks.html", networks=found["items"])


@router.get("/network/{uid:name}", openapi_extra=needs("read-all"))
async def one(request: Request, uid: Uid) -> Response:
    """A network: its balance, centres, links, charts and controls."""
    found = await ask(request, f"/v1/networks/{uid}")
    around: dict[int, list[list[int]]] = {one["centre"]: [] for one in found["centres"]}
    for link in found["links"]:
        for end in link["ends"]:
            around[end].append(link["ends"])
    return shown(
        request,
        "network.html",
        network=found,
        around=around,
        cut=[link["ends"] for link in found["links"] if link["state"] == "cut"],
        running=sum(one["state"] not in _DOWN for one in found["centres"]),
        events=found["events"][:_EVENTS],
        speeds=SPEEDS,
        scenario=toml(found["scenario"]),
    )


_DOWN = ("stopped", "owed", "settled")


def toml(tables: dict[str, Any]) -> str:
    """The text of a scenario file; JSON writes numbers, words and truth as TOML does.

    Example:
        >>> print(toml({"seed": 3, "network": {"kind": "ring", "centres": 5}}))
        seed = 3
        <BLANKLINE>
        [network]
        kind = "ring"
        centres = 5
    """
    lines = [f"{k} = {json.dumps(v)}" for k, v in tables.items() if not isinstance(v, dict)]
    for name, table in tables.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]", *(f"{k} = {json.dumps(v)}" for k, v in table.items())]
    return "\n".join(lines)
