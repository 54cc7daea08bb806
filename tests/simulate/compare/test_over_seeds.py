"""Comparisons: the same in one process and in two, after a cut, and stopped with what is there."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.simulate.small import ONE, on_one

import walras as wl
from walras import DataError, InputError
from walras.policies import (
    fastest_cluster,
    fifo,
    first_fit,
    las,
    savings_bound,
    shortest_remaining_time,
)
from walras.progress import Progress
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import (
    NO_POLICY,
    Cluster,
    Comparison,
    Slots,
    TaskTrace,
    compare,
    draw_tasks,
    gavel_trace,
    run,
    summary,
)
from walras.simulate.compare.case import MakePolicy
from walras.simulate.metrics import SECONDS, by_kind
from walras.simulate.time_shared import Policy

CLUSTER = Cluster({"v100": 2, "p100": 2, "k80": 2})
POLICIES: dict[str, MakePolicy] = {"fifo": fifo, "max-min": partial(las, by_speed=True)}
DRAWN = partial(gavel_trace, 8.0, 12, synthetic=True)


def _timeless(found: Comparison) -> pd.DataFrame:
    table = found.table
    return table[~table["measure"].isin(SECONDS)].reset_index(drop=True)


def test_measures_are_those_of_the_runs() -> None:
    found = compare(DRAWN, CLUSTER, POLICIES, seeds=[3, 5], processes=1, bound=savings_bound)
    for seed in (3, 5):
        done = run(DRAWN(seed=seed), CLUSTER, fifo(), seed=seed)
        own = summary(done).set_index("measure")["value"].drop([*SECONDS])
        rows = found.table.query("policy == 'fifo' and seed == @seed").set_index("measure")
        pd.testing.assert_series_equal(rows["value"][own.index], own, check_names=False)
        for kind, hours in by_kind(done).groupby("kind"):
            mean = np.average(hours["mean completion h"], weights=hours["jobs"])
            assert rows["value"][f"mean completion of {kind}"] == pytest.approx(mean)
    least = found.table[found.table["policy"] == NO_POLICY]
    assert least["measure"].tolist() == ["mean completion", "makespan"] * 2
    frame = found.frame(["mean completion", "makespan"], spread=True).droplevel("trace")
    for name in ("mean completion", "makespan"):
        assert frame[name][NO_POLICY] <= frame[name]["fifo"]
    two = found.table.query("policy == 'fifo' and measure == 'makespan'")["value"]
    assert frame["± makespan"]["fifo"] == pytest.approx(two.std())
    assert frame["makespan"]["fifo"] == pytest.approx(two.mean())


def test_processes_and_a_cut_change_nothing(tmp_path: Path) -> None:
    rules: dict[str, Any] = {"seeds": 2, "round_seconds": 720.0}
    whole = compare(DRAWN, CLUSTER, POLICIES, **rules, processes=1)
    steps: list[Progress] = []

    def cut(step: Progress) -> bool:
        steps.append(step)
        return step.note.startswith("2 of 4")

    first = compare(
        DRAWN, CLUSTER, POLICIES, **rules, processes=1, folder=tmp_path, on_progress=cut
    )
    assert not first.complete
    assert len(list(tmp_path.glob("*.npz"))) == 2
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.npz")}
    rest = compare(DRAWN, CLUSTER, POLICIES, **rules, processes=2, folder=tmp_path)
    assert rest.complete
    pd.testing.assert_frame_equal(_timeless(rest), _timeless(whole))
    for name, held in before.items():
        assert (tmp_path / name).read_bytes() == held
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    again = compare(DRAWN, CLUSTER, POLICIES, **rules, processes=1, folder=tmp_path)
    pd.testing.assert_frame_equal(_timeless(again), _timeless(whole))
    assert all(0 <= step.iteration <= step.total for step in steps)
    assert steps[-1].iteration > 0


def test_the_same_case_is_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        compare(DRAWN, CLUSTER, POLICIES, processes=1, folder=tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "a").glob("*.npz"))
    assert len(files) == 2
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_damaged_file_is_run_again(tmp_path: Path) -> None:
    compare(DRAWN, CLUSTER, {"fifo": fifo}, processes=1, folder=tmp_path)
    (file,) = tmp_path.glob("*.npz")
    good = file.read_bytes()
    file.write_bytes(good[: len(good) // 2])
    compare(DRAWN, CLUSTER, {"fifo": fifo}, processes=1, folder=tmp_path)
    assert file.read_bytes() == good


def test_other_settings_are_other_files(tmp_path: Path) -> None:
    for rules in ({}, {"round_seconds": 0.0}, {"between_decisions": 0.0}, {"seeds": [1]}):
        compare(on_one([100.0]), ONE, {"fifo": fifo}, processes=1, folder=tmp_path, **rules)
    assert len(list(tmp_path.glob("*.npz"))) == 4
    compare(on_one([101.0]), ONE, {"fifo": fifo}, processes=1, folder=tmp_path)
    compare(on_one([100.0]), ONE, {"fifo": shortest_remaining_time}, processes=1, folder=tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) == 6


def test_ctrl_c_keeps_what_has_ended() -> None:
    asked = 0

    def press(step: Progress) -> bool:
        nonlocal asked
        asked += step.note.startswith("1 of")
        if asked:
            raise KeyboardInterrupt
        return False

    found = compare(DRAWN, CLUSTER, POLICIES, processes=1, on_progress=press)
    assert not found.complete
    assert set(found.policy) == {"fifo"}
    assert str(found.status) == "interrupted"
    whole = compare(DRAWN, CLUSTER, POLICIES, processes=1)
    assert found.runs == 1
    assert {*found.missing, ("trace", "fifo", 0)} == {
        (trace, policy, seed)
        for trace, policy, seed in zip(whole.trace, whole.policy, whole.seed.tolist(), strict=True)
    }
    assert not whole.missing


def slow() -> Policy:
    """First in, first out, at leisure."""
    quick = fifo()

    def decide(snapshot: JobsSnapshot) -> Shares:
        time.sleep(0.03)
        return quick(snapshot)

    return decide


@pytest.mark.parametrize("processes", [1, 2])
def test_how_far_it_is_is_told_before_a_run_ends_and_stops_it(processes: int) -> None:
    heard: list[Progress] = []

    def cut(step: Progress) -> bool:
        heard.append(step)
        return step.iteration > 0

    rules: dict[str, Any] = {"processes": processes, "round_seconds": 0, "on_progress": cut}
    found = compare(on_one([60.0] * 60), ONE, {"a": slow, "b": slow}, **rules)
    assert heard[-1].note == "0 of 2 runs"
    assert 0.0 < heard[-1].share < 1.0
    assert str(found.status) == "interrupted"
    assert not len(found.table)


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    found = compare({"one": on_one([100.0, 50.0])}, ONE, {"fifo": fifo}, processes=1)
    found = replace(found, missing=(("one", "las", 0),))
    found.save(tmp_path / "found.npz")
    again = wl.load(tmp_path / "found.npz")
    assert again.missing == found.missing
    found = replace(found, missing=())
    found.save(tmp_path / "found.npz")
    again = wl.load(tmp_path / "found.npz")
    pd.testing.assert_frame_equal(again.table, _timeless(found))
    other = compare({"one": on_one([100.0, 50.0])}, ONE, {"fifo": fifo}, processes=1)
    other.save(tmp_path / "other.npz")
    assert (tmp_path / "other.npz").read_bytes() == (tmp_path / "found.npz").read_bytes()
    assert repr(again) == repr(found) == "Comparison(feasible: 1 policy, 1 trace, 1 seed)"


def test_a_function_typed_here_runs_in_this_process() -> None:
    policies = {"mine": lambda: fifo()}
    found = compare(on_one([100.0, 50.0]), ONE, policies, seeds=2)
    assert np.isfinite(found.frame(["mean completion"]).to_numpy()).all()
    with pytest.raises(InputError, match="processes=1"):
        compare(on_one([100.0]), ONE, policies, processes=2)


def test_what_cannot_be_used_is_refused(tmp_path: Path) -> None:
    trace = on_one([100.0])
    for policies, rules in (
        ({}, {}),
        ({"fifo": fifo}, {"seeds": 0}),
        ({"fifo": fifo}, {"seeds": [-1]}),
    ):
        with pytest.raises(InputError):
            compare(trace, ONE, policies, **rules)
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(DataError):
        compare(trace, ONE, {"fifo": fifo}, folder=tmp_path / "file")


@pytest.mark.parametrize("seeds", [[], [0, 0]])
def test_a_seed_is_there_once(seeds: list[int]) -> None:
    with pytest.raises(InputError, match="seeds"):
        compare(DRAWN, CLUSTER, POLICIES, seeds=seeds, processes=1)


def test_no_policy_is_named_as_the_bound() -> None:
    with pytest.raises(InputError, match="row of bounds"):
        compare(DRAWN, CLUSTER, {NO_POLICY: fifo}, processes=1)


SLOTS = Slots({"east": 3, "west": 2}).with_failures(3600.0, 300.0, 7200.0)
TASKS = partial(draw_tasks, 30, rate=120.0, error=0.3, chance=0.8)
PLACERS: dict[str, MakePolicy] = {"first": first_fit, "fastest": fastest_cluster}


def test_tasks_on_slots_are_compared_the_same_way(tmp_path: Path) -> None:
    rules: dict[str, Any] = {"seeds": 2, "round_seconds": 30.0, "processes": 1}
    found = compare(TASKS, SLOTS, PLACERS, **rules, bound=savings_bound, folder=tmp_path)
    for seed in (0, 1):
        tasks = TASKS(seed=seed)
        chosen = fastest_cluster(predict=tasks.predict)
        own = summary(run(tasks, SLOTS, chosen, round_seconds=30.0, seed=seed))
        rows = found.table.query("policy == 'fastest' and seed == @seed").set_index("measure")
        assert rows["value"].drop([*SECONDS]).to_dict() == pytest.approx(
            own.set_index("measure")["value"].drop([*SECONDS]).to_dict(), nan_ok=True
        )
    frame = found.frame().droplevel("trace")
    assert "fairness of rounds" not in frame
    assert "fairness of rounds" in found.frame(["fairness of rounds"])
    assert frame["mean completion"].idxmin() == frame["makespan"].idxmin() == NO_POLICY
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.npz")}
    assert len(before) == 4
    last = max(tmp_path.glob("*.npz"))
    last.unlink()
    again = compare(TASKS, SLOTS, PLACERS, **rules, bound=savings_bound, folder=tmp_path)
    pd.testing.assert_frame_equal(_timeless(again), _timeless(found))
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.npz")} == before


def test_jobs_on_slots_are_tasks_and_tasks_need_slots() -> None:
    jobs, slots = on_one([100.0, 50.0]), Slots({"gpu": 1})
    found = compare(jobs, slots, {"first": first_fit}, processes=1, round_seconds=0.0)
    assert found.frame(["mean completion"]).to_numpy() * 3600 == pytest.approx(125.0)
    with pytest.raises(InputError, match=r"policies\['fifo'\]: cannot be called with predict="):
        compare(jobs, slots, {"fifo": fifo}, processes=1)
    with pytest.raises(InputError, match="tasks run on Slots"):
        compare(TaskTrace.of(["a"]), ONE, {"fifo": fifo}, processes=1)

    def seeds(seed: int) -> Any:
        return [seed]

    with pytest.raises(InputError, match="traces"):
        compare(seeds, slots, {"first": first_fit}, processes=1)


def test_a_stopped_comparison_of_tasks_has_the_runs_so_far() -> None:
    def cut(step: Progress) -> bool:
        return step.note.startswith("1 of 4")

    found = compare(TASKS, SLOTS, PLACERS, seeds=2, processes=1, on_progress=cut)
    assert not found.complete
    assert set(found.policy) == {"first"}
