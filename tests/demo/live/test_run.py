"""The demo as it is called: it serves, teaches, places real processes, ends all, and goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from walras.demo.live.run import Seen, _Look
from walras.demo.live.score import Score
from walras.demo.live.world import World


def _start(home: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "walras", "demo", "--home", str(home), "--no-browser", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


def _left(home: Path) -> list[bytes]:
    """Command lines of processes that belong to the demo of a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if str(home).encode() in words:
            found.append(words)
    return found


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    """A demo of half a minute: its folder, its record, what it said."""
    home = tmp_path_factory.mktemp("demo") / "home"
    process = _start(home, "--seconds", "30", "-o", "json")
    out, said = process.communicate(timeout=150.0)
    assert process.returncode == 0, said
    return home, json.loads(out), said


def test_it_learns_places_and_ends_everything(first: tuple[Path, dict[str, Any], str]) -> None:
    home, record, said = first
    assert said.splitlines()[0].startswith("page: http://127.0.0.1:")
    assert "/login?link=wll_" in said.splitlines()[0]
    assert record["predictor"] == 1
    assert record["rounds"] >= 2
    assert record["placed"] >= 4
    assert record["done"] >= 1
    assert ("synthetic" in record["clusters"]) or ("measured" in record["clusters"])
    assert _left(home) == []


@pytest.mark.parametrize("home", ["/dev/null", "/proc/nothing"])
def test_a_folder_that_cannot_be_made_is_one_error(home: str) -> None:
    process = _start(Path(home))
    _, said = process.communicate(timeout=60.0)
    assert process.returncode not in (0, 130)
    assert said.startswith("error[")
    assert f"where:   {home}" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", ["net-x-abc-1", "hello", "my-own-first-task", "net-"])
def test_a_round_with_tasks_of_others_is_left_out(name: str) -> None:
    """A demo before may have left some, if its data were others; and anybody may submit some."""
    of_round = {"granted": 1.0, "ended": 2.0, "cluster": "titan-rtx-1", "name": name}
    placed = type("Detail", (), {"placements": [type("Run", (), of_round)()]})
    client: Any = type("Client", (), {})()
    client.rounds = type("Rounds", (), {"list": lambda _, most: [], "get": lambda _, seq: placed})()
    client.predictors = type("Predictors", (), {"runs": lambda _, most: []})()
    score = Score(World.load(0), 4)
    seen = Seen("", "", "", Path(), 0.0, score=score)
    look = _Look(client, seen)
    look._judge(type("Round", (), {"seq": 3, "started": 0.0})())
    assert (score.judged, score.rounds) == ({3}, 0)


def test_a_second_demo_goes_on_and_ctrl_c_leaves_no_process(
    first: tuple[Path, dict[str, Any], str],
) -> None:
    home, _, _ = first
    process = _start(home)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("page: "), line
        link = line.removeprefix("page: ").strip()
        with httpx2.Client(follow_redirects=True) as browser:
            page = browser.get(link)
            assert page.status_code == 200
            assert "Rounds" in page.text
            time.sleep(6.0)
            assert (
                "No predictor yet" not in browser.get(link.split("/login")[0] + "/predictors").text
            )
        assert len(_left(home)) >= 5, "the demo, the service and its child, three agents"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60.0)
    finally:
        process.kill()
    assert process.returncode == 130
    assert len(out.splitlines()) == 10
    assert "version 1" in out
    assert _left(home) == []
