"""The routes of the pages, and which of them need no session."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from walras.exchange.api.app import Pages
from walras.exchange.pages import (
    allocations,
    changes,
    clusters,
    networks,
    predictors,
    reference,
    rounds,
    shadows,
    signing,
    status,
    tasks,
)
from walras.exchange.pages.files import Files
from walras.exchange.pages.render import bare


def _install(app: FastAPI) -> None:
    for module in (
        rounds,
        tasks,
        clusters,
        predictors,
        allocations,
        networks,
        shadows,
        status,
        reference,
        changes,
        signing,
    ):
        app.include_router(module.router)
    app.mount("/static", Files())
    problem_of: Any = app.exception_handlers[HTTPException]

    async def missing(request: Request, error: Exception) -> Response:
        """A page for browsers where there is none; what the API says for programs."""
        path = request.url.path
        page = not path.startswith("/v1/") and "text/html" in request.headers.get("accept", "")
        if not (isinstance(error, HTTPException) and error.status_code == 404 and page):
            answered: Response = problem_of(request, error)
            return answered
        problem = {"title": "There is no such page", "detail": path}
        return HTMLResponse(bare("error.html", problem=problem), 404)

    app.add_exception_handler(HTTPException, missing)


PAGES = Pages(_install, open=("/login", "/static/"), sign_in="/login")
