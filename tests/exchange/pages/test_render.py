"""Parts for renewal, makings that many share, and errors as pages."""

from __future__ import annotations

from collections import OrderedDict

import pytest
from tests.exchange.pages.conftest import Site

from walras.exchange.pages import render
from walras.exchange.service import events


def test_a_script_gets_the_main_part_alone(site: Site) -> None:
    whole = site.text("/tasks")
    part = site.text("/tasks", hx_request="true")
    assert "<!doctype html>" in whole
    assert "<!doctype html>" not in part
    assert part.strip().startswith('<div class="head"><h1>Tasks</h1>')
    assert "csrf" not in part, "it is shown to others, too"


def test_a_part_is_made_once_a_second_for_callers_of_the_same_rights(
    quick_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(render, "_made", OrderedDict())
    monkeypatch.setattr("walras.exchange.pages.render.time.monotonic", lambda: now[0])
    empty = quick_site.text("/tasks", "alpha", hx_request="true")
    quick_site.served.task("fresh", "alpha")
    assert quick_site.text("/tasks", "alpha", hx_request="true") == empty
    assert "fresh" in quick_site.text("/tasks", "alpha-read", hx_request="true"), "other rights"
    assert "fresh" not in quick_site.text("/tasks", "beta", hx_request="true"), "another tenant"
    assert "fresh" in quick_site.text("/tasks", "alpha"), "a whole page is never kept"
    event = quick_site.served.exchange.read(events.newest)
    heard = quick_site.text("/tasks", "alpha", hx_request="true", x_walras_after=str(event))
    assert "fresh" in heard, "the page had heard of it"
    quick_site.served.task("own", "alpha")
    changed = quick_site.text("/tasks", "alpha", hx_request="true", x_walras_after="now")
    assert "own" in changed, "the page has changed something itself"
    now[0] += 1.1
    assert "fresh" in quick_site.text("/tasks", "alpha", hx_request="true")


def test_few_parts_are_kept(quick_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "_KEPT", 3)
    monkeypatch.setattr(render, "_made", OrderedDict())
    for k in range(5):
        quick_site.text(f"/tasks?name=n{k}", hx_request="true")
    assert [key[1] for key in render._made] == [f"/tasks?name=n{k}" for k in (2, 3, 4)]


@pytest.mark.parametrize(
    ("path", "role", "status", "words"),
    [
        ("/tasks/none", "admin", 404, "there is no task"),
        ("/rounds/99", "admin", 404, "there is no round 99"),
        ("/rounds/0", "admin", 422, "seq: Input should be greater than or equal to 1"),
        ("/rounds/x", "admin", 422, "seq: Input should be a valid integer"),
        ("/status", "alpha", 403, "scope read or operate for all tenants"),
        ("/tasks?state=odd", "admin", 422, "state"),
        ("/clusters/c9", "provider-c1", 404, "there is no cluster"),
    ],
)
def test_errors_are_pages(quick_site: Site, path: str, role: str, status: int, words: str) -> None:
    answer = quick_site.get(path, role)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert words in answer.text.replace("&#39;", "'")


def test_names_from_elsewhere_are_text_and_nothing_else(quick_site: Site) -> None:
    name = "<img src=x onerror=alert(1)>"
    uid = quick_site.served.task("evil", command=[name], environment={})
    text = quick_site.text(f"/tasks/{uid}")
    assert name not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_without_built_scripts_the_page_says_how_to_build_them(
    quick_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for built in (False, True):
        monkeypatch.setattr(render, "built", lambda b=built: b)
        text = quick_site.text("/rounds")
        assert ("./dev pages" in text) is not built
        assert ("/static/built/main.js" in text) is built


def test_an_odd_event_is_taken_for_the_newest(quick_site: Site) -> None:
    for odd in ("\xb2", "9" * 400, "-1", "now"):
        cookies = quick_site.sign_in("admin")
        cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
        headers = {
            b"hx-request": b"true",
            b"x-walras-after": odd.encode("latin-1"),
            b"cookie": cookie.encode(),
        }
        assert quick_site.served.client.get("/tasks", headers=headers).status_code == 200
