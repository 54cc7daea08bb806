"""Runs: rounds of a fixed length, fallbacks, invariants, what is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulate.small import ONE, equal_pairs, equal_shares, on_one, paired_trace, random_trace

from walras import InputError, policies
from walras.progress import Progress
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, Slots, Trace, run
from walras.simulate.time_shared import Policy

CLUSTER = Cluster({"a": 4, "b": 5, "c": 3})


def test_a_job_ends_within_a_round_and_the_next_begins_after_it() -> None:
    done = run(on_one([500, 100]), ONE, policies.fifo(), between_decisions=0)
    assert done.completion.tolist() == [500.0, 820.0]  # 820 = 2 rounds of 360 s and 100 s
    assert done.makespan == 820.0
    assert done.rounds["at"].tolist() == [0.0, 360.0, 720.0]
    assert done.rounds["decisions"].tolist() == [1, 0, 1]


def test_a_job_waits_for_a_decision() -> None:
    done = run(on_one([100, 100], [0, 50]), Cluster({"gpu": 2}), policies.fifo())
    assert done.began.tolist() == [0.0, 2160.0]  # the first round 1920 s after the first decision


def test_time_jumps_over_idle_hours() -> None:
    done = run(on_one([100, 100], [0, 1e6]), ONE, policies.fifo())
    assert done.completion.tolist() == [100.0, 100.0]
    assert len(done.rounds) == 2


def test_equal_shares_alternate() -> None:
    done = run(on_one([720, 720]), ONE, equal_shares)
    assert done.completion.tolist() == [1080.0, 1440.0]
    assert done.moves.tolist() == [1, 1]


def test_only_measured_jobs_are_waited_for() -> None:
    done = run(on_one([100, 100, 1e9], [0, 0, 4000]), ONE, policies.fifo(), measured=slice(2))
    assert list(done.completion.index) == ["j0", "j1"]
    assert done.state == ("ended", "ended", "not arrived")


@given(seed=st.integers(0, 10_000), exact=st.booleans(), fifo=st.booleans())
def test_invariants(seed: int, exact: bool, fifo: bool) -> None:
    """Every job ends, work is conserved, no worker is in two places, the same seed gives the same
    run."""
    trace = random_trace(seed)
    policy = policies.fifo() if fifo else equal_shares
    length = 0.0 if exact else 360.0
    done = run(trace, CLUSTER, policy, round_seconds=length, seed=seed)
    assert done.complete
    assert set(done.state) == {"ended"}
    work = (done.received * trace.on(CLUSTER)).sum(axis=1)
    np.testing.assert_allclose(work, trace.steps, rtol=1e-9)
    span = np.diff([*done.round_at, done.end]) if exact else np.full(len(done.round_at), length)
    assert (done.busy <= np.multiply.outer(span, CLUSTER.workers) * (1 + 1e-9) + 1e-6).all()
    assert (done.received.sum(axis=1) <= (done.ended - trace.arrival) * (1 + 1e-9)).all()
    assert done.hash == run(trace, CLUSTER, policy, round_seconds=length, seed=seed).hash


@given(seed=st.integers(0, 10_000), exact=st.booleans())
def test_invariants_with_pairs(seed: int, exact: bool) -> None:
    trace, length = paired_trace(seed, 15), 0.0 if exact else 360.0
    done = run(trace, CLUSTER, equal_pairs, round_seconds=length)
    assert done.complete
    assert not done.violations
    span = np.diff([*done.round_at, done.end]) if exact else np.full(len(done.round_at), length)
    assert (done.busy <= np.multiply.outer(span, CLUSTER.workers) * (1 + 1e-9) + 1e-6).all()
    assert (done.received.sum(axis=1) <= (done.ended - trace.arrival) * (1 + 1e-9)).all()
    assert (done.shared <= done.received.sum(axis=1) * (1 + 1e-9)).all()
    assert done.hash == run(trace, CLUSTER, equal_pairs, round_seconds=length).hash


@given(seed=st.integers(0, 10_000), exact=st.booleans(), factor=st.floats(0.2, 1.0))
def test_work_is_conserved_with_pairs(seed: int, exact: bool, factor: float) -> None:
    """All jobs have one speed alone and one beside another, so seconds alone and shared say what
    was done."""
    rng = np.random.default_rng(seed)
    trace = Trace.of(
        [f"j{k}" for k in range(12)],
        size=rng.choice([1, 2], 12),
        steps=rng.integers(20, 20_000, 12),
        arrival=np.sort(rng.uniform(0, 2e4, 12)),
        speed=np.full((12, 1), 2.0),
        group=np.zeros(12, np.int64),
        paired=np.full((1, 1, 1), 2.0 * factor),
    )
    length = 0.0 if exact else 360.0
    done = run(trace, Cluster({"type 0": 3}), equal_pairs, round_seconds=length)
    assert done.complete
    assert done.shared.any()
    work = 2.0 * (done.received.sum(axis=1) - done.shared + factor * done.shared)
    np.testing.assert_allclose(work, trace.steps, rtol=1e-9)


def test_two_jobs_that_share_run_at_their_speeds_beside_each_other() -> None:
    """At 0.8 and 0.5 steps a second, the second one speeds up when the first one has ended."""
    trace = replace(
        on_one([720.0, 720.0]),
        group=np.array([0, 1]),
        paired=np.array([[0.0, 0.8], [0.5, 0.0]])[:, :, None],
    )

    def share(snapshot: JobsSnapshot) -> Shares:
        both = snapshot.pairs.jobs
        alone = np.full((len(snapshot), 1), float(not len(both)))
        return snapshot.shares(alone, pair=both, pair_time=np.ones((len(both), 1)))

    done = run(trace, ONE, share, between_decisions=0)
    assert done.ended.tolist() == [900.0, 1260.0]  # at 1080 s, 540 steps are done
    assert done.shared.tolist() == [900.0, 1080.0]
    assert done.busy.ravel().tolist() == [360.0, 360.0, 360.0, 180.0]
    exact = run(trace, ONE, share, round_seconds=0)
    assert exact.ended.tolist() == [900.0, 1170.0]


def _nan(snapshot: JobsSnapshot) -> Any:
    return snapshot.shares(np.full(snapshot.speed.shape, np.nan))


def _too_much(snapshot: JobsSnapshot) -> Any:
    return snapshot.shares(np.ones(snapshot.speed.shape))


def _misnamed(snapshot: JobsSnapshot) -> Any:
    return Shares(tuple(f"x{name}" for name in snapshot.name), snapshot.types, snapshot.speed)


def _nothing(snapshot: JobsSnapshot) -> Any:
    del snapshot


@pytest.mark.parametrize(
    ("policy", "said"),
    [(_nan, "number"), (_too_much, "capacity"), (_misnamed, "reference"), (_nothing, "type")],
)
@pytest.mark.parametrize("length", [360.0, 0.0])
def test_bad_decisions_are_named_counted_and_replaced(
    policy: Policy, said: str, length: float
) -> None:
    done = run(on_one([100, 500, 50]), ONE, policy, round_seconds=length)
    assert done.complete
    assert done.policy == policy.__name__
    assert done.rounds["refused"].sum() >= 1
    assert said in done.violations[0]


def test_a_good_decision_stays_when_the_next_is_bad() -> None:
    asked = []

    def policy(snapshot: JobsSnapshot) -> Shares:
        asked.append(snapshot.at)
        return equal_shares(snapshot) if len(asked) == 1 else _nan(snapshot)

    done = run(on_one([720, 720, 360]), ONE, policy, between_decisions=0)
    assert done.complete
    assert done.rounds["refused"].sum() == len(asked) - 1 > 0
    assert done.policy == "equal", "the policy keeps its name where its last decision is refused"


def test_the_order_of_types_is_drawn_where_a_policy_is_blind() -> None:
    def blind(snapshot: JobsSnapshot) -> Shares:
        fair = equal_shares(snapshot)
        return snapshot.shares(fair.time, blind=True)

    trace = random_trace(3)
    ones = [run(trace, CLUSTER, blind, seed=seed).hash for seed in (0, 0, 1)]
    assert ones[0] == ones[1] != ones[2]


def test_progress_counts_jobs_and_may_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["walras.simulate.run"], "_TELL", -1.0)
    heard: list[Progress] = []

    def stop(step: Progress) -> bool:
        heard.append(step)
        return len(heard) == 2  # the first call is before the decision

    done = run(on_one([1e11], [0]), ONE, policies.fifo(), on_progress=stop)
    assert done.state == ("running",)
    assert [(step.iteration, step.total) for step in heard] == [(0, 1)] * 2


def test_progress_counts_the_shares_done_of_jobs_that_take_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules["walras.simulate.run"], "_TELL", -1.0)
    jobs = on_one([36_000.0] * 40, [2000.0 * k for k in range(40)])
    done = run(jobs, ONE, equal_shares, on_progress=lambda step: step.iteration == 2)
    assert not {"ended", "failed"} & set(done.state)
    assert 2.0 <= done.done.sum() < 3.0


def test_progress_counts_the_jobs_before_the_measured_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the last of many jobs is measured, the others are most of the work."""
    monkeypatch.setattr(sys.modules["walras.simulate.run"], "_TELL", -1.0)
    heard: list[Progress] = []
    rules: dict[str, Any] = {"measured": slice(2, 3), "round_seconds": 0}
    run(on_one([60.0] * 4), ONE, policies.fifo(), **rules, on_progress=heard.append)
    assert {step.total for step in heard} == {3}
    assert [step.iteration for step in heard] == [1, 2, 3]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"round_seconds": -1.0}, "round_seconds"),
        ({"round_seconds": 1e10}, "round_seconds"),
        ({"round_seconds": 0.5}, "does no whole step"),
        ({"between_decisions": np.nan}, "between_decisions"),
        ({"measured": slice(5, 9)}, "chooses none"),
        ({"measured": [7]}, "chooses no jobs"),
        ({"measured": 10**20}, "chooses no jobs"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_settings_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run(on_one([10.0, 20.0]), ONE, policies.fifo(), **given)


@pytest.mark.parametrize("cluster", [ONE, Slots({"gpu": 1})])
def test_a_policy_is_a_function(cluster: Any) -> None:
    with pytest.raises(InputError, match=r"policy: is 'fifo'; allowed.*named\('fifo'\)"):
        run(on_one([10.0]), cluster, "fifo")  # type: ignore[call-overload]


def test_pairs_that_never_get_anything_done_are_refused() -> None:
    paired = np.array([[0.0, 0.5], [1e-3, 0.0]])[:, :, None]
    trace = replace(on_one([10.0, 20.0]), group=np.array([0, 1]), paired=paired)
    with pytest.raises(InputError, match=r"group 1 beside one of group 0 .*at least 1000"):
        run(trace, ONE, equal_pairs)
    assert run(trace, ONE, equal_pairs, whole_steps=False).complete


def test_a_start_costs_its_seconds() -> None:
    rules = {"between_decisions": 0.0, "restart_seconds": 60.0}
    # a: 300 steps, then 360, then 60; the worker is free for b with the next round.
    kept = run(on_one([720, 720]), ONE, policies.fifo(), **rules)  # type: ignore[call-overload]
    assert kept.ended.tolist() == [780.0, 1860.0]
    # Both begin anew in each round: 300 steps a round, and 120 in the last.
    turns = run(on_one([720, 720]), ONE, policies.las(), **rules)  # type: ignore[call-overload]
    assert sorted(turns.ended.tolist()) == [1620.0, 1980.0]


@pytest.mark.parametrize(("length", "lost"), [(360.0, 360.0), (0.0, 1.0), (360.0, -1.0)])
def test_starts_that_take_a_round_are_refused(length: float, lost: float) -> None:
    with pytest.raises(InputError, match="restart_seconds"):
        run(on_one([9]), ONE, policies.fifo(), round_seconds=length, restart_seconds=lost)


def test_a_job_of_endless_rounds_is_refused() -> None:
    with pytest.raises(InputError, match=r"job 'j0' takes 2\.78e\+12 rounds"):
        run(on_one([1e15]), ONE, policies.fifo())
    assert run(on_one([1e15]), ONE, policies.fifo(), round_seconds=0).makespan == 1e15


def test_whole_steps_are_true_or_false() -> None:
    with pytest.raises(InputError, match="whole_steps"):
        run(on_one([10]), ONE, policies.fifo(), whole_steps="no")  # type: ignore[call-overload]


def test_a_value_of_a_decision_is_a_number() -> None:
    def worded(snapshot: JobsSnapshot) -> Shares:
        return replace(policies.fifo()(snapshot), value="much")  # type: ignore[arg-type]

    with pytest.raises(InputError, match="not numeric"):
        run(on_one([10]), ONE, worded)


def test_between_two_infinite_numbers_is_no_gap() -> None:
    def endless(snapshot: JobsSnapshot) -> Shares:
        return replace(policies.fifo()(snapshot), value=np.inf, bound=np.inf)

    assert run(on_one([10]), ONE, endless).rounds["gap"].isna().all()


def _of_world(made: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    """The policies by name, made with the least that they need."""
    needs: dict[str, dict[str, Any]] = {
        "predicted": {"policy": "fifo", "throughputs": pd.DataFrame({"type 0": [1.0]})}
    }
    return {name: make(**needs.get(name, {})) for name, make in made.items()}


def test_policies_of_the_other_world_are_refused_before_the_run() -> None:
    jobs, slots = on_one([60.0]), Slots({"gpu": 1})
    for name, policy in _of_world(policies.NAMED).items():
        with pytest.raises(InputError, match="decides shares of time") as refused:
            run(jobs, slots, policy)
        assert "wl.policies.first_fit()" in str(refused.value), name
    for name, policy in _of_world(policies.PLACEMENTS).items():
        with pytest.raises(InputError, match="decides placements") as refused:
            run(jobs, ONE, policy)
        assert "wl.policies.fifo()" in str(refused.value), name


def test_a_function_that_does_not_say_its_world_is_let_through() -> None:
    asked: list[Any] = []

    def own(snapshot: Any) -> Any:
        asked.append(snapshot)
        return snapshot.held

    with pytest.raises(AttributeError, match="held"):
        run(on_one([60.0]), Slots({"gpu": 1}), own)
    assert len(asked) == 1
