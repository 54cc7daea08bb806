"""The routes of the pages, and which of them need no session."""

from __future__ import annotations

from fastapi import FastAPI

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


PAGES = Pages(_install, open=("/login", "/static/"), sign_in="/login")
