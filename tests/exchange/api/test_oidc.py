"""Tokens of an issuer on this machine: what counts, what does not, and keys that change."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey
from tests.exchange.api.serving import Served

from walras.exchange.api.oidc import Oidc, Trust
from walras.exchange.errors import FieldError, UnauthorisedError


class Issuer:
    """An issuer that signs what it is told to.

    Attributes:
        url: Its address.
        keys: Its keys; the first one signs.
        asked: Paths that it was asked for.
    """

    def __init__(self) -> None:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                body = json.dumps(issuer.answers().get(self.path, {})).encode()
                self.send_response(issuer.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.status = 200
        self.asked: list[str] = []
        self.keys: list[Any] = [RSAKey.generate_key(2048, {"kid": "one"})]
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.named = self.url
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def answers(self) -> dict[str, Any]:
        keys = KeySet(self.keys).as_dict(private=False)
        where = {"issuer": self.named, "jwks_uri": f"{self.url}/keys"}
        return {"/.well-known/openid-configuration": where, "/keys": keys}

    def token(self, key: Any = None, algorithm: str = "RS256", **claims: Any) -> str:
        signer = key or self.keys[0]
        given = {
            "iss": self.url,
            "aud": "walras",
            "sub": "ada",
            "exp": int(time.time()) + 300,
            "walras_scopes": "read submit",
        } | claims
        whole = {name: value for name, value in given.items() if value is not None}
        header = {"alg": algorithm, "kid": signer.kid}
        return jwt.encode(header, whole, signer, algorithms=[algorithm])


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    yield made
    made.server.shutdown()
    made.server.server_close()


def _ask(oidc: Oidc, token: str) -> Any:
    return asyncio.run(oidc.caller(token))


def _verifier(issuer: Issuer, **given: Any) -> Oidc:
    return Oidc(Trust(issuer.url, "walras", **given))


def test_a_valid_token_has_its_scopes_and_its_tenant(issuer: Issuer) -> None:
    oidc = _verifier(issuer)
    caller = _ask(oidc, issuer.token())
    assert (caller.name, caller.tenant, caller.scopes) == ("ada", None, {"read", "submit"})
    assert caller.token.startswith("o-")
    assert _ask(oidc, issuer.token(aud=["other", "walras"])).token == caller.token
    listed = _ask(oidc, issuer.token(walras_scopes=["operate", "provider:c1", "odd", 3]))
    assert listed.scopes == {"operate", "provider:c1"}
    of = _ask(oidc, issuer.token(walras_tenant="alpha", walras_scopes="read admin operate"))
    assert (of.tenant, of.scopes) == ("alpha", {"read"})
    assert issuer.asked.count("/keys") == 1  # they are kept


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://other"},
        {"iss": None},
        {"aud": "other"},
        {"aud": None},
        {"sub": None},
        {"exp": None},
        {"exp": int(time.time()) - 120},
        {"nbf": int(time.time()) + 3600},
        {"exp": "soon"},
        {"walras_tenant": "Not Good"},
        {"walras_tenant": 3},
        {"walras_scopes": {"read": 1}},
    ],
)
def test_wrong_claims_are_refused(issuer: Issuer, claims: dict[str, Any]) -> None:
    with pytest.raises(UnauthorisedError, match="missing or not valid"):
        _ask(_verifier(issuer), issuer.token(**claims))


def _unsigned(issuer: Issuer, algorithm: str) -> str:
    head, body, _ = issuer.token().split(".")
    head = base64.urlsafe_b64encode(json.dumps({"alg": algorithm, "kid": "one"}).encode()).decode()
    return f"{head.rstrip('=')}.{body}."


def test_only_allowed_signatures_count(issuer: Issuer) -> None:
    oidc = _verifier(issuer)
    stranger = RSAKey.generate_key(2048, {"kid": "one"})
    public = issuer.keys[0].as_pem(private=False)
    confused = OctKey.import_key(base64.b64encode(public), {"kid": "one"})
    wrong = [
        issuer.token(stranger),
        issuer.token(algorithm="RS512"),
        issuer.token(confused, "HS256"),  # the public key as a shared secret
        _unsigned(issuer, "none"),
        _unsigned(issuer, "RS256"),
        issuer.token()[:-4] + "AAAA",
        "a.b.c",
        "..",
        "eyJhbGciOiJSUzI1NiJ9..",
    ]
    for token in wrong:
        with pytest.raises(UnauthorisedError):
            _ask(oidc, token)
    elliptic = ECKey.generate_key("P-256", {"kid": "two"})
    issuer.keys.append(elliptic)
    oidc = _verifier(issuer)
    assert _ask(oidc, issuer.token(elliptic, "ES256")).name == "ada"


def test_keys_that_change_work_at_once_and_old_ones_end(issuer: Issuer) -> None:
    now = 0.0
    oidc = Oidc(Trust(issuer.url, "walras"), lambda: now)
    old = issuer.token()
    assert _ask(oidc, old).name == "ada"
    issuer.keys.insert(0, RSAKey.generate_key(2048, {"kid": "new"}))
    now = 20.0
    assert _ask(oidc, issuer.token()).name == "ada"
    assert _ask(oidc, old).name == "ada"
    del issuer.keys[1]
    now = 4000.0
    with pytest.raises(UnauthorisedError):
        _ask(oidc, old)
    before = len(issuer.asked)
    for _ in range(20):  # a flood of unknown keys does not flood the issuer
        with pytest.raises(UnauthorisedError):
            _ask(oidc, old)
    assert len(issuer.asked) == before


def test_an_issuer_that_is_away_changes_nothing_for_known_keys(issuer: Issuer) -> None:
    now = 0.0
    oidc = Oidc(Trust(issuer.url, "walras"), lambda: now)
    token = issuer.token()
    assert _ask(oidc, token).name == "ada"
    issuer.status, now = 500, 1e5
    assert _ask(oidc, token).name == "ada"
    with pytest.raises(UnauthorisedError):
        _ask(_verifier(issuer), token)


def test_another_issuer_behind_the_address_is_refused(issuer: Issuer) -> None:
    issuer.named = "https://other.example.org"
    with pytest.raises(UnauthorisedError):
        _ask(_verifier(issuer), issuer.token())


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"issuer": "http://example.org"}, "issuer"),
        ({"issuer": "file:///etc/passwd"}, "issuer"),
        ({"algorithms": ["none"]}, "algorithms"),
        ({"algorithms": ["HS256", "RS256"]}, "algorithms"),
        ({"algorithms": []}, "algorithms"),
        ({"audience": ""}, "audience"),
    ],
)
def test_what_cannot_be_trusted_is_refused(given: dict[str, Any], where: str) -> None:
    with pytest.raises(FieldError) as caught:
        Trust(**({"issuer": "https://a.org", "audience": "walras"} | given))
    assert caught.value.where == where


def test_the_api_takes_an_issuers_tokens(issuer: Issuer, tmp_path: Path) -> None:
    served = Served(tmp_path / "home")
    try:
        served.api.authenticator.oidc = _verifier(issuer)
        mine = served.task("mine", "alpha")
        token = issuer.token(walras_tenant="beta")
        headers = {"Authorization": f"Bearer {token}"}
        assert served.client.get("/v1/tasks", headers=headers).json()["items"] == []
        assert served.client.get(f"/v1/tasks/{mine}", headers=headers).status_code == 404
        body = {"name": "b", "command": ["true"]}
        made = served.client.post("/v1/tasks", json=body, headers=headers).json()
        assert made["tenant"] == "beta"
        assert served.client.get("/v1/audit", headers=headers).status_code == 403
        late = issuer.token(exp=int(time.time()) - 100)
        late_headers = {"Authorization": f"Bearer {late}"}
        assert served.client.get("/v1/tasks", headers=late_headers).status_code == 401
    finally:
        served.close()
