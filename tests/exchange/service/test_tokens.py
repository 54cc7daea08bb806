"""Tokens: kept as a hash, valid until they expire or are revoked; no answer says why not."""

from __future__ import annotations

from functools import partial

import pytest

from walras.exchange.errors import ConflictError, NotFoundError, UnauthorisedError
from walras.exchange.service import tokens
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Transaction


def made(tx: Transaction, expires: float | None = None) -> None:
    tokens.add_tenant(tx, 1.0, "lab", weight=2.0, quota=4)
    tokens.create(
        tx,
        1.0,
        "u1",
        "secret",
        name="mine",
        scopes=("read", "submit"),
        owner="lab",
        expires=expires,
    )


def test_a_token_says_whose_it_is_and_is_not_itself_kept(empty: Database) -> None:
    assert not empty.read(tokens.any_token)
    empty.write(made)
    assert empty.read(tokens.any_token)
    found = empty.read(lambda tx: tokens.caller(tx, 2.0, "secret"))
    assert found == tokens.Caller("u1", "mine", "lab", frozenset({"read", "submit"}))
    assert tokens.hash_of("secret") != "secret"


def test_unknown_expired_and_revoked_tokens_get_the_same_answer(empty: Database) -> None:
    empty.write(lambda tx: made(tx, expires=10.0))
    answers = set()
    for now, token in ((2.0, "other"), (10.0, "secret")):
        with pytest.raises(UnauthorisedError) as error:
            empty.read(partial(tokens.caller, now=now, token=token))
        answers.add(str(error.value))
    empty.write(lambda tx: tokens.revoke(tx, 3.0, "u1"))
    with pytest.raises(UnauthorisedError) as error:
        empty.read(lambda tx: tokens.caller(tx, 4.0, "secret"))
    assert answers == {str(error.value)}
    with pytest.raises(NotFoundError, match="to revoke"):
        empty.write(lambda tx: tokens.revoke(tx, 5.0, "u1"))


def test_tenants_have_one_name_and_must_be_there(empty: Database) -> None:
    empty.write(made)
    with pytest.raises(ConflictError, match="exists"):
        empty.write(lambda tx: tokens.add_tenant(tx, 2.0, "lab"))
    empty.write(lambda tx: tokens.change_tenant(tx, "lab", 1.0, None))
    with pytest.raises(NotFoundError, match="there is no tenant"):
        empty.write(lambda tx: tokens.change_tenant(tx, "none", 1.0, None))
    with pytest.raises(NotFoundError, match="there is no tenant"):
        empty.write(
            lambda tx: tokens.create(
                tx, 1.0, "u2", "x", name="n", scopes=(), owner="none", expires=None
            )
        )
