"""The home folder: private files, one process, the first admin's token."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
import sqlalchemy as sa

from walras.exchange.errors import ConflictError, StoreError
from walras.exchange.runtime import home
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.service import tokens
from walras.exchange.store.database import Database
from walras.exchange.store.migrate import HEAD
from walras.exchange.store.statements import Statement

_TENANTS = Statement(sa.text("SELECT name FROM tenant"))


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_tokens_and_names_are_never_the_same() -> None:
    made = {home.new_token() for _ in range(50)}
    assert len(made) == 50
    assert all(len(token) == 47 and token.startswith("wlr_") for token in made)
    assert len({home.new_uid("t") for _ in range(50)}) == 50
    assert home.new_uid("t").startswith("t-")


def test_a_folder_is_made_for_its_owner_and_left_clean(tmp_path: Path) -> None:
    home.prepare(tmp_path / "a" / "b")
    home.prepare(tmp_path / "a" / "b")
    assert _mode(tmp_path / "a" / "b") == 0o700
    assert list((tmp_path / "a" / "b").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file: cannot be written: .*choose another --home"):
        home.prepare(tmp_path / "file")


def test_a_lock_is_one_processs_and_private(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db.lock"
    with home.lock(path):
        assert _mode(path) == 0o600
        with pytest.raises(ConflictError, match=r"exchange\.db: another process serves it"):
            home.lock(path)
    home.lock(path).close()
    with pytest.raises(StoreError, match="cannot be written"):
        home.lock(tmp_path / "nowhere" / "x.lock")


def test_a_private_file_is_made_once_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    home.create_private(path)
    assert _mode(path) == 0o600
    path.write_text("kept")
    home.create_private(path)
    assert path.read_text() == "kept"
    with pytest.raises(StoreError, match="cannot be written"):
        home.create_private(tmp_path / "nowhere" / "x.db")


def test_the_first_start_alone_makes_an_admin(empty: Database, tmp_path: Path) -> None:
    path = home.begin(empty, tmp_path, 5.0)
    assert path == tmp_path / "admin.token"
    assert _mode(path) == 0o600
    token = path.read_text().strip()
    caller = empty.read(lambda tx: tokens.caller(tx, 6.0, token))
    assert (caller.name, caller.scopes) == ("admin", frozenset({"admin"}))
    assert home.begin(empty, tmp_path, 7.0) is None
    assert path.read_text().strip() == token
    assert empty.read(lambda tx: tx.rows(_TENANTS)) == [("default",)]


def test_a_token_that_cannot_be_written_is_not_in_the_database(
    empty: Database, tmp_path: Path
) -> None:
    (tmp_path / "admin.token").mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        home.begin(empty, tmp_path, 5.0)
    assert not empty.read(tokens.any_token)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []


def test_another_process_that_was_faster_leaves_no_second_token(
    empty: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "any_token", lambda tx: False)  # both looked at once
    (tmp_path / "other").mkdir()
    assert home.begin(empty, tmp_path / "other", 5.0) is not None
    assert home.begin(empty, tmp_path, 5.0) is None
    assert not (tmp_path / "admin.token").exists()


def test_a_served_home_is_not_restored(tmp_path: Path) -> None:
    with (
        Exchange.open(tmp_path / "home"),
        pytest.raises(ConflictError, match="another process serves it"),
    ):
        home.restore(tmp_path / "backup.db", tmp_path / "home")


def test_a_served_home_is_not_migrated(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/exchange.db"
    assert home.migrate(url) == HEAD
    with home.lock(tmp_path / "exchange.db.lock"):
        assert home.migrate(url) == HEAD
        for to in ("base", "0001"):
            with pytest.raises(ConflictError, match="another process serves it"):
                home.migrate(url, to)
    assert home.migrate(url, "0001") == "0001"


def test_a_lost_admin_gets_a_new_token(tmp_path: Path) -> None:
    with Exchange.open(tmp_path / "home") as exchange:
        path = tmp_path / "home" / "admin.token"
        before = path.read_text()
        path.unlink()
        assert home.rescue(exchange.database, exchange.home, exchange.now()) == path
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.read_text() != before
        caller = exchange.read(
            lambda tx: tokens.caller(tx, exchange.now(), path.read_text().strip())
        )
        assert caller.scopes == {"admin"}
