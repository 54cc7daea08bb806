"""Routes of admins and operators: tokens, tenants, the audit log, audits of results, jobs."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from walras.exchange.api import views
from walras.exchange.api.derive import check_same, derived
from walras.exchange.api.gate import TOKEN
from walras.exchange.api.models import TenantChange, TenantIn, TokenIn
from walras.exchange.api.routing import (
    IdempotencyKey,
    Reply,
    ScopedRoute,
    Uid,
    answered,
    api_of,
    caller_of,
    needs,
    once,
    reading,
    writing,
)
from walras.exchange.errors import FieldError
from walras.exchange.runtime.home import new_uid
from walras.exchange.service import audit, audits, jobs, listings, tokens
from walras.exchange.store.statements import Transaction

router = APIRouter(prefix="/v1", route_class=ScopedRoute, tags=["admin"])


class NumberQuery(BaseModel):
    """A page whose cursor is a number."""

    model_config = ConfigDict(extra="forbid")

    cursor: str | None = Field(default=None, pattern=r"^[0-9]{1,15}$")
    limit: int = Field(default=100, ge=1, le=500)

    @property
    def after(self) -> int | None:
        """The cursor as a number."""
        return None if self.cursor is None else int(self.cursor)


JobNumber = Annotated[int, Path(ge=1, le=2**53, description="Its number.")]


@router.post(
    "/tokens",
    status_code=201,
    response_model=views.NewToken,
    openapi_extra=needs("admin"),
    summary="Create a token",
)
async def create_token(request: Request, body: TokenIn, key: IdempotencyKey = None) -> Response:
    """Create a token; it is shown once, and kept as a hash."""
    caller, secret = caller_of(request), str(request.scope[TOKEN])
    _check_scopes(body)

    def work(tx: Transaction, now: float) -> Reply:
        uid, salt = new_uid("k"), secrets.token_urlsafe(32)
        scopes = tuple(sorted(set(body.scopes)))
        expires = None if body.seconds is None else now + body.seconds
        tokens.create(
            tx,
            now,
            uid,
            derived(secret, salt),
            name=body.name,
            scopes=scopes,
            owner=body.tenant,
            expires=expires,
        )
        details = {"name": body.name, "scopes": list(scopes), "tenant": body.tenant}
        audit.record(tx, now, caller.name, "token.create", uid, details)
        made = details | {
            "uid": uid,
            "prefix": derived(secret, salt)[:8],
            "created": now,
            "expires": expires,
            "revoked": None,
            "salt": salt,
            "by": caller.token,
        }
        return Reply(made, 201)

    return await once(
        request, key, work, shown=lambda made: _with_token(made, secret, caller.token)
    )


def _with_token(made: dict[str, Any], secret: str, by: str) -> dict[str, Any]:
    """The answer with the token in the salt's place."""
    check_same(made.pop("by"), by)
    return made | {"token": derived(secret, made.pop("salt"))}


def _check_scopes(body: TokenIn) -> None:
    """A tenant's token does what is the tenant's alone."""
    wide = [name for name in body.scopes if name not in ("read", "submit")]
    if body.tenant is not None and wide:
        raise FieldError(
            f"has {wide[0]}, which is not of one tenant",
            where="scopes",
            allowed="read and submit, for a token of a tenant",
            remedy="leave the tenant out, or the scope",
            pointer="/scopes",
        )


@router.get(
    "/tokens",
    response_model=views.TokenPage,
    openapi_extra=needs("admin"),
    summary="List tokens",
)
async def list_tokens(request: Request, query: Annotated[NumberQuery, Query()]) -> Response:
    """Tokens, without the tokens themselves."""
    found, cursor = await reading(request, lambda tx: listings.tokens(tx, query.limit, query.after))
    return answered({"items": found, "next_cursor": cursor})


@router.post(
    "/tokens/{uid:name}:revoke",
    response_model=views.TaskState,
    openapi_extra=needs("admin"),
    summary="Revoke a token",
)
async def revoke_token(request: Request, uid: Uid, key: IdempotencyKey = None) -> Response:
    """Revoke a token; every process refuses it within a second."""
    caller = caller_of(request)

    def work(tx: Transaction, now: float) -> Reply:
        tokens.revoke(tx, now, uid)
        audit.record(tx, now, caller.name, "token.revoke", uid)
        return Reply({"uid": uid, "state": "revoked"})

    return await once(request, key, work)


@router.get(
    "/tenants",
    response_model=views.TenantPage,
    openapi_extra=needs("admin"),
    summary="List tenants",
)
async def list_tenants(request: Request) -> Response:
    """Tenants with the share of the work that each got of late, and the share it is owed."""
    now = api_of(request).exchange.now()
    found = await reading(request, lambda tx: listings.tenants(tx, now))
    return answered({"items": found, "next_cursor": None})


def _tenant(tx: Transaction, now: float, name: str) -> dict[str, Any]:
    return next(one for one in listings.tenants(tx, now) if one["name"] == name)


@router.post(
    "/tenants",
    status_code=201,
    response_model=views.Tenant,
    openapi_extra=needs("admin"),
    summary="Add a tenant",
)
async def add_tenant(request: Request, body: TenantIn, key: IdempotencyKey = None) -> Response:
    """Add a tenant with its weight and quota."""
    caller = caller_of(request)

    def work(tx: Transaction, now: float) -> Reply:
        tokens.add_tenant(tx, now, body.name, body.weight, body.quota_slots)
        audit.record(tx, now, caller.name, "tenant.add", body.name, body.model_dump())
        return Reply(_tenant(tx, now, body.name), 201)

    return await once(request, key, work)


@router.put(
    "/tenants/{uid:name}",
    response_model=views.Tenant,
    openapi_extra=needs("admin"),
    summary="Change a tenant's weight and quota",
)
async def change_tenant(request: Request, uid: Uid, body: TenantChange) -> Response:
    """Change what a tenant is owed, from the next round on."""
    caller = caller_of(request)

    def work(tx: Transaction, now: float) -> dict[str, Any]:
        tokens.change_tenant(tx, uid, body.weight, body.quota_slots)
        audit.record(tx, now, caller.name, "tenant.change", uid, body.model_dump())
        return _tenant(tx, now, uid)

    return answered(await writing(request, work))


@router.get(
    "/audit",
    response_model=views.AuditPage,
    openapi_extra=needs("admin"),
    summary="Read the audit log",
)
async def read_audit(request: Request, query: Annotated[NumberQuery, Query()]) -> Response:
    """Who did what, the oldest first; each entry holds the hash of the one before."""
    found, cursor = await reading(
        request, lambda tx: listings.audited(tx, query.limit, query.after)
    )
    return answered({"items": found, "next_cursor": cursor})


@router.get(
    "/audits",
    response_model=views.ResultAuditPage,
    openapi_extra=needs("operate"),
    summary="List audits of results",
)
async def list_audits(request: Request, query: Annotated[NumberQuery, Query()]) -> Response:
    """Results that were run again at another provider, the newest first, and what came of it."""
    found, cursor = await reading(request, lambda tx: audits.page(tx, query.limit, query.after))
    return answered({"items": found, "next_cursor": cursor})


@router.get(
    "/jobs/{number:name}",
    response_model=views.Job,
    openapi_extra=needs("operate"),
    summary="Look at a job in the background",
)
async def job(request: Request, number: JobNumber) -> Response:
    """A round or a training that was asked for: whether it runs, and what came of it."""
    return answered(await reading(request, lambda tx: jobs.status(tx, number)))
