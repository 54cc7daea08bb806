"""Tokens of an OpenID Connect issuer, beside the service's own.

The issuer's keys are fetched once and again where a token names a key that is not known: a key that
the issuer has rotated in works at once. Only signatures of the algorithms that were allowed count;
issuer, audience and expiry must be there and right. Sources: OpenID Connect Core 1.0, section
3.1.3.7; RFC 8725, JSON Web Token Best Current Practices.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from walras.exchange.api.auth import refused
from walras.exchange.errors import FieldError
from walras.exchange.service.tokens import Caller

ALLOWED = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Algorithms that may be allowed, all with a public key: never ``none``, never a shared secret."""

_SECONDS = 10.0  # for an answer of the issuer
_KEPT = 3600.0  # seconds that keys are kept
_PAUSE = 10.0  # seconds between two looks for a key that is not known
_LEEWAY = 30  # seconds that clocks may disagree
_LARGE = 2**20  # bytes of an answer
_SCOPE = re.compile(r"(read|submit|operate|admin|provider:[a-z0-9-]{1,63})")
_NAME = re.compile(r"[a-z0-9-]{1,63}")


@dataclass(frozen=True)
class Trust:
    """Which issuer is trusted, and how its claims are read.

    Attributes:
        issuer: Its address, as in the claim ``iss``; https, or http on this machine.
        audience: What the claim ``aud`` must name.
        algorithms: Algorithms that signatures may have.
        scopes: Claim that holds the scopes: words in a string, or a list.
        tenant: Claim that holds the tenant; a token without it is of no tenant.

    Raises:
        FieldError: The issuer or an algorithm cannot be trusted.
    """

    issuer: str
    audience: str
    algorithms: Sequence[str] = ("RS256", "ES256")
    scopes: str = "walras_scopes"
    tenant: str = "walras_tenant"

    def __post_init__(self) -> None:
        found = urlsplit(self.issuer)
        local = found.hostname in ("127.0.0.1", "localhost", "::1")
        if found.scheme != "https" and not (found.scheme == "http" and local):
            raise FieldError(
                f"is {self.issuer}",
                where="issuer",
                allowed="an https address, or http on this machine",
                remedy="give the issuer's address as it is in the claim iss",
            )
        wrong = [name for name in self.algorithms if name not in ALLOWED]
        if wrong or not self.algorithms:
            raise FieldError(
                f"are {', '.join(self.algorithms) or 'none'}",
                where="algorithms",
                allowed=", ".join(ALLOWED),
                remedy="name the algorithms that the issuer signs with",
            )
        if not self.audience:
            raise FieldError("is empty", where="audience", remedy="name this service's audience")


class Oidc:
    """Verifies an issuer's tokens; see :class:`walras.exchange.api.auth.Verifier`.

    Args:
        trust: Which issuer.
        steady: A clock that does not jump, seconds.
    """

    def __init__(self, trust: Trust, steady: Callable[[], float] = time.monotonic) -> None:
        self.trust = trust
        self._steady = steady
        self._keys: KeySet | None = None
        self._fetched = float("-inf")
        self._lock = asyncio.Lock()

    async def caller(self, token: str) -> Caller:
        """Who a token belongs to.

        Raises:
            UnauthorisedError: It is not valid, or the issuer does not answer; both look the same.
        """
        keys = await self._known(_KEPT)
        try:
            claims = self._claims(token, keys)
        except JoseError:
            keys = await self._known(_PAUSE)  # the issuer may have a new key
            try:
                claims = self._claims(token, keys)
            except JoseError as error:
                raise refused() from error
        return self._caller(claims)

    def _claims(self, token: str, keys: KeySet) -> Mapping[str, Any]:
        """The claims of a token whose signature, issuer, audience and times are right."""
        try:
            decoded = jwt.decode(token, keys, algorithms=list(self.trust.algorithms))
        except ValueError as error:  # of a header that is none
            raise JoseError(str(error)) from error
        jwt.JWTClaimsRegistry(
            leeway=_LEEWAY,
            iss={"essential": True, "value": self.trust.issuer},
            aud={"essential": True, "value": self.trust.audience},
            sub={"essential": True},
            exp={"essential": True},
        ).validate(decoded.claims)
        return decoded.claims

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        """The caller of valid claims; a tenant's token has what is the tenant's alone."""
        subject, tenant = str(claims["sub"]), claims.get(self.trust.tenant)
        if tenant is not None and not (isinstance(tenant, str) and _NAME.fullmatch(tenant)):
            raise refused()
        given = claims.get(self.trust.scopes, ())
        words = given.split() if isinstance(given, str) else given
        if not isinstance(words, list | tuple):
            raise refused()
        scopes = {word for word in words if isinstance(word, str) and _SCOPE.fullmatch(word)}
        if tenant is not None:
            scopes &= {"read", "submit"}
        mark = hashlib.sha256(f"{self.trust.issuer}\n{subject}".encode()).hexdigest()[:20]
        return Caller(f"o-{mark}", subject[:200], tenant, frozenset(scopes))

    async def _known(self, age: float) -> KeySet:
        """The issuer's keys, at most so old in seconds."""
        async with self._lock:
            if self._keys is None or self._steady() - self._fetched >= age:
                try:
                    self._keys = await self._fetch()
                except (httpx2.HTTPError, ValueError, KeyError, TypeError, JoseError) as error:
                    if self._keys is None:
                        raise refused() from error
                self._fetched = self._steady()
            return self._keys

    async def _fetch(self) -> KeySet:
        async with httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client:
            place = f"{self.trust.issuer.rstrip('/')}/.well-known/openid-configuration"
            found = await _json(client, place)
            if found["issuer"] != self.trust.issuer:
                raise ValueError("another issuer answers")
            keys = await _json(client, found["jwks_uri"])
        return KeySet.import_key_set(keys)


async def _json(client: httpx2.AsyncClient, url: str) -> Any:
    answer = await client.get(url)
    answer.raise_for_status()
    if len(answer.content) > _LARGE:
        raise ValueError("the answer is too large")
    return answer.json()
