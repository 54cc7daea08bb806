"""Pages of shadow mode."""

from __future__ import annotations

import os
import signal
import time

from tests.exchange.api.test_shadows import ASKED, ended
from tests.exchange.pages.conftest import Site
from tests.exchange.runtime.test_shadowing import TEXT

from walras.exchange.pages.shadows import command


def test_without_a_log_the_page_says_what_to_do(quick_site: Site) -> None:
    words = quick_site.words("/shadow")
    assert "No log was compared yet" in words
    assert "walras shadow LOG --report shadow.html" in words
    assert "Compare a log" in words
    plain = quick_site.words("/shadow", "reader")
    assert "Compare a log" not in plain
    assert "An operator sends one here" in plain
    assert quick_site.get("/shadow", "alpha").status_code == 403
    assert quick_site.get("/shadow/s-0").status_code == 404


def test_progress_then_the_report(quick_site: Site) -> None:
    served = quick_site.served
    uid = served.post("/v1/shadows", ASKED)["uid"]
    assert "<progress" in quick_site.text(f"/shadow/{uid}")
    assert "<progress" in quick_site.text("/shadow")
    assert f'data-api="POST /v1/shadows/{uid}:cancel"' in quick_site.text(f"/shadow/{uid}")
    report = ended(served, uid)["report"]
    text, words = quick_site.text(f"/shadow/{uid}"), quick_site.words(f"/shadow/{uid}")
    assert "<progress" not in text
    assert all(line in words for line in report["sentences"])
    assert [kind in text for kind in ("shadowchange", "shadowdays", "shadowshares")] == [True] * 3
    assert "90 % interval" in words
    assert "No policy below" in words
    assert "walras shadow jobs.csv --scheduler csv --slots cluster-a=6" in words
    assert "data-api" not in quick_site.text(f"/shadow/{uid}", "reader").partition("<main")[2]


def test_a_refusal_and_a_cancelled_one_say_so(quick_site: Site) -> None:
    served = quick_site.served
    uid = served.post("/v1/shadows", ASKED | {"log": TEXT[:2000], "name": "<b>.csv"})["uid"]
    ended(served, uid)
    words = quick_site.words(f"/shadow/{uid}")
    assert "The log cannot support a comparison: &lt;b&gt;.csv: has jobs on" in words
    assert "What to do: export a longer time." in words
    uid = served.post("/v1/shadows", ASKED)["uid"]
    served.post(f"/v1/shadows/{uid}:cancel")
    assert "It was cancelled after" in quick_site.words(f"/shadow/{uid}")


def test_a_name_is_quoted_for_a_shell() -> None:
    asked = {
        "name": "a; rm b",
        "scheduler": "slurm",
        "slots": {"x y": 2},
        "prices": {"g": 0.5},
        "cluster": "NodeList",
        "slots_by": "AllocNodes",
        "only_seen": True,
        "train": 0.5,
        "min_success": 0.8,
        "seed": 1,
    }
    made = command(asked)
    assert made.startswith(
        "walras shadow 'a; rm b' --scheduler slurm --slots 'x y=2' --price g=0.5"
    )
    assert "--cluster NodeList --slots-by AllocNodes --only-seen" in made
    assert command(asked | {"name": "--help"}).startswith("walras shadow ./--help --scheduler")


def test_one_whose_process_dies_says_so(quick_site: Site) -> None:
    served = quick_site.served
    uid = served.post("/v1/shadows", ASKED)["uid"]
    one = served.service.shadows.get(uid)
    end = time.monotonic() + 30.0
    while not one.pid:
        assert time.monotonic() < end
        time.sleep(0.02)
    os.kill(one.pid, signal.SIGKILL)
    ended(served, uid)
    words = quick_site.words(f"/shadow/{uid}")
    assert "The comparison failed: its process failed" in words
    assert "Allowed:" not in words
