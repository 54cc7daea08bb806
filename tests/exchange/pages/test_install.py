"""Every page needs a session and shows each role what its token may see; no page asks elsewhere."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fastapi import FastAPI
from tests.exchange.api.serving import ROLES
from tests.exchange.pages.conftest import Site

from walras.exchange.api.app import routes
from walras.exchange.pages.install import PAGES

_READ = {"admin", "operator", "reader", "alpha", "alpha-read", "beta"}
_ALL = {"admin", "operator", "reader"}
_PROVIDERS = {"provider-c1", "provider-c2"}
MAY = {
    "/": _READ | _PROVIDERS,
    "/rounds": _READ,
    "/rounds/1": _READ,
    "/rounds/1/diff/2": _READ,
    "/rounds/diff?seq=1&other=2": _READ,
    "/tasks": _READ,
    "/tasks/{mine}": _READ - {"beta"},
    "/submit": {"admin", "submitter", "alpha", "alpha-submit", "beta"},
    "/clusters": _READ | _PROVIDERS,
    "/clusters/c1": _READ | {"provider-c1"},
    "/predictors": _READ,
    "/network": _ALL,
    "/network/{network}": _ALL,
    "/allocate": _ALL,
    "/allocate/{allocation}": _ALL,
    "/shadow": _ALL,
    "/shadow/{shadow}": _ALL,
    "/status": _ALL,
    "/reference": _READ | _PROVIDERS,
}
"""Page -> roles that see it."""


def _paths(app: FastAPI) -> set[str]:
    parts = [app, *(getattr(route, "original_router", None) for route in app.routes)]
    routes = [route for part in parts if part is not None for route in part.routes]
    return {re.sub(r"\{\w+:name\}", "*", route.path) for route in routes if hasattr(route, "path")}


@pytest.fixture
def filled(site: Site) -> dict[str, str]:
    """What the paths name: a task of tenant alpha that runs, two rounds, and what is computed."""
    mine, _ = site.served.running("mine", "alpha")
    site.served.task("waits", "alpha", requires={"gpu": "none"})
    site.served.post("/v1/rounds:run")
    site.served.round()
    small = {"centres": 2, "graph": "ring", "learns": False}
    log = {"log": "x", "scheduler": "csv"}
    return {
        "mine": mine,
        "network": site.served.post("/v1/networks", small)["uid"],
        "allocation": site.served.post("/v1/allocations", {"jobs": 4, "resources": 16})["uid"],
        "shadow": site.served.post("/v1/shadows", log)["uid"],
    }


def test_each_role_sees_the_pages_that_it_may(site: Site, filled: dict[str, str]) -> None:
    for path, may in MAY.items():
        for role in ROLES:
            if role in ("submitter", "alpha-submit"):
                continue  # cannot sign in: they read nothing
            status = site.get(path.format(**filled), role).status_code
            seen = status in (200, 303)
            assert seen == (role in may), f"{role} {path}: {status}"
            assert seen or status in (403, 404)


def test_all_pages_are_in_that_table(quick_site: Site) -> None:
    app: Any = quick_site.served.app.app
    named = {re.sub(r"/(\d+|c1|\{\w+\})", "/*", path.partition("?")[0]) for path in MAY}
    assert _paths(app) - _paths(routes()) == named | {"/login", "/changes", "/static"}


def test_without_a_session_a_browser_is_sent_to_sign_in(site: Site, filled: dict[str, str]) -> None:
    for path in MAY:
        answer = site.get(path.format(**filled), None)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
        answer = site.served.client.get(path.format(**filled), follow_redirects=False)
        assert answer.status_code == 401, "a program gets a problem"
    answer = site.get("/v1/tasks", None)
    assert answer.status_code == 401, "the API sends nobody elsewhere"


def test_no_page_names_another_address_or_has_inline_scripts(
    site: Site, filled: dict[str, str]
) -> None:
    for path in MAY:
        answer = site.get(path.format(**filled))
        if answer.status_code == 303:
            continue
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self'")
        assert "unsafe" not in policy
        loaded = re.findall(
            r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"([^\"]*)\"", answer.text
        )
        assert loaded
        assert all(one.startswith("/static/") for one in loaded)
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=|javascript:", answer.text)


def test_only_the_pages_of_signing_in_and_files_are_open() -> None:
    assert PAGES.open == ("/login", "/static/")
    assert PAGES.sign_in == "/login"


def test_a_browser_that_asks_for_nothing_gets_a_page(quick_site: Site) -> None:
    answer = quick_site.get("/nosuch")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no such page" in answer.text
    assert '<a href="/">To the first page</a>' in answer.text
    for path, accept in (("/v1/nosuch", "text/html"), ("/nosuch", "application/json")):
        answer = quick_site.get(path, accept=accept)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
