"""What a comparison was made from is said in full."""

from __future__ import annotations

import tomllib
from functools import partial

import numpy as np
from tests.simulate.small import ONE, on_one

from walras.policies import fifo
from walras.reports.simulate_conditions import of_runs, of_study
from walras.simulate import Cluster, Run, Trace, check_load, run
from walras.simulate.compare.study import EXAMPLE_PLACED, study

STATED = study(
    tomllib.loads("""
[trace]
rate = [0.001, 400.0]
jobs = 12
synthetic = true
[cluster]
v100 = 1
p100 = 2
k80 = 3
[[policy]]
name = "las"
label = "max-min"
by_speed = true
[run]
seeds = [4, 5]
round_seconds = 120
measured = [2, 12]
[run.failures]
between = 9e6
""")
)


def test_cluster_traces_policies_and_settings_are_there() -> None:
    draws = STATED.draws()
    facts, notice = of_study(STATED, draws, STATED.make_cluster())
    found = dict(facts)
    assert found["cluster"] == "1 v100, 2 p100, 3 k80"
    slow, fast = draws["0.001 jobs/h"](seed=4), draws["400 jobs/h"](seed=4)
    assert isinstance(fast, Trace)
    assert found["trace 0.001 jobs/h"].startswith(f"12 jobs, {slow.source}; ")
    assert "synthetic" in found["trace 400 jobs/h"]
    load = check_load(fast, Cluster(STATED.make_cluster().counts))
    assert str(load) in found["trace 400 jobs/h"]
    assert "jobs = 12" in found["trace 400 jobs/h, stated"]
    assert found["policy max-min"] == "name = las, by_speed = True"
    for words in ("round_seconds = 120", "measured = [2, 12]", "between=9000000.0"):
        assert words in found["settings"]
    assert "between_decisions = 1920.0" in found["settings"]  # left out, and used
    assert notice.startswith("400 jobs/h: offered load ")
    assert "0.001 jobs/h" not in notice


def test_tasks_say_that_they_are_drawn() -> None:
    stated = study(tomllib.loads(EXAMPLE_PLACED))
    found = dict(of_study(stated, stated.draws(), stated.make_cluster())[0])
    assert found["cluster"] == "12 east, 8 west"
    words = "300 tasks, drawn: 180 tasks/h, seed 0 (synthetic)"
    assert found["trace 180 tasks/h"].startswith(words)
    assert "min_success = 0.8" in found["world"]
    assert found["settings"] == "round_seconds = 30, measured = all, failures = none"


def test_saved_runs_say_their_trace_and_their_rounds() -> None:
    make = partial(run, on_one([600.0, 900.0], [0.0, 1000.0]), ONE)
    runs: list[Run] = [make(fifo()), make(fifo(), round_seconds=60.0, measured=np.array([0]))]
    facts, notice = of_runs(runs)
    assert dict(facts)["cluster"] == "1 gpu"
    assert dict(facts)["rounds"] == "360 s, 60 s"
    assert dict(facts)["measured"] == "2 of 2 jobs"
    assert notice.startswith("Offered load 150 %")
