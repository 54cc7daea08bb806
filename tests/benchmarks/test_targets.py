from __future__ import annotations

from typing import Any

import pytest
from benchmarks.assigning import AssignSpec
from benchmarks.benchmark import Benchmark, basis, gap, quickest_peer, speed_target
from benchmarks.cases import assignment
from benchmarks.cell import Cell
from benchmarks.instances import Spec
from benchmarks.judge import relative_gap
from benchmarks.measure import _described
from benchmarks.registry import BENCHMARKS, all_cells
from benchmarks.store import Store
from benchmarks.table import render

from benchmarks import measure
from walras.errors import EngineError

SPEC = Spec("heterogeneous", 8, 24)


def _record(method: str, total: float, value: float = 2.0, **more: Any) -> dict[str, Any]:
    cell = Cell("test", SPEC, "max-min", method, 1.0)
    record = {
        "cell": _described(cell) | {"resources": SPEC.resources, "demands": SPEC.demands},
        "status": "ran",
        "total": total,
        "value": value,
        "numbers": {},
    }
    return record | more


def _records(*records: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {record["cell"]["name"]: record for record in records}


def _verdict(*records: dict[str, Any]) -> bool | None:
    peers = ("highs", "highs-ipm")
    return speed_target(_records(*records), "case", "max-min", SPEC, peers, 25.0).met


OURS = _record("walras", 1.0, numbers={"bound": 2.0 + 1e-7})


@pytest.mark.parametrize("objective", ["min-max-utilisation", "match", "assignment", "moves"])
def test_a_cost_above_its_bound_is_a_gap_and_not_a_beaten_bound(objective: str) -> None:
    assert relative_gap(objective, 11.0, 10.0, 1) == pytest.approx(0.1)
    assert relative_gap("max-min", 9.0, 10.0, 1) == pytest.approx(0.1)


def test_rounds_that_a_method_made_itself_have_its_own_bound() -> None:
    kept, dropped = (
        _record(method, 1.0, value, numbers={"bound": bound})
        for method, value, bound in (("walras", 0.5, 0.5), ("highs", 15.0, 12.0))
    )
    for record in (kept, dropped):
        record["cell"]["objective"] = "moves"
    records = _records(kept, dropped)
    assert gap(records, kept) == 0.0
    assert gap(records, dropped) == pytest.approx(0.25)


def test_the_quickest_peer_counts() -> None:
    assert _verdict(OURS, _record("highs", 60.0), _record("highs-ipm", 30.0)) is True
    assert _verdict(OURS, _record("highs", 60.0), _record("highs-ipm", 20.0)) is False


def test_speed_without_a_closed_gap_misses() -> None:
    loose = _record("walras", 1.0, numbers={"bound": 2.1})
    assert _verdict(loose, _record("highs", 60.0)) is False


def test_a_stopped_peer_proves_only_a_lower_bound() -> None:
    stopped = _record("highs", 0.0, status="stopped")
    found = quickest_peer(_records(stopped), "max-min", SPEC, ("highs",))
    assert found == ("highs", 300.0, True)
    assert _verdict(OURS, stopped) is True
    slower = _record("walras", 20.0, numbers={"bound": 2.0})
    assert _verdict(slower, stopped) is None


def test_nothing_is_claimed_before_it_is_measured() -> None:
    targets = [target for b in BENCHMARKS for target in b.targets({})]
    assert len(targets) >= 20
    assert {(target.measured, target.met) for target in targets} == {("", None)}
    assert "not measured" in render(BENCHMARKS, {})


def test_the_gap_is_to_the_best_bound_of_any_method() -> None:
    other = _record("highs", 3.0, value=1.0, numbers={"bound": 4.0})
    records = _records(OURS, other)
    distance = gap(records, other)
    assert distance is not None
    assert abs(distance - 0.5) < 1e-6


def test_what_needs_a_gpu_is_listed_as_not_run_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(device: str) -> None:
        raise EngineError("there is no GPU", where="device", allowed="cpu", remedy="add one")

    monkeypatch.setattr(measure, "check_device", absent)
    cell = Cell("test", SPEC, "max-min", "walras-interior-cuda", 1.0)
    record = measure.measure(cell)
    assert (record["status"], record["message"]) == ("not run", "there is no GPU")
    page = render([Benchmark("test", "GPU", (cell,), lambda records: ())], _records(record))
    assert "not run: there is no GPU" in page


def test_gaps_of_assignments_are_compared_where_both_are_measured() -> None:
    def record(method: str, value: float, bound: float) -> dict[str, Any]:
        cell = Cell(assignment.NAME, AssignSpec("D", 5, 100), "assignment", method, 1.0)
        return {"cell": _described(cell), "value": value, "numbers": {"bound": bound}}

    theirs = record("highs-assign-10", 102.0, 100.0)
    assert assignment.targets(_records(theirs))[1].met is None
    ahead = assignment.targets(_records(theirs, record("walras-assign-10", 101.0, 100.0)))[1]
    assert ahead.met is None  # eight are not measured
    assert "behind on 0 of 1, 8 not measured" in ahead.measured
    behind = assignment.targets(_records(theirs, record("walras-assign-10", 102.0, 99.0)))[1]
    assert behind.met is False
    assert "behind on 1 of 1 (D 5x100)" in behind.measured


def test_a_target_tells_runs_dates_and_turns_of_what_it_compares() -> None:
    ours = _record("walras", 1.0, runs=5, started="2026-11-24T10:00:00")
    peer = _record("highs", 9.0, runs=1, started="2026-11-21T10:00:00")
    assert basis([ours, peer, None]) == "runs: walras 5, highs 1; 2026-11-21 and 2026-11-24"
    names = [record["cell"]["name"] for record in (ours, peer)]
    ours["in_turns"], peer["in_turns"] = names[1:], names[:1]
    peer["started"] = ours["started"]
    assert basis([ours, peer]) == "runs: walras 5, highs 1; in turns, 2026-11-24"
    assert basis([ours]) == "runs: walras 5; 2026-11-24"
    records = _records(ours | {"numbers": OURS["numbers"]}, peer)
    target = speed_target(records, "c", "max-min", SPEC, ("highs",), 2.0)
    assert target.basis == "runs: walras 5, highs 1; in turns, 2026-11-24"
    page = render([Benchmark("test", "T", (), lambda _: (target,))], {})
    assert f"; {target.basis} | met |" in page


def test_every_figure_tells_the_runs_and_dates_it_stands_on() -> None:
    known = Store().records(all_cells())
    shown = [target for benchmark in BENCHMARKS for target in benchmark.targets(known)]
    assert [target.case for target in shown if target.measured and not target.basis] == []
