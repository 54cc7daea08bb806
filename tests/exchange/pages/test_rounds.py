"""Pages of rounds."""

from __future__ import annotations

from tests.exchange.pages.conftest import Site


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
    assert "Accounted for once all of its runs have ended" in text
    blocked = site.served.get("/v1/rounds/2")["blockers"]
    words = site.words("/rounds/2")
    for code, count in blocked.items():
        assert f"{code} {count}" in words


def test_two_rounds_are_compared(site: Site) -> None:
    uid = _two(site)
    chosen = site.get("/rounds/diff?seq=2&other=1")
    assert chosen.headers["location"] == "/rounds/1/diff/2"
    words = site.words("/rounds/1/diff/2")
    assert f"{uid} c1 not placed" in words
    assert "Rounds 1 and 2, side by side" in words
