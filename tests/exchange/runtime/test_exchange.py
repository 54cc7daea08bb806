"""Opening an exchange: first start, later starts, two processes, and what a start makes good."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.exchange.postgres import Server
from tests.exchange.runtime.worlds import World

from walras.exchange.errors import ConflictError, FieldError, StoreError
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.settings import Settings
from walras.exchange.service import jobs, tokens
from walras.exchange.service.timing import Timing


def test_the_first_start_makes_a_tenant_and_an_admin(tmp_path: Path, url: str) -> None:
    with Exchange.open(tmp_path / "home", url) as exchange:
        assert exchange.admin_token == tmp_path / "home" / "admin.token"
        token = exchange.admin_token.read_text().strip()
        now = exchange.now()
        caller = exchange.read(lambda tx: tokens.caller(tx, now, token))
        assert (caller.name, caller.tenant, caller.scopes) == (
            "admin",
            None,
            frozenset({"admin"}),
        )
    with Exchange.open(tmp_path / "home", url) as again:
        assert again.admin_token is None
        assert (tmp_path / "home" / "admin.token").read_text().strip() == token


def test_a_first_start_that_was_cut_short_is_made_good(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "admin.token").write_text("wlr_of-a-start-that-died\n")
    with Exchange.open(home) as exchange:
        token = (home / "admin.token").read_text().strip()
        assert "died" not in token
        exchange.read(lambda tx: tokens.caller(tx, exchange.now(), token))


def test_one_process_a_database_of_sqlite(tmp_path: Path) -> None:
    first = Exchange.open(tmp_path / "home")
    try:
        with pytest.raises(ConflictError, match=r"another process serves it.*PostgreSQL"):
            Exchange.open(tmp_path / "home")
        with pytest.raises(ConflictError):
            Exchange.open(tmp_path / "other", first.url)
    finally:
        first.close()
    Exchange.open(tmp_path / "home").close()


@pytest.mark.postgres
def test_processes_that_start_at_once_on_one_database_make_one_admin(
    tmp_path: Path, postgres: Server
) -> None:
    url, made = postgres.new(), []

    def start(k: int) -> None:
        made.append(Exchange.open(tmp_path / f"home{k}", url))

    threads = [threading.Thread(target=start, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    try:
        assert len(made) == 3
        files = [one.admin_token for one in made if one.admin_token is not None]
        assert len(files) == 1
        assert [p.exists() for p in tmp_path.glob("home*/admin.token")] == [True]
    finally:
        for one in made:
            one.close()


def test_a_start_extends_every_lease_and_frees_every_job(world: World) -> None:
    world.running()
    (before,) = world.leases()
    world.exchange.write(lambda tx, now: jobs.enqueue(tx, now, "train", "x"))
    held = world.exchange.write(lambda tx, now: jobs.claim(tx, now, "train", "gone", 1e6))
    assert held is not None
    world.close()
    world.hands.on(3600.0)  # down for an hour
    world.open()
    assert world.leases() == [before + 3600.0]
    assert world.exchange.read(lambda tx: jobs.due(tx, world.exchange.now(), "train")) == ["x"]
    assert not world.exchange.write(lambda tx, now: jobs.end(tx, held, "done"))  # the old owner


def test_what_is_closed_says_so(tmp_path: Path) -> None:
    exchange = Exchange.open(tmp_path / "home")
    exchange.close()
    exchange.close()
    with pytest.raises(StoreError, match="closed"):
        exchange.write(lambda tx, now: None)


@pytest.mark.parametrize(
    "given",
    [
        {"interval": 0.0},
        {"interval": float("nan")},
        {"rate": 0.0},
        {"keep_snapshots": 0},
        {"timing": Timing(grace=5.0)},
    ],
)
def test_settings_have_ranges(given: dict[str, object]) -> None:
    with pytest.raises(FieldError) as caught:
        Settings(**given)  # type: ignore[arg-type]
    assert caught.value.where == next(iter(given))
    assert caught.value.remedy
