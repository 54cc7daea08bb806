"""The benchmark of the simulator: which cells it runs, and what it says of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.simulate import (
    cost,
    dede,
    dede_page,
    gavel,
    makespan,
    order,
    priorities,
    shockwave,
    speed,
)
from benchmarks.simulate.__main__ import main
from benchmarks.simulate.allox_ties import allox_drawn
from benchmarks.simulate.at_centre import las_centred, las_fitting
from benchmarks.simulate.isolated import isolated
from benchmarks.simulate.levelled import finish_time_levelled
from benchmarks.simulate.load import load
from benchmarks.simulate.released_fifo import released_fifo
from benchmarks.tables import Tables

from walras import policies
from walras.policies.solved import relative_service
from walras.rounds import JobsSnapshot, check
from walras.simulate.time_shared import Policy
from walras.types import Floats


@pytest.mark.real_data("gavel", "gavel_traces")
def test_a_cell_is_measured_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.DataFrame(
        [("continuous-single JCT h", "cell10", "fifo_perf", 2.8, 15.68)],
        columns=["trace", "cell", "policy", "rate", "value"],
    )
    monkeypatch.setattr(gavel, "published", lambda name: table)
    tables = Tables("simulate", tmp_path)
    (tmp_path / "results").mkdir()
    assert main(["gavel", "--keep"], tables) == 0
    assert "1 of  1, largest" in capsys.readouterr().out
    kept = tables.read("gavel")
    assert kept is not None
    assert kept["ours"].tolist() == [pytest.approx(15.68, rel=0.005)]
    monkeypatch.setattr(gavel, "published", lambda name: table.assign(rate=4.0, value=17.08))
    assert main(["gavel", "--keep"], tables) == 0
    both = tables.read("gavel")
    assert both is not None
    assert both["rate"].tolist() == [2.8, 4.0], "cells of earlier runs stay"
    assert both["ours"].tolist() == [kept["ours"][0], pytest.approx(17.08, rel=0.005)]


@pytest.mark.real_data("gavel")
def test_jobs_come_until_the_measured_ones_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gavel, "MEASURED", slice(200, 260))
    monkeypatch.setattr(gavel, "CLUSTER", {"v100": 4, "p100": 4, "k80": 4})
    cell = gavel.Cell("single", "isolated", 0.7, 1.0)
    monkeypatch.setattr(gavel, "TAIL_HOURS", 1e4)
    whole = gavel.simulate(cell)
    assert len(whole.arrival) > 7000
    gavel.simulated.cache_clear()
    monkeypatch.setattr(gavel, "TAIL_HOURS", 5.0)
    found = gavel.simulate(cell)
    assert len(found.arrival) < 4000
    assert found.arrival[-1] > found.ended[found.measured].max()
    np.testing.assert_array_equal(found.completion, whole.completion)
    gavel.simulated.cache_clear()
    assert load("multiple", aware=False) > load("multiple", aware=True) > 0.3


def test_the_order_of_policies_is_that_of_cells_that_are_apart() -> None:
    cells = [("a", 10.0, 12.0), ("b", 10.1, 11.0), ("c", 20.0, 30.0), ("d", 40.0, 25.0)]
    table = [("single", policy, 5.0, shown, ours) for policy, shown, ours in cells]
    table += [("single", "a", 1.0, 1.0, 2.0), ("single", "b", 1.0, 2.0, 1.0)]  # a low load
    table += [("multiple", "a", 5.0, 1.0, 2.0), ("multiple", "b", 5.0, np.nan, 1.0)]
    frame = pd.DataFrame(table, columns=["trace", "policy", "rate", "published", "ours"])
    found = order.order(frame, gavel.LOW)
    assert found.to_dict("records") == [
        {"trace": "single", "rate": 5.0, "policies": 4, "pairs": 5, "kept": 4, "swapped": "c / d"}
    ]
    assert "4 of 5 pairs" in order.verdict(frame, gavel.LOW)
    assert "no two policies" in order.verdict(frame.iloc[:1], gavel.LOW)


def test_the_table_costs_what_its_cells_do() -> None:
    published = pd.DataFrame({"trace": "single", "policy": ["a", "a", "a", "b"]})
    frame = pd.DataFrame(
        {"trace": "single", "policy": "a", "seconds": [10.0, 90.0], "cpu s": [np.nan, 20.0]}
    )
    found = cost.cost(frame, published)
    assert found["policy"].tolist() == ["a", "b"]
    assert found["cells"].tolist() == [3, 1]
    assert found["measured"].tolist() == [2, 0]
    costs = found[["cpu s", "a cell", "all cells"]].to_numpy()
    assert costs[0].tolist() == [30.0, 15.0, 45.0]
    assert "45 s of a core, 0.01 of the bar" in cost.verdict(frame, published)
    assert "45 s of a core" in cost.verdict(
        frame.drop(columns="cpu s").assign(seconds=15.0), published
    )


def test_records_say_what_they_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        (gavel.SHAPES["single"], "cell10", policy, rate, hours)
        for policy, hours in (("allox", 10.0), ("fifo", 20.0))
        for rate in (1.0, 5.0)
    ]
    table = pd.DataFrame(rows, columns=["trace", "cell", "policy", "rate", "value"])
    monkeypatch.setattr(gavel, "published", lambda name: table)
    tables = Tables("simulate", tmp_path)
    cells = table.drop(columns="cell").rename(columns={"value": "published"})
    cells = cells.assign(trace="single", ours=cells["published"], seconds=2.0)
    tables.write("gavel", cells.assign(**{"deviation %": 0.0}))
    assert main(["records"], tables) == 0
    said = capsys.readouterr().out
    assert "allox                         1 of  1" in said
    assert "as published: 1 of 1 pairs" in said
    assert "8 s of a core" in said
    assert "fairness: nothing is kept" in said


def test_cells_are_chosen_by_policy_rate_and_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        (gavel.SHAPES[shape], "cell10", policy, rate, 1.0 if rate < 3 else np.nan)
        for shape in gavel.SHAPES
        for policy in ("fifo", "another", "allox")
        for rate in (1.0, 2.0, 3.0)
    ]
    table = pd.DataFrame(rows, columns=["trace", "cell", "policy", "rate", "value"])
    monkeypatch.setattr(gavel, "published", lambda name: table)
    found = gavel.cells(["single"], list(gavel.POLICIES), [], 2.5, 1)
    names = ("fifo", "allox", "fifo_released_0", "allox_drawn_0")
    assert [(cell.policy, cell.rate) for cell in found] == [(n, r) for n in names for r in (1, 2)]


@pytest.mark.parametrize(("policy", "name"), gavel.DRAWN.items())
def test_draws_become_one_row_with_their_spread(policy: str, name: tuple[str, str]) -> None:
    ours = {policy: 10.1, f"{name[0]}0": 9.0, f"{name[0]}1": 11.0}
    assert set(ours) <= set(gavel.POLICIES)
    cell: dict[str, object] = {"trace": "single", "rate": 1.0, "published": 10.0}
    rows = [cell | {"policy": n, "ours": h, "deviation %": 10 * h - 100} for n, h in ours.items()]
    frame = gavel.ordered(rows)
    assert frame["policy"].tolist() == [policy, f"{name[1]}, sd 1.41"]
    assert frame["ours"].tolist() == pytest.approx([10.1, 10.0])
    assert f"{policy:28}  1 of  1" in gavel.verdict(frame)


@pytest.mark.parametrize(("make", "sharing"), [(las_fitting, True), (las_centred, False)])
def test_other_solutions_have_the_same_value_by_other_shares(
    make: Callable[[], Policy], sharing: bool
) -> None:
    jobs = JobsSnapshot.of(["a", "b"], speed=[[2.0, 1.0], [1.0, 0.0]], workers=[2, 2])
    ours = policies.las(by_speed=True, sharing=sharing)(jobs)
    other = make()(jobs)
    check(jobs, other)
    least = (relative_service(jobs, by_speed=True) * other.time).sum(axis=1).min()
    assert least == pytest.approx(ours.value, rel=1e-7)
    assert abs(other.time - ours.time).max() > 1e-4


def test_levels_have_the_same_ratio_by_fairer_shares() -> None:
    """A job that is almost done waits for its end; of the two new ones, one is twice as fast."""
    jobs = JobsSnapshot.of(
        ["old", "a", "b"],
        at=1e4,
        arrival=[0.0, 1e4, 1e4],
        speed=[[1.0], [1.0], [2.0]],
        steps=[1e4] * 3,
        left=[1.0, 1e4, 1e4],
        workers=[2],
    )
    centred = policies.finish_time_fairness()(jobs)
    other = finish_time_levelled()(jobs)
    check(jobs, other)
    alone, rate = centred.notes["alone"], centred.notes["rate"]
    elapsed = jobs.at - jobs.arrival

    def ratios(time: Floats) -> Floats:
        pace = (jobs.speed * time).sum(axis=1)
        return np.asarray((elapsed + jobs.left / pace) / (alone + jobs.left / rate))

    assert ratios(other.time).max() == pytest.approx(centred.value, rel=1e-5)
    assert ratios(other.time)[1:].max() < ratios(centred.time)[1:].max() * (1 - 1e-3)


def test_ties_of_allox_are_drawn_among_best_matchings() -> None:
    jobs = JobsSnapshot.of(
        [str(k) for k in range(5)], speed=np.ones((5, 1)), steps=[9, 9, 9, 1, 1], workers=[3]
    )
    found = [allox_drawn(seed)(jobs).time[:, 0] for seed in range(30)]
    # Two queues begin with a short job; of the long ones, one has a queue for itself.
    assert all(time.sum() == 3 and time[3:].sum() == 2 for time in found)
    assert {int(np.argmax(time[:3])) for time in found} == {0, 1, 2}


def test_the_released_fifo_overbooks_the_last_type() -> None:
    jobs = JobsSnapshot.of(
        ["a", "b", "c"], speed=np.ones((3, 2)), workers=[2, 1], types=("k80", "v100")
    )
    found = released_fifo(1)(jobs)
    assert check(jobs, found) == []
    assert found.time[0, 1] > 0


@pytest.mark.real_data("gavel")
@pytest.mark.real_data("gavel")
def test_fifo_as_released_has_the_published_makespan_and_fifo_with_its_types_kept_has_not() -> None:
    """The released code books nearly all jobs on the V100s; a long job that keeps a K80 is slow."""
    found = pd.DataFrame(list(makespan.rows([100], ["FIFO", "FIFO, types kept"])))
    released, kept = found["deviation %"].tolist()
    assert abs(released) < 2.0
    assert kept > 100.0


def test_makespans_are_means_over_three_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame(
        [(makespan.TABLE, "Gavel", 100.0, 161.16), (makespan.TABLE, "FIFO", 100.0, 182.32)],
        columns=["table", "policy", "x", "value"],
    )
    names = ("Gavel", "FIFO", "FIFO, types kept")
    monkeypatch.setattr(makespan, "published", lambda name: table)
    found = pd.DataFrame(list(makespan.rows([100], names))).set_index("policy")
    assert found["deviation %"][["Gavel", "FIFO"]].abs().max() < 0.5
    assert found["ours h"]["FIFO, types kept"] > 900


@pytest.mark.real_data("gavel")
def test_times_and_ratios_are_of_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.DataFrame(
        [
            ("continuous-single JCT h", "cell10", "allox", 4.0, 17.13),
            ("continuous-single FTF", "cell11", "allox", 4.0, 0.81),
        ],
        columns=["trace", "cell", "policy", "rate", "value"],
    )
    monkeypatch.setattr(gavel, "published", lambda name: table)
    (tmp_path / "results").mkdir()
    tables = Tables("simulate", tmp_path)
    gavel.simulated.cache_clear()
    assert main(["gavel", "--ratios", "--keep"], tables) == 0
    assert gavel.simulated.cache_info().misses == 2, "AlloX, and equal parts for the ratios"
    assert capsys.readouterr().out.count("1 of  1, largest") == 2
    for study, shown in (("gavel", 17.13), ("fairness", 0.81)):
        kept = tables.read(study)
        assert kept is not None
        assert kept["ours"].tolist() == [pytest.approx(shown, rel=0.02)]
        assert kept["load %"].tolist() == [pytest.approx(69.4, abs=0.1)]


@pytest.mark.real_data("gavel")
def test_times_by_priority_are_means_over_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {"LAS (high)": 28.295517, "LAS (low)": 24.705180}
    table = pd.DataFrame(
        [(priorities.TABLE, policy, 1.2, hours) for policy, hours in shown.items()],
        columns=["table", "policy", "x", "value"],
    )
    monkeypatch.setattr(priorities, "published", lambda name: table)
    # At this load, least attained service gives every job all its time; equal parts do so, too.
    monkeypatch.setattr(priorities, "POLICIES", {"max_min_fairness": ("LAS, even", isolated)})
    found = pd.DataFrame(list(priorities.rows(["max_min_fairness"], [], 2.0))).set_index("policy")
    found.index = found.index.str.replace(", even", "")
    assert set(found.index) == set(shown)
    assert found["deviation %"].abs().max() < 1.0
    assert found["ours"]["LAS (high)"] > found["ours"]["LAS (low)"] + 2.0


def test_speeds_are_measured() -> None:
    assert speed.events(jobs=50)["events"] > 100  # type: ignore[operator]
    assert speed.placed(tasks=40)["value"] > 100  # type: ignore[operator]
    for policy in speed.DECIDES:
        found = speed.overhead(policy, jobs=60, rounds=2)
        assert found["events"] == 3  # at the begin, and where a job comes
        assert 0.0 < found["value"] < 1.0  # type: ignore[operator]


@pytest.mark.parametrize("objective", ["max-min", "proportional"])
def test_dedes_cluster_is_decided_by_all_methods(objective: str) -> None:
    table = dede.rows(objective, rounds=4, some=2, few=1, jobs=70, types=12)
    found = pd.DataFrame(table).set_index("method")
    assert set(found.index) == {dede.OURS, *dede.METHODS}
    assert found.loc[["ours, cold", "exact", "greedy, as Gandiva"], "rounds"].tolist() == [2, 1, 4]
    assert found["quality"][[dede.OURS, "ours, cold", "exact"]].min() > 1 - 2e-4
    assert found["quality"]["greedy, as Gandiva"] < found["quality"][dede.OURS] - 0.1
    assert found["quality"]["POP-64"] < found["quality"]["POP-4"] < 1.0
    assert found["quality"][["DeDe's scheme", dede.WARM]].min() > 0.9
    assert (found["worst quality"] <= found["quality"]).all()
    assert (found["quality"] < 1 + 1e-9).all()
    assert found["quality sd"].isna().tolist() == (found["rounds"] == 1).tolist()
    shown = dede_page.shown(dede_page.of(pd.DataFrame(table), objective), objective)
    assert shown["method"].tolist() == [dede.OURS, *dede.METHODS]
    assert len(dede_page.page(pd.DataFrame(table)).splitlines()) > len(shown)


def test_equal_parts_give_every_job_its_equal_share(monkeypatch: pytest.MonkeyPatch) -> None:
    values, value = [], dede._value

    def noted(objective: str, jobs: JobsSnapshot, x: Floats) -> float:
        values.append(value(objective, jobs, x))
        return values[-1]

    monkeypatch.setattr(dede, "_value", noted)
    dede.simulate("max-min", 2, {"equal parts, Gavel's Gandiva": (1,)}, jobs=40, types=8)
    assert values == pytest.approx([1.0])


def test_dedes_cluster_has_the_published_size() -> None:
    trace, cluster = dede.drawn()
    assert cluster.workers.sum() == 16_520
    assert len(cluster.types) == 456
    assert set(np.unique(cluster.workers)) <= set(range(8, 65, 8))
    assert len(trace) - 1900 == pytest.approx(720, abs=100)
    assert np.mean((trace.speed == 0).any(axis=1)) == pytest.approx(0.35, abs=0.05)


def test_shockwaves_orders_that_are_not_reproduced_are_said() -> None:
    rows = {
        "policy": ["Themis", "MST", "Gandiva-Fair"],
        "published makespan s": [31929.0, 31909.0, 32367.0],
        "makespan s": [32209.2, 31817.4, 32069.2],
        "published completion s": [3.0, 1.0, 2.0],
        "completion s": [3.1, 1.1, 2.1],
    }
    said = shockwave.verdict(pd.DataFrame(rows).assign(work="adapted")).splitlines()
    assert said[0] == (
        "Order by makespan, jobs adapted: not reproduced: "
        "Themis / Gandiva-Fair (published 1.4 % apart, ours -0.4 %)"
    )
    assert said[1] == "Order by mean completion, jobs adapted: reproduced"


def test_shockwaves_policies_stand_beside_published_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shockwave"
    folder.mkdir()
    alone = {f"('A3C', {size})": {"null": 2.0} for size in (1, 2)}
    speeds = {
        kind + far: alone for kind in ("v100", "p100", "k80") for far in ("", "_unconsolidated")
    }
    packed = gzip.compress(json.dumps(speeds).encode())
    (folder / "tacc_throughputs.json.gz").write_bytes(packed)
    lines = [
        f"A3C\trun\trl\t-n\t0\t{4000 + 99 * k}\t{1 + k % 2}\tgns\t1\t-1\t9\t{9 * k}"
        for k in range(30)
    ]
    (folder / "120_jobs.trace.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    shown = {"makespan_s": 4000, "avg_jct_s": 3000, "utilisation": 0.5}
    table = [{"policy_in_code": name, "paper_name": name} | shown for name in shockwave.POLICIES]
    pd.DataFrame(table).to_csv(folder / shockwave.TABLE)
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    found = shockwave.rows()
    works = ["as written", "adapted", "in full rounds", "in their rounds"]
    assert found["work"].tolist() == [work for work in works for _ in range(6)]
    assert (found["refused"] == 0).all()
    off = 100 * (found["makespan s"] / 4000 - 1)
    assert found["makespan off %"].tolist() == pytest.approx(off.tolist())
    assert found["place makespan"].str.contains(" / ").all()
