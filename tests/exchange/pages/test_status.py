"""The page of the service itself."""

from __future__ import annotations

from tests.exchange.pages.conftest import Site

from walras.exchange.store.backup import note


def test_it_tells_what_an_operator_looks_at_first(site: Site) -> None:
    site.served.running("one")
    words = site.words("/status")
    assert "a1 c1 local" in words
    assert "leased 1" in words
    assert "last backup never walras db backup" in words


def test_a_backup_is_known(quick_site: Site) -> None:
    exchange = quick_site.served.exchange
    note(f"sqlite:///{exchange.home}/exchange.db", exchange.now() - 120.0)
    assert "last backup 2 min" in quick_site.words("/status")
