"""Who asks: the caller of a token or of a browser's session.

Callers are known for at most half a second without the database.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Protocol

from walras.exchange.errors import ForbiddenError, UnauthorisedError
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.service import sessions, tokens
from walras.exchange.service.tokens import Caller

_SECONDS = 0.5  # that a token is believed: a revoked one is refused within a second
_MOST = 10_000  # tokens that are remembered
_TOKEN = re.compile(r"wlr_[A-Za-z0-9_-]{20,200}")
_SESSION = re.compile(r"wls_[A-Za-z0-9_-]{20,200}")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})  # methods that change nothing


class Verifier(Protocol):
    """Tells who a token of another issuer belongs to."""

    async def caller(self, token: str) -> Caller:
        """The caller.

        Raises:
            UnauthorisedError: The token is not valid.
        """
        ...


class Authenticator:
    """Finds the caller of a request's headers.

    Args:
        exchange: Where the tokens are.
        oidc: Verifies tokens that are not ours, where an issuer is trusted.
        steady: A clock that does not jump, seconds.
    """

    def __init__(
        self,
        exchange: Exchange,
        oidc: Verifier | None = None,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.exchange, self.oidc = exchange, oidc
        self._steady = steady
        self._known: dict[str, tuple[float, Caller]] = {}

    async def caller(self, method: str, headers: Mapping[bytes, bytes]) -> tuple[Caller, str]:
        """Who asks, and the secret that shows it: a token, or else a session.

        Raises:
            UnauthorisedError: There is none, or it is not valid; the answer is the same.
            ForbiddenError: A browser sends another site's request.
        """
        if b"authorization" in headers:
            token = _bearer(headers[b"authorization"])
            return await self.known(token), token
        secret = session_of(headers)
        caller = await self.known(secret)
        if method not in _SAFE:
            _check_site(secret, headers)
        return caller, secret

    async def known(self, token: str) -> Caller:
        """Who a token belongs to, from memory where that is fresh.

        Raises:
            UnauthorisedError: It is not valid.
        """
        name = tokens.hash_of(token)
        now = self._steady()
        found = self._known.get(name)
        if found is not None and now - found[0] < _SECONDS:
            return found[1]
        caller = await self._ask(token)
        if len(self._known) > _MOST:
            self._known.clear()
        self._known[name] = (now, caller)
        return caller

    async def _ask(self, token: str) -> Caller:
        if _TOKEN.fullmatch(token):
            now = self.exchange.now()
            asked = self.exchange.read_soon(lambda tx: tokens.caller(tx, now, token))
            return await asyncio.wrap_future(asked)
        if _SESSION.fullmatch(token):
            found = await asyncio.wrap_future(self._session(token))
            if found is None:
                raise refused()
            return found
        if self.oidc is not None and token.count(".") == 2:
            return await self.oidc.caller(token)
        raise refused()

    def _session(self, secret: str) -> Future[Caller | None]:
        now = self.exchange.now()
        return self.exchange.read_soon(lambda tx: sessions.caller(tx, now, secret))


def refused() -> UnauthorisedError:
    """The error of a token that is missing or not valid."""
    return UnauthorisedError(
        "is missing or not valid",
        where="token",
        allowed="Authorization: Bearer TOKEN",
        remedy="ask an admin for a token: walras token create",
    )


def _bearer(header: bytes) -> str:
    kind, _, token = header.decode("latin-1").partition(" ")
    token = token.strip()
    if kind.lower() != "bearer" or not token or not token.isascii() or token.startswith("wls_"):
        raise refused()
    return token


def cookie_name(headers: Mapping[bytes, bytes]) -> str:
    """The name of a session's cookie; browsers share cookies among the ports of a host."""
    port = headers.get(b"host", b"").decode("latin-1").rpartition(":")[2]
    return f"walras_session_{port}" if port.isdigit() else "walras_session"


def session_of(headers: Mapping[bytes, bytes]) -> str:
    """The secret of a browser's session.

    Raises:
        UnauthorisedError: There is none.
    """
    name = cookie_name(headers)
    for part in headers.get(b"cookie", b"").decode("latin-1").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name and _SESSION.fullmatch(value):
            return value
    raise refused()


def csrf_word(secret: str) -> str:
    """The word that shows that a request comes from a page of this service.

    Another site can make a browser send the session's cookie, but cannot read a page: only pages
    know the word. It is an HMAC-SHA256 of the session's secret.
    """
    return hmac.new(secret.encode(), b"walras-csrf", hashlib.sha256).hexdigest()


def _check_site(secret: str, headers: Mapping[bytes, bytes]) -> None:
    """Check that a request that changes something was sent by a page of this service."""
    origin = headers.get(b"origin", b"").decode("latin-1")
    host = headers.get(b"host", b"").decode("latin-1")
    word = headers.get(b"x-csrf-token", b"").decode("latin-1")
    right = hmac.compare_digest(word.encode(), csrf_word(secret).encode())
    if not right or (origin and origin.partition("://")[2] != host):
        raise ForbiddenError(
            "does not come from a page of this service",
            where="header X-CSRF-Token",
            allowed="the word that the page carries, from the page's own address",
            remedy="reload the page; a program sends Authorization: Bearer TOKEN",
        )


def allow(caller: Caller, scope: str) -> None:
    """Check that a caller may use the routes of a scope.

    Args:
        caller: Who asks.
        scope: ``read``, ``submit``, ``operate``, ``admin``; ``read-all`` (read, of no tenant);
            ``provider`` (operate, or of some cluster; the route checks which);
            ``read-or-provider``.

    Raises:
        ForbiddenError: The token's scopes do not allow it.
    """
    has, whole = caller.scopes, caller.tenant is None
    providers = [name for name in has if name.startswith("provider:")]
    operate = whole and "operate" in has  # who operates has to see what
    read = "read" in has or operate
    good = {
        "read": read,
        "read-or-provider": read or (whole and bool(providers)),
        "submit": "submit" in has,
        "read-all": whole and read,
        "operate": operate,
        "provider": operate or (whole and bool(providers)),
        "admin": False,
    }[scope]
    if not (good or (whole and "admin" in has)):
        raise ForbiddenError(
            f"has the scopes {', '.join(sorted(has)) or 'none'}"
            + ("" if whole else f", of tenant {caller.tenant}"),
            where="token",
            allowed=SCOPE_WORDS[scope],
            remedy="ask an admin for a token of this scope: walras token create",
        )


SCOPE_WORDS = {
    "read": "scope read, operate or admin",
    "read-or-provider": "scope read, operate, provider:CLUSTER or admin",
    "submit": "scope submit or admin",
    "read-all": "scope read or operate for all tenants, or admin",
    "operate": "scope operate or admin",
    "provider": "scope operate, provider:CLUSTER or admin",
    "admin": "scope admin",
}
"""Scope of a route -> what it asks for, in words."""


def operates(caller: Caller) -> bool:
    """Whether a caller may do what operators do."""
    return caller.tenant is None and bool({"operate", "admin"} & caller.scopes)


def allow_cluster(caller: Caller, uid: str) -> None:
    """Check that a caller may act for a cluster.

    Raises:
        ForbiddenError: It is neither an operator nor the cluster's provider.
    """
    if not operates(caller) and f"provider:{uid}" not in caller.scopes:
        raise ForbiddenError(
            f"is not of the provider of cluster {uid}",
            where="token",
            allowed=f"scope provider:{uid}, operate or admin",
            remedy="use the token of this cluster",
        )
