"""Pages of rounds."""

from __future__ import annotations

import zlib

import sqlalchemy as sa
from tests.exchange.pages.conftest import Site

from walras.exchange.store.schema import round_
from walras.exchange.store.statements import Statement, Transaction, document, given
from walras.rounds.blockers import MEANINGS

_CHANGE = Statement(
    sa.update(round_)
    .where(round_.c.id == given("seq_"))
    .values(blockers=given("blockers_"), counts=given("counts_"))
)


def _two(site: Site) -> str:
    """A round that placed a task, and one that left one; the task's name in the service."""
    uid, _ = site.served.running("first", features={"layers": 3.0})
    site.served.task("never", requires={"gpu": "h100"})
    site.served.post("/v1/rounds:run")
    site.served.round()
    return uid


def test_the_list_tells_how_each_round_ended(site: Site) -> None:
    assert "No round yet" in site.words("/rounds")
    _two(site)
    words = site.words("/rounds")
    assert "No round yet" not in words
    assert "Run a round now" in words
    assert "Run a round now" not in site.words("/rounds", "reader")
    for seq in (1, 2):
        assert f'<a href="/rounds/{seq}">{seq}</a>' in site.text("/rounds")


def test_a_round_has_its_plan_its_figures_and_its_blockers(site: Site) -> None:
    uid = _two(site)
    text = site.text("/rounds/1")
    assert f'<a href="/tasks/{uid}">first</a>' in text
    assert 'data-src="/v1/rounds/1?limit=500"' in text
    assert "Accounted for within half a minute" in text


def test_a_round_tells_what_it_left_and_by_which_blockers(site: Site) -> None:
    _two(site)
    kept = zlib.compress(document({"slots": 12, "behind": 1234}).encode())

    def change(tx: Transaction, now: float) -> None:
        tx.run(_CHANGE, seq_=2, blockers_=kept, counts_=document({"tasks": 1300, "listed": 1290}))

    site.served.exchange.write(change)
    assert site.served.get("/v1/rounds/2")["blockers"] == {"behind": 1234, "slots": 12}
    words = site.words("/rounds/2")
    assert f"behind 1,234 {MEANINGS['behind']} slots 12 {MEANINGS['slots']}" in words
    assert "10 of those that waited were not looked at one by one" in words
    assert "every task that waited was placed" not in words
    assert "every task that waited was placed" in site.words("/rounds/1")


def test_two_rounds_are_compared(site: Site) -> None:
    uid = _two(site)
    chosen = site.get("/rounds/diff?seq=2&other=1")
    assert chosen.headers["location"] == "/rounds/1/diff/2"
    words = site.words("/rounds/1/diff/2")
    assert "Tasks that both placed, on different clusters None." in words
    assert "Tasks that one of them placed Task Round 1 Round 2 first c1 –" in words
    assert f'<a href="/tasks/{uid}">first</a>' in site.text("/rounds/1/diff/2")
    (move,) = site.served.get("/v1/rounds/1/diff/2")["moves"]
    assert move == {"task": uid, "name": "first", "before": "c1", "after": None}
    assert "Rounds 1 and 2, side by side" in words
