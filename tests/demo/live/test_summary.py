"""Ten lines, and the same as numbers."""

from __future__ import annotations

import time
from pathlib import Path

from walras.demo.live.run import Seen
from walras.demo.live.score import Score
from walras.demo.live.summary import lines, link_again, record
from walras.demo.live.world import World


def _seen(**more: object) -> Seen:
    home = Path("walras-demo")
    return Seen("measured", "http://127.0.0.1:1", "link", home, time.monotonic(), **more)  # type: ignore[arg-type]


def test_before_anything_has_happened() -> None:
    found = lines(_seen())
    assert len(found) == 10
    assert [line.split()[0] for line in found] == [
        "page",
        "clusters",
        "predictor",
        "time",
        "rounds",
        "placed",
        "done",
        "failed",
        "regret",
        "makespan",
    ]
    assert found[0] == "page        http://127.0.0.1:1/"
    words = link_again(_seen()).split()
    assert words[0].endswith("walras")
    assert words[1:4] == ["login", "--server", "http://127.0.0.1:1"]
    assert words[4:] == ["--token-file", "walras-demo/exchange/admin.token"]
    assert found[2] == "predictor   trains on past runs"
    assert record(_seen())["makespan_seconds"] is None


def test_what_was_seen_is_shown() -> None:
    score = Score(World.load(0), 4, rounds=2, ours=6.0, averages=7.0, oracle=5.0)
    account = {
        "prediction": {"predicted": 3.0, "measured": 3.5, "seconds": 0.5},
        "solver": {"seconds": 0.1, "gap": 0.0},
    }
    seen = _seen(
        predictor=1,
        rounds=2,
        placed=9,
        done=7,
        failed=2,
        score=score,
        regret=account,
        states={"pending": 4, "leased": 1, "running": 2},
    )
    found = lines(seen)
    assert found[5:8] == ["placed      9, 4 wait", "done        7, 3 run", "failed      2 runs"]
    assert found[8] == "regret      predicted 3 s, measured 3.5 s; solver at most 0.1 s"
    assert found[9].endswith("3.00 s a round; by cluster averages 3.50 s, by an oracle 2.50 s")
    assert record(seen)["makespan_seconds"] == {
        "rounds": 2,
        "exchange": 3.0,
        "cluster_averages": 3.5,
        "oracle": 2.5,
    }
