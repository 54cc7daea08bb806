"""Scopes: what each may do, written out."""

from __future__ import annotations

import contextlib

import pytest

from walras.exchange.api.auth import SCOPE_WORDS, allow, allow_cluster, operates
from walras.exchange.errors import ForbiddenError
from walras.exchange.service.tokens import Caller


def _caller(*scopes: str, tenant: str | None = None) -> Caller:
    return Caller("k", "name", tenant, frozenset(scopes))


def _may(caller: Caller) -> set[str]:
    found = set()
    for scope in SCOPE_WORDS:
        with contextlib.suppress(ForbiddenError):
            allow(caller, scope)
            found.add(scope)
    return found


@pytest.mark.parametrize(
    ("scopes", "whole", "of_tenant"),
    [
        (("read",), {"read", "read-or-provider", "read-all"}, {"read", "read-or-provider"}),
        (("submit",), {"submit"}, {"submit"}),
        (("operate",), {"operate", "provider", "read", "read-all", "read-or-provider"}, set()),
        (("admin",), set(SCOPE_WORDS), set()),
        (("provider:c1",), {"provider", "read-or-provider"}, set()),
        ((), set(), set()),
    ],
)
def test_scopes(scopes: tuple[str, ...], whole: set[str], of_tenant: set[str]) -> None:
    assert _may(_caller(*scopes)) == whole
    assert _may(_caller(*scopes, tenant="alpha")) == of_tenant


def test_a_provider_acts_for_its_clusters() -> None:
    allow_cluster(_caller("provider:c1"), "c1")
    allow_cluster(_caller("admin"), "c2")
    with pytest.raises(ForbiddenError, match=r"provider:c2, operate or admin"):
        allow_cluster(_caller("provider:c1"), "c2")
    assert not operates(_caller("operate", tenant="alpha"))
    with pytest.raises(ForbiddenError) as caught:
        allow(_caller("read"), "submit")
    assert caught.value.allowed == SCOPE_WORDS["submit"]
