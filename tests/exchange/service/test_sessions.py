"""Links sign in once; sessions act for a token and end with it; on both databases."""

from __future__ import annotations

import pytest
from tests.exchange.service.east import opened

from walras.exchange.errors import ForbiddenError, UnauthorisedError
from walras.exchange.service import sessions, tokens
from walras.exchange.service.tokens import Caller
from walras.exchange.store.database import Database

ANN = Caller("k-1", "ann", None, frozenset({"read"}))
SOON = sessions.LINK_SECONDS / 2.0


def _token(database: Database, expires: float | None = None) -> None:
    database.write(
        lambda tx: tokens.create(
            tx, 0.0, "k-1", "wlr_1", name="ann", scopes=("read",), owner=None, expires=expires
        )
    )


def _link(database: Database, now: float = 0.0, secret: str = "wll_1") -> float:
    return database.write(lambda tx: sessions.offer(tx, now, ANN, f"l-{secret}", secret))


def _use(database: Database, now: float, link: str = "wll_1", secret: str = "wls_1") -> str:
    return database.write(lambda tx: sessions.sign_in(tx, now, link, f"s-{secret}", secret))


def _caller(database: Database, now: float, secret: str = "wls_1") -> Caller | None:
    return database.read(lambda tx: sessions.caller(tx, now, secret))


def test_a_link_signs_in_once(database: Database) -> None:
    _token(database)
    assert _link(database) == sessions.LINK_SECONDS
    assert _caller(database, SOON, "wll_1") is None, "a link is no session"
    assert _use(database, SOON) == "ann"
    assert _caller(database, SOON) == Caller("s-wls_1", "ann", None, frozenset({"read"}), "k-1")
    for link in ("wll_1", "wll_other"):
        with pytest.raises(UnauthorisedError, match="was used before, or is not valid") as caught:
            _use(database, SOON, link, "wls_2")
        assert caught.value.remedy == "make another one: walras login"
    assert _caller(database, SOON, "wls_2") is None


def test_links_and_sessions_end_in_time(database: Database) -> None:
    _token(database)
    _link(database)
    with pytest.raises(UnauthorisedError):
        _use(database, sessions.LINK_SECONDS)
    _link(database, secret="wll_2")
    _use(database, SOON, "wll_2")
    end = SOON + sessions.SESSION_SECONDS
    assert _caller(database, end - 1.0) is not None
    assert _caller(database, end) is None
    assert database.write(lambda tx: sessions.forget(tx, end)) == 2
    assert database.write(lambda tx: sessions.forget(tx, end)) == 0


def test_a_session_ends_with_its_token(database: Database) -> None:
    _token(database, expires=SOON + 10.0)
    _link(database)
    _use(database, SOON)
    assert _caller(database, SOON + 9.0) is not None
    assert _caller(database, SOON + 10.0) is None, "the token has expired"
    _link(database, secret="wll_2")
    database.write(lambda tx: tokens.revoke(tx, SOON, "k-1"))
    assert _caller(database, SOON) is None, "the token is revoked"
    with pytest.raises(UnauthorisedError):
        _use(database, SOON, "wll_2", "wls_2")


def test_who_signs_out_is_out(database: Database) -> None:
    _token(database)
    _link(database)
    _use(database, SOON)
    assert database.write(lambda tx: sessions.end(tx, "s-wls_1"))
    assert _caller(database, SOON) is None
    assert not database.write(lambda tx: sessions.end(tx, "s-wls_1"))


def test_a_session_makes_no_link_that_outlives_it(url: str) -> None:
    with opened(url) as database:
        by = Caller("s-1", "ann", None, frozenset({"admin"}))
        with pytest.raises(ForbiddenError, match="neither a session nor another issuer's"):
            database.write(lambda tx: sessions.offer(tx, 0.0, by, "l-1", "wll_1"))
