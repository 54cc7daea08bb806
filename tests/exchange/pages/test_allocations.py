"""Pages of rounds of a cluster."""

from __future__ import annotations

from tests.exchange.api.test_allocations import LONG, SMALL, ended
from tests.exchange.pages.conftest import Site
from tests.exchange.runtime.test_allocating import TABLES

from walras.exchange.pages.allocations import speedup


def test_without_a_round_the_page_says_what_to_do(quick_site: Site) -> None:
    words = quick_site.words("/allocate")
    assert "No round was solved yet" in words
    assert "walras solve cluster --throughput t.csv" in words
    assert "Draw a round" in words
    plain = quick_site.words("/allocate", "reader")
    assert "Draw a round" not in plain
    assert "An operator states one here" in plain
    assert quick_site.get("/allocate", "alpha").status_code == 403
    assert quick_site.get("/allocate/a-0").status_code == 404


def test_value_prices_jobs_and_why(quick_site: Site) -> None:
    served = quick_site.served
    uid = served.post("/v1/allocations", SMALL)["uid"]
    assert "<progress" in quick_site.text("/allocate")
    ended(served, uid)
    text, words = quick_site.text(f"/allocate/{uid}"), quick_site.words(f"/allocate/{uid}")
    assert "<progress" not in text
    assert [kind in text for kind in ("chart-closing", "chart-prices")] == [True] * 2
    assert "30 jobs, 16 types" in words
    assert "Jobs, the worst off first" in words
    assert "Why j3 got its share" in quick_site.words(f"/allocate/{uid}?job=j3")
    assert "11 jobs" in quick_site.words(f"/allocate/{uid}?like=j2")
    assert "nobody" in quick_site.words(f"/allocate/{uid}?job=nobody")
    assert "data-api" not in quick_site.text(f"/allocate/{uid}", "reader").partition("<main")[2]


def test_tables_show_the_command_and_a_refusal_its_reason(quick_site: Site) -> None:
    served = quick_site.served
    uid = served.post("/v1/allocations", {"tables": TABLES, "name": "<b>.csv"})["uid"]
    ended(served, uid)
    text = quick_site.text(f"/allocate/{uid}")
    assert "&lt;b&gt;.csv" in text
    assert "--objective max-min --normalise gpu" in text
    wrong = TABLES | {"jobs": "job,size\nvision,none\n"}
    uid = served.post("/v1/allocations", {"tables": wrong})["uid"]
    ended(served, uid)
    assert "The round was refused: " in quick_site.words(f"/allocate/{uid}")
    uid = served.post("/v1/allocations", LONG)["uid"]
    served.post(f"/v1/allocations/{uid}:cancel")
    assert "It was cancelled after" in quick_site.words(f"/allocate/{uid}")


def test_a_ratio_needs_two_optima() -> None:
    ours = {"status": "optimal", "seconds": 2.0, "value": 1.0}
    assert speedup(None) is None
    assert speedup({"ours": ours, "highs": None}) is None
    better = {"status": "Optimal", "seconds": 9.0, "value": 1.1}
    assert speedup({"ours": ours, "highs": better}) is None, "ours was asked for less"
    late = {"status": "Time limit reached", "seconds": 60.0}
    assert speedup({"ours": ours, "highs": late}) is None
