"""The page of predictors: versions, their scores in the shadow, promotion and rollback."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from walras.exchange.api.routing import needs
from walras.exchange.pages.ask import ask
from walras.exchange.pages.render import PageRoute, shown
from walras.exchange.pages.words import percent
from walras.exchange.service.promotion import COVERED, MARGIN

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_NO_WORSE = f"the upper end is at most {MARGIN:.0%}".replace("%", " %")
_COVERS = f"{COVERED[0]:.0%} to {COVERED[1]:.0%} in each cluster".replace("%", " %")


@router.get("/predictors", openapi_extra=needs("read"))
async def listed(request: Request) -> Response:
    """Predictors, the newest first."""
    found = await ask(request, "/v1/predictors", limit=50)
    return shown(
        request,
        "predictors.html",
        predictors=found["items"],
        scored={
            one["version"]: tests((one["scores"] or {}).get("look", {})) for one in found["items"]
        },
    )


def tests(look: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """The tests of a look, in their order: name, what was found, its upper end, the rule.

    Args:
        look: Scores of ``walras.exchange.service.promotion.judge``; shares of one.

    Example:
        >>> from walras.exchange.pages.predictors import tests
        >>> tests({"time": {"found": -0.1, "upper": 0.004}})
        [('error of time', '−10.0 %', '+0.4 %', 'the upper end is at most 1 %')]
    """
    rows = [
        (f"error of {name}", _change(look[name]["found"]), _change(look[name]["upper"]), _NO_WORSE)
        for name in ("time", "success")
        if name in look
    ]
    shares = list(look.get("coverage", {}).values())
    if shares:
        rows.append(("times in their 90 % interval, least", percent(min(shares)), "", _COVERS))
        rows.append(("times in their 90 % interval, most", percent(max(shares)), "", _COVERS))
    if "makespan" in look:
        active, candidate = look["makespan"]["active"], look["makespan"]["candidate"]
        change = candidate / active - 1.0 if active > 0.0 else None
        rows.append(("makespan of its plans", _change(change), "", "no longer than today"))
    return rows


def _change(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return "unknown"
    return f"{100.0 * value:+.1f} %".replace("-", "−")
