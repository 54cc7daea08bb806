"""Every kind of error has its status and code, and no problem tells more than it should."""

from __future__ import annotations

import json

import pytest

from walras.errors import InputError, WalrasError
from walras.exchange import errors
from walras.exchange.api import problems

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type)
    and issubclass(kind, errors.ExchangeError)
    and kind is not errors.StaleError
]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_becomes_a_problem(kind: type[errors.ExchangeError]) -> None:
    error = kind("is wrong", where="x", allowed="y", remedy="z", pointer="/a")
    response = problems.of_error(error)
    body = json.loads(bytes(response.body))
    assert response.status_code == kind.status == body["status"]
    assert body["code"] == kind.code
    assert body["type"] == f"urn:walras:problem:{kind.code}"
    assert (body["detail"], body["allowed"], body["remedy"]) == ("x: is wrong", "y", "z")
    assert body["pointer"] == "/a"
    assert body["title"] == problems.TITLES[response.status_code]


def test_codes_are_not_shared() -> None:
    codes = [kind.code for kind in KINDS] + [errors.StaleError.code]
    assert len(set(codes)) == len(codes)


def test_an_error_of_the_library_is_a_field_that_cannot_be_used() -> None:
    response = problems.of_error(InputError("is -1", where="seed"))
    assert response.status_code == 422
    body = json.loads(bytes(response.body))
    assert body["code"] == InputError.code
    assert "pointer" not in body
    assert "request_id" not in body


def test_a_stale_message_tells_what_is_stored() -> None:
    body = json.loads(bytes(problems.of_error(errors.StaleError("x", incarnation=3, seq=4)).body))
    assert (body["incarnation"], body["seq"], body["status"]) == (3, 4, 409)


def test_statuses_ask_for_what_comes_next() -> None:
    assert problems.of_error(errors.UnauthorisedError("x")).headers["www-authenticate"]
    assert problems.of_error(errors.BusyError("x")).headers["retry-after"]
    assert problems.of_error(errors.StoreError("x")).headers["retry-after"]


def test_only_errors_of_walras_are_handled_here() -> None:
    with pytest.raises(ValueError, match="x"):
        problems._walras(None, ValueError("x"))  # type: ignore[arg-type]
    assert issubclass(errors.ExchangeError, WalrasError)
