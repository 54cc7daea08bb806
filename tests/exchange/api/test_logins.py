"""A browser signs in by a link, and shows with each change that its request is the page's own."""

from __future__ import annotations

from typing import Any

import pytest
from tests.exchange.api.serving import Served, problem

from walras.exchange.api.auth import cookie_name, csrf_word, session_of
from walras.exchange.errors import UnauthorisedError
from walras.exchange.service import sessions

HOST = {b"host": b"testserver"}


def _session(served: Served, role: str = "admin") -> str:
    """The secret of a session of a role."""
    path = served.post("/v1/logins", role=role)["path"]
    link = path.partition("=")[2]
    secret = f"wls_{role}-0123456789012345678901234567890"
    served.exchange.write(lambda tx, now: sessions.sign_in(tx, now, link, f"s-{role}", secret))
    return secret


def _send(served: Served, method: str, path: str, secret: str, **more: str) -> Any:
    headers = {name.replace("_", "-"): value for name, value in more.items()}
    headers["cookie"] = f"other=1; {cookie_name(HOST)}={secret}"
    return served.send(method, path, role=None, headers=headers)


def test_a_session_reads_what_its_token_may_read(served: Served) -> None:
    secret = _session(served, "alpha-read")
    mine, other = served.task("mine", "alpha"), served.task("other", "beta")
    assert _send(served, "GET", f"/v1/tasks/{mine}", secret).status_code == 200
    problem(_send(served, "GET", f"/v1/tasks/{other}", secret), 404, "WAL-2404")
    problem(_send(served, "GET", "/v1/tokens", secret), 403, "WAL-2403")
    problem(_send(served, "GET", "/v1/tasks", secret[:-1] + "x"), 401, "WAL-2401")


def test_a_change_needs_the_word_of_the_page(served: Served) -> None:
    secret = _session(served)
    word = csrf_word(secret)
    wrong: list[dict[str, str]] = [
        {},
        {"x_csrf_token": ""},
        {"x_csrf_token": word[:-1] + "!"},
        {"x_csrf_token": word, "origin": "http://evil.example"},
        {"x_csrf_token": word, "origin": "http://testserver:81"},
        {"x_csrf_token": word, "origin": "null"},
    ]
    for headers in wrong:
        found = problem(_send(served, "POST", "/v1/rounds:run", secret, **headers), 403, "WAL-2403")
        assert found["detail"].startswith("header X-CSRF-Token: does not come from a page")
    for origin in ({}, {"origin": "http://testserver"}, {"origin": "https://testserver"}):
        found = _send(served, "POST", "/v1/rounds:run", secret, x_csrf_token=word, **origin)
        assert found.status_code == 202


def test_a_session_is_no_bearer_token_and_a_token_no_session(served: Served) -> None:
    secret = _session(served)
    bearer = {"Authorization": f"Bearer {secret}"}
    problem(served.send("GET", "/v1/tasks", role=None, headers=bearer), 401, "WAL-2401")
    problem(_send(served, "GET", "/v1/tasks", served.tokens["admin"]), 401, "WAL-2401")


def test_a_link_is_the_same_for_the_same_key_and_its_secret_is_not_kept(served: Served) -> None:
    headers = {"Idempotency-Key": "again"}
    first, second = (served.post("/v1/logins", headers=headers) for _ in range(2))
    assert first == second
    link = first["path"].partition("=")[2]
    assert link.startswith("wll_")
    if served.exchange.database.dialect.name == "sqlite":
        for path in served.exchange.home.iterdir():
            assert link.encode() not in path.read_bytes()
    other = served.send("POST", "/v1/logins", role="operator", headers=headers)
    assert other.json()["path"] != first["path"], "keys are each token's own"


def test_a_session_makes_no_link_and_signs_out(served: Served) -> None:
    secret = _session(served)
    word = csrf_word(secret)
    problem(_send(served, "POST", "/v1/logins", secret, x_csrf_token=word), 403, "WAL-2403")
    found = _send(served, "POST", "/v1/logins:end", secret, x_csrf_token=word)
    assert found.json() == {"ended": True}
    served.api.authenticator._known.clear()  # half a second goes by
    problem(_send(served, "GET", "/v1/tasks", secret), 401, "WAL-2401")
    assert served.post("/v1/logins:end") == {"ended": False}, "a token is no session"
    actions = [entry["action"] for entry in served.get("/v1/audit")["items"]]
    assert [a for a in actions if a.startswith("login")] == ["login.create", "login.end"]


def test_a_revoked_token_ends_its_sessions(served: Served) -> None:
    secret = _session(served, "operator")
    assert _send(served, "GET", "/v1/status", secret).status_code == 200
    served.post(f"/v1/tokens/{served.uids['operator']}:revoke")
    served.api.authenticator._known.clear()
    problem(_send(served, "GET", "/v1/status", secret), 401, "WAL-2401")


@pytest.mark.parametrize("cookie", [b"", b"walras_session", b"walras_session=wls_short", b"x=1"])
def test_no_session_in_the_cookies(cookie: bytes) -> None:
    with pytest.raises(UnauthorisedError):
        session_of(HOST | {b"cookie": cookie})


def test_each_port_has_a_cookie_of_its_own() -> None:
    assert cookie_name({b"host": b"127.0.0.1:8765"}) == "walras_session_8765"
    assert cookie_name({b"host": b"walras.example.org"}) == "walras_session"
    assert cookie_name({b"host": b"[::1]:80"}) == "walras_session_80"
    assert cookie_name({b"host": b"[::1]"}) == "walras_session"
