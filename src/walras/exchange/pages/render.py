"""How pages are made: templates, words for numbers, and one making for many who look at once."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse

from walras.exchange.api.auth import csrf_word, operates
from walras.exchange.api.gate import TOKEN
from walras.exchange.api.routing import ScopedRoute, api_of, caller_of
from walras.exchange.errors import ExchangeError
from walras.exchange.pages import words
from walras.exchange.pages.ask import AskError
from walras.exchange.pages.files import built
from walras.version import __version__

_TABS = (
    ("/rounds", "Rounds"),
    ("/tasks", "Tasks"),
    ("/clusters", "Clusters"),
    ("/predictors", "Predictors"),
    ("/allocate", "Allocate"),
    ("/network", "Network"),
    ("/shadow", "Shadow"),
    ("/status", "Status"),
    ("/reference", "API"),
)
_SECONDS = 1.0  # for which what was made for one is shown to others
_KEPT = 256  # makings that are kept
_NEWEST = 2**63  # no part shows an event of this number
AFTER = "x-walras-after"
"""Header of a page that is renewed: the event that it has to show, or ``now``."""

_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters.update(
    seconds=words.seconds,
    number=words.number,
    percent=words.percent,
    moment=words.moment,
    ago=words.ago,
)


def shown(request: Request, template: str, code: int = 200, **facts: Any) -> HTMLResponse:
    """A page; for a script that renews it, its main part alone.

    Args:
        request: The request.
        template: The file of the template.
        code: The HTTP status.
        facts: What the template names.
    """
    caller, secret = caller_of(request), str(request.scope[TOKEN])
    part = _is_part(request)
    text = _templates.get_template(template).render(
        layout="part.html" if part else "page.html",
        here=request.url.path,
        again=_again(request),
        tabs=_TABS,
        caller=caller,
        may_submit=bool({"submit", "admin"} & caller.scopes),
        may_operate=operates(caller),
        csrf=csrf_word(secret),
        built=built(),
        version=__version__,
        now=api_of(request).exchange.now(),
        **facts,
    )
    return HTMLResponse(text, code, headers={"Vary": "HX-Request"})


def _again(request: Request) -> str:
    query = request.url.query
    return request.url.path + (f"?{query}" if query else "")


def _is_part(request: Request) -> bool:
    return request.headers.get("hx-request") == "true"


class PageRoute(ScopedRoute):
    """A route whose errors are pages, and whose parts are made once a second for equal callers."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, its errors shown as pages."""
        inner = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await _once(request, inner) if _is_part(request) else await inner(request)
            except AskError as error:
                return shown(request, "error.html", error.status, problem=error.problem)
            except ExchangeError as error:
                problem = {"title": "", "detail": str(error), "remedy": error.remedy}
                return shown(request, "error.html", error.status, problem=problem)
            except RequestValidationError as error:
                first = error.errors()[0]
                where = str(first["loc"][-1])
                problem = {"title": "", "detail": f"{where}: {first['msg']}", "remedy": ""}
                return shown(request, "error.html", 422, problem=problem)

        return handler


Handler = Callable[[Request], Coroutine[Any, Any, Response]]


@dataclass(frozen=True)
class _Made:
    """A part that is made, or being made: when, and which event it shows for sure."""

    at: float
    event: int
    part: asyncio.Task[Response]

    def serves(self, now: float, event: int) -> bool:
        return now - self.at <= _SECONDS and event <= self.event


_made: OrderedDict[tuple[Any, ...], _Made] = OrderedDict()


async def _once(request: Request, inner: Handler) -> Response:
    """A part of a page, made anew at most once a second for callers with the same rights.

    A part holds nothing of the session itself: callers of one tenant and scopes see the same. A
    page that heard of an event names it, and gets no part that was begun before the event.
    """
    caller, asked = caller_of(request), request.headers.get(AFTER, "0")
    key = (id(request.app), _again(request), caller.tenant, caller.scopes)
    now, found = time.monotonic(), _made.get(key)
    event = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 16 else _NEWEST
    if found is None or not found.serves(now, event):
        newest = await api_of(request).hub.newest()
        found = _Made(now, newest, asyncio.ensure_future(inner(request)))
        _made[key] = found
        _made.move_to_end(key)
        while len(_made) > _KEPT:
            _made.popitem(last=False)
    made = await asyncio.shield(found.part)
    return Response(made.body, made.status_code, media_type="text/html")


def bare(template: str, **facts: Any) -> str:
    """The text of a page that nobody has signed in to."""
    return _templates.get_template(template).render(
        layout="bare.html", built=built(), version=__version__, **facts
    )
