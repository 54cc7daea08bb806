"""The page of predictors."""

from __future__ import annotations

import json

from tests.exchange.pages.conftest import Site

from walras.exchange.store.schema import predictor
from walras.exchange.store.statements import Transaction, inserting

_ADD = inserting(predictor)
_LOOK = {
    "runs": 200,
    "rounds": 24,
    "alpha": 0.025,
    "time": {"found": -0.12, "upper": 0.004},
    "coverage": {"0": 0.88, "1": 0.93},
    "makespan": {"active": 10.0, "candidate": 9.0},
}
_SCORES = json.dumps({"why": "12 of 200 runs", "features": ["layers"], "look": _LOOK})


def test_it_says_what_is_next_where_there_is_none(site: Site) -> None:
    assert "No predictor yet" in site.words("/predictors")
    assert "Train now" in site.words("/predictors")
    assert "Train now" not in site.words("/predictors", "reader")


def test_a_shadow_can_be_promoted(site: Site) -> None:
    def add(tx: Transaction, now: float) -> None:
        tx.run(
            _ADD,
            version=7,
            state="shadow",
            sha256="x",
            model=b"",
            clusters='["c1"]',
            trained_to=0,
            scores=_SCORES,
            created=1.0,
            decided=None,
        )

    site.served.exchange.write(add)
    words = site.words("/predictors")
    assert "7 shadow" in words
    assert "12 of 200 runs" in words
    assert "200 runs of 24 rounds" in words
    assert "error of time −12.0 % +0.4 % the upper end is at most 1 %" in words
    assert "times in their 90 % interval, least 88 % 85 % to 95 % in each cluster" in words
    assert "makespan of its plans −10.0 % no longer than today" in words
    assert "features layers" in words
    assert 'data-body="{&#34;version&#34;: 7}"' in site.text("/predictors")
    assert "Promote" not in site.words("/predictors", "reader")
