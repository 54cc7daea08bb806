"""Rounds as Shockwave's simulator has them, beside figures that it published."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from benchmarks.simulate import shockwave
from benchmarks.simulate.adaptation import modes, speeds_of
from benchmarks.simulate.published import folder_of, published
from benchmarks.simulate.shockwave_rounds import Policy, play

from walras.simulate import Trace, load_trace

MODEL = "ResNet-18 (batch size 256)"
SPEEDS = {("ResNet-18", 256, 1): 1.0}


def _trace(steps: list[float], arrival: list[float]) -> Trace:
    names = [f"j{k}" for k in range(len(steps))]
    given = {"steps": steps, "arrival": arrival, "kind": [MODEL] * len(steps)}
    return Trace.of(names, **given, types=("v100",), speed=np.ones((len(steps), 1)))


def test_two_jobs_take_turns_by_hand() -> None:
    """The first does 120 steps, the second 100 of the next round and then 50, as it had less; the
    last 30 steps are a last part, which loses nothing. Rounds last 120, 120, 50 and 30 s.
    """
    trace = _trace([150.0, 150.0], [0.0, 0.0])
    found = play(trace, ["static"] * 2, SPEEDS, 1, shockwave.equal_shares())
    assert found.completion.tolist() == [320.0, 290.0]
    assert found.makespan == 320.0
    assert found.used == pytest.approx((120 + 100 + 50 + 30) / 320)


def test_a_job_alone_and_one_that_comes_later() -> None:
    trace = _trace([250.0, 10.0], [0.0, 1000.0])
    found = play(trace, ["static"] * 2, SPEEDS, 1, shockwave.equal_shares())
    assert found.completion.tolist() == [250.0, 10.0]


def test_steps_that_do_not_fill_a_round_make_it_shorter() -> None:
    """119 whole steps fit in 120 s at 119.5 / 120 steps a second."""
    trace, speed = _trace([238.0], [0.0]), 119.5 / 120.0
    speeds = {("ResNet-18", 256, 1): speed}
    policy = shockwave.equal_shares()
    short = play(trace, ["static"], speeds, 1, policy)
    assert short.makespan == pytest.approx(238.0 / speed)
    assert play(trace, ["static"], speeds, 1, policy, full=True).makespan == pytest.approx(240.0)


POLICIES = {
    name: partial(shockwave.equal_shares, fitted=False) if name == "gandiva_fair" else made
    for name, made in shockwave.POLICIES.items()
}


@pytest.mark.real_data("shockwave")
def test_published_cells_come_out() -> None:
    """Makespans and mean times of two policies to the printed second, and the orders of all.

    Max-min fairness ends where ECOS does, as there: its times hang on which of the best shares are
    taken.
    """
    table = published(shockwave.TABLE, shockwave.FOLDER).set_index("policy_in_code")
    folder = folder_of(shockwave.TABLE, shockwave.FOLDER)
    path = folder / "120_jobs.trace.gz"
    trace, mode = load_trace(path, "shockwave"), modes(path)
    speeds = speeds_of(folder / "tacc_throughputs.json.gz", "v100")

    def played(policy: Policy) -> tuple[float, float, float]:
        found = play(trace, mode, speeds, 32, policy)
        return found.makespan, float(found.completion.mean()), found.used

    ours = {name: played(made()) for name, made in POLICIES.items()}
    for name in ("gandiva_fair", "max_min_fairness"):
        makespan, completion, used = ours[name]
        row = table.loc[name]
        assert round(makespan) == row["makespan_s"]
        assert completion == pytest.approx(row["avg_jct_s"], abs=0.5)
        assert round(used, 3) == row["utilisation"]
    for column, k in (("makespan_s", 0), ("avg_jct_s", 1)):
        theirs = table.loc[list(ours), column].sort_values().index.tolist()
        assert sorted(ours, key=lambda name: ours[name][k]) == theirs
