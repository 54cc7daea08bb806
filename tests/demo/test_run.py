"""The sections one after the other: settings, stages, the record, and a stop."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from tests.demo.small import Stopped, baselines, placed, small_round

from walras.demo import network, placement, run, scheduling
from walras.demo.network import NetworkSection
from walras.demo.run import Demo, DemoSettings, expected
from walras.demo.scheduling import EQUAL, GREEDY
from walras.errors import InputError

ALONE = DemoSettings(tasks=0, large=0, network=False, threads=1)


@pytest.fixture(autouse=True)
def _cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled ahead: the policies here need no kernels."""
    monkeypatch.setattr(run, "compiled_beside", nullcontext)
    monkeypatch.setattr(scheduling, "warm_up", lambda threads, on_progress: None)


@pytest.mark.parametrize("name", ["tasks", "seed", "large", "threads"])
def test_settings_out_of_range_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: is -1") as caught:
        DemoSettings(**{name: -1})  # type: ignore[arg-type]
    assert caught.value.remedy


def test_stages_are_expected_in_the_order_in_which_they_run() -> None:
    rounds: run.Rounds = [(small_round(), {EQUAL: 0.5, GREEDY: 0.1})]
    policies = ["A round: equal share", "A round: greedy"]
    assert list(expected(ALONE, rounds)) == ["loading kernels", *policies]
    assert expected(ALONE, rounds)["A round: equal share"] == 0.5
    trained = ["training through the matching"] * placement.with_torch()
    whole = list(expected(replace(ALONE, tasks=5, network=True), rounds))
    assert whole == [
        "training predictors",
        *trained,
        "loading kernels",
        *policies,
        f"simulating {network.CENTRES} data centres",
    ]


def test_the_record_repeats_the_run() -> None:
    rounds: run.Rounds = [(small_round(), {EQUAL: 0.1, GREEDY: 0.1})]
    stages = Stopped(after=99)
    demo = run.run(ALONE, rounds, stages)
    assert stages.begun == list(expected(ALONE, rounds))
    found = demo.record()
    assert (found["command"], found["seed"]) == ("demo", 0)
    assert (found["placing"], found["network"]) == (None, None)
    assert {"python", "walras", "numpy"} <= set(found["versions"])
    (one,) = found["rounds"]
    assert [row["policy"] for row in one["policies"]] == [EQUAL, GREEDY]
    round_ = rounds[0][0]
    arrays = (round_.throughput.to_numpy(), round_.size, round_.capacity)
    wanted = hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays))
    assert one["sha256"] == wanted.hexdigest()


def test_sources_are_those_of_the_sections_that_ran() -> None:
    demo = Demo(None, (baselines(),), None, ALONE, 1.0)
    assert demo.sources == ("synthetic stand-in",)
    assert replace(demo, placement=placed()).sources == ("measured", "synthetic stand-in")


def test_a_stop_leaves_the_sections_after_it_out() -> None:
    rounds: run.Rounds = [(small_round(), {EQUAL: 0.1}), (small_round(), {EQUAL: 0.1})]
    stages = Stopped(after=2)
    demo = run.run(replace(ALONE, network=True), rounds, stages)
    assert stages.begun == ["loading kernels", "A round: equal share"]
    assert len(demo.rounds) == 1
    assert demo.network is None


def test_a_stop_within_the_simulation_keeps_the_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def simulated(progress: Callable[[int, int], None], seed: int) -> NetworkSection:
        progress(1, 10)
        raise AssertionError("it went on")

    monkeypatch.setattr(network, "demo_network", simulated)
    stages = Stopped(after=3)
    demo = run.run(replace(ALONE, network=True), [(small_round(), {EQUAL: 0.1})], stages)
    assert stages.begun[-1] == f"simulating {network.CENTRES} data centres"
    assert demo.network is None
    assert len(demo.rounds) == 1
