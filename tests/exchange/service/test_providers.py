"""Providers against loops over the clusters of a snapshot."""

from __future__ import annotations

import pytest
from tests.exchange.crowd import NOW, TIMING
from tests.exchange.service.test_snapshot_clusters import _read

from walras.exchange.service import providers
from walras.exchange.store.database import Database


def test_shares_are_of_the_confirmed_work_of_those_that_are_up(crowd: Database) -> None:
    clusters = _read(crowd)
    made = crowd.read(lambda tx: providers.providers(tx, NOW, TIMING, None))
    work: dict[str, float] = {}
    for name, state, done in zip(
        clusters.provider, clusters.state, clusters.confirmed, strict=True
    ):
        if state == "up":
            work[name] = work.get(name, 0.0) + float(done)
    total = sum(work.values())
    assert [one["provider"] for one in made] == sorted(set(clusters.provider))
    for one in made:
        name = one["provider"]
        if name not in work:
            assert one["share"] is one["cap"] is None
            continue
        share = work[name] / total if total else 1.0 / len(work)
        assert one["share"] == pytest.approx(share)
        cap = None if one["trusted"] else pytest.approx(min(1.25 * share, 1.0))
        assert one["cap"] == cap
    assert sum(one["confirmed"] for one in made) == pytest.approx(clusters.confirmed.sum())


def test_only_the_providers_of_some_clusters(crowd: Database) -> None:
    first = _read(crowd).uid[0]
    made = crowd.read(lambda tx: providers.providers(tx, NOW, TIMING, [first]))
    assert len(made) == 1
    assert first in made[0]["clusters"]
