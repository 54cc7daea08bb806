"""Benchmarks of matching: rounds that repeat, a plain judgement, methods that agree, targets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.cases import match_exact, match_large, relaxed_match
from benchmarks.cell import Cell
from benchmarks.flow import read_instance
from benchmarks.matching import MatchInstance, MatchSpec, build_match, judge_match
from benchmarks.measure import measure

TINY = MatchSpec(3, 5, 6)


def test_a_spec_makes_the_same_rounds_each_time(tmp_path: Path) -> None:
    first, again = build_match(TINY), build_match(TINY)
    assert np.array_equal(first.times, again.times)
    assert np.all((first.success > 0) & (first.success < 1))
    safest = first.success.max(axis=1).mean(axis=1)
    assert np.all(first.floor < safest)
    first.save(tmp_path / "rounds.npz")
    back = read_instance(tmp_path / "rounds.npz")
    assert isinstance(back, MatchInstance)
    assert np.array_equal(back.success, first.success)
    assert back.corner().shape == (3, 5)
    assert replace(TINY, temperature=0.03).name != TINY.name


def test_the_judge_values_assignments_and_shares() -> None:
    times = np.array([[[1.0, 2.0], [3.0, 1.0]]])
    success = np.array([[[0.5, 0.5], [1.0, 1.0]]])
    given = MatchInstance(times, success, np.array([0.8]))
    whole = judge_match(given, "match", np.array([[0.0, 1.0]]))
    assert whole.value == 1.0
    assert whole.violation == pytest.approx(0.05)
    both = judge_match(given, "match", np.array([[1.0, 1.0]]))
    assert (both.value, both.violation) == (4.0, 0.0)
    shares = judge_match(given, "relaxed-match", np.full((1, 2, 2), 0.5))
    assert (shares.value, shares.violation) == (2.0, 0.0)
    lost = judge_match(given, "relaxed-match", np.full((1, 2, 2), 0.4))
    assert lost.violation == pytest.approx(0.2)
    assert not np.isfinite(judge_match(given, "match", np.array([[np.nan, 0.0]])).violation)


def test_the_judge_knows_clusters_that_tasks_share(tmp_path: Path) -> None:
    times = np.array([[[4.0, 2.0, 2.0], [9.0, 9.0, 9.0], [1.0, 1.0, 1.0]]])
    given = MatchInstance(
        times,
        np.ones_like(times),
        np.zeros(1),
        slots=np.array([2.0, 1.0, 4.0]),
        ready=np.array([1.0, 50.0, 0.5]),
    )
    # 8 slot-seconds on two slots end 4 after 1; no task, no end; alone, the longest counts.
    assert judge_match(given, "match", np.array([[0.0, 0.0, 0.0]])).value == 5.0
    assert judge_match(given, "match", np.array([[2.0, 2.0, 2.0]])).value == 1.5
    drawn = build_match(replace(TINY, rounds=1, shared=True))
    drawn.save(tmp_path / "round.npz")
    back = read_instance(tmp_path / "round.npz")
    assert isinstance(back, MatchInstance)
    assert np.array_equal(back.slots, drawn.slots)
    cell = Cell("test", replace(TINY, rounds=1, shared=True), "match", "walras-match-large", 5.0, 1)
    record = measure(cell)
    assert record["status"] == "ran", record["message"]
    assert record["numbers"]["bound"] <= record["value"] * (1 + 1e-9)
    assert 1.0 - record["numbers"]["bound"] / record["value"] == pytest.approx(
        record["numbers"]["gap"], abs=1e-9
    )


def test_every_method_runs_and_they_agree() -> None:
    def run(method: str, objective: str = "match") -> dict[str, float]:
        record = measure(Cell("test", TINY, objective, method, 5.0, runs=1, limit=60.0))
        assert record["status"] == "ran", record["message"]
        return record["numbers"] | {"value": record["value"], "violation": record["violation"]}

    ours, theirs = run("walras-match"), run("highs-match")
    assert ours["value"] == pytest.approx(theirs["value"], rel=1e-6)
    assert ours["violation"] <= 1e-8
    assert ours["bound"] <= ours["value"] * (1 + 1e-12)
    relaxed = run("walras-relaxed", "relaxed-match")
    assert relaxed["residual"] <= 1e-8
    assert relaxed["unsolved"] == 0.0


def _record(spec: MatchSpec, objective: str, method: str, **more: object) -> dict[str, object]:
    cell = {
        "instance": spec.name,
        "objective": objective,
        "method": method,
        "benchmark": "t",
        "limit": 90.0,
    }
    return {"cell": cell, "status": "ran", "violation": 0.0} | more


def test_targets_are_met_only_by_what_is_measured() -> None:
    spec = next(iter(match_exact.FACTORS))
    assert match_exact.targets({})[0].met is None
    pair = {
        "a": _record(spec, "match", "walras-match", total=0.001, value=2.0),
        "b": _record(spec, "match", "highs-match", total=0.6, value=2.0),
    }
    assert match_exact.targets(pair)[0].met is True
    pair["b"]["total"] = 0.4
    assert match_exact.targets(pair)[0].met is False
    pair["b"] |= {"total": 0.6, "value": 1.99}
    assert match_exact.targets(pair)[0].met is False

    large = {
        "a": _record(
            match_large.SPEC,
            "match",
            "walras-match-large",
            total=3.0,
            value=1.009,
            numbers={"bound": 1.0},
        ),
        **{p: _record(match_large.SPEC, "match", p, status="stopped") for p in match_large.PEERS},
    }
    assert match_large.targets(large)[0].met is True
    large["a"]["value"] = 1.02
    assert match_large.targets(large)[0].met is False
    large["a"]["value"] = 1.009
    large[match_large.PEERS[0]] |= {"status": "ran", "total": 9.0, "numbers": {"optimum": 0.9}}
    assert match_large.targets(large)[0].met is False

    solved = {
        str(k): _record(
            spec,
            "relaxed-match",
            "walras-relaxed",
            total=0.1,
            numbers={"residual": 1e-12, "unsolved": 0.0},
        )
        for k, spec in enumerate(relaxed_match.SPECS)
    }
    assert relaxed_match.targets(solved)[0].met is True
    solved["3"]["numbers"] = {"residual": 1e-6, "unsolved": 1.0}
    assert relaxed_match.targets(solved)[0].met is False
