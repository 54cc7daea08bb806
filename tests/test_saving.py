"""Results are saved in one file and read back equal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.test_solving import cluster

import walras as wl

cs = wl.domains.cluster_scheduling


def check_solution(s: wl.Solution, path: Path) -> wl.Solution:
    s.save(path)
    again = wl.load(path)
    assert isinstance(again, wl.Solution)
    assert repr(again) == repr(s)
    assert str(again) == str(s)
    np.testing.assert_array_equal(again.entries, s.entries)
    np.testing.assert_array_equal(again.prices.rows, s.prices.rows)
    assert again.frame().equals(s.frame())
    assert again.allocation.equals(s.allocation)
    assert again.history.frame().equals(s.history.frame())
    assert len(again.levels) == len(s.levels)
    return again


@pytest.mark.parametrize("objective", [cs.max_min, cs.leximin, cs.proportional_fairness])
def test_a_solution_is_read_back_with_its_problem(objective: Any, tmp_path: Path) -> None:
    names = [f"job {k}" for k in range(8)]
    problem = objective(*cluster(1, 3, 8), demand_names=names)
    s = wl.solve(problem, engine="interior", threads=1)
    again = check_solution(s, tmp_path / "s.npz")
    assert again.explain("job 3").frame().equals(s.explain("job 3").frame())
    warm = wl.solve(s.problem, engine="interior", start=again, threads=1)
    assert warm.value == pytest.approx(s.value, rel=1e-6)


def test_flows_on_paths_keep_the_names_of_their_entries(tmp_path: Path) -> None:
    te = wl.domains.traffic_engineering
    net = te.Network(("a", "b", "c"), np.array([0, 1, 0]), np.array([1, 2, 2]), np.arange(1.0, 4))
    demand = np.array([[0, 1.0, 4.0], [0, 0, 1.0], [0, 0, 0]])
    s = wl.solve(te.max_total_flow(net, demand, te.candidate_paths(net, cache=False)))
    again = check_solution(s, tmp_path / "s.npz")
    assert [again.problem.entry_name(k) for k in range(again.problem.entries)] == [
        s.problem.entry_name(k) for k in range(s.problem.entries)
    ]
    loads = s.allocation.sum(axis=1)
    assert list(loads.index) == list(net.link_names)
    assert np.all(loads.to_numpy() <= net.capacity + 1e-9)
    wl.solve(s.problem, start=again)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cannot be read as a result: it is no .npz file"),
        (b"job,v100\na,0.5\n", "cannot be read as a result: it is no .npz file"),
        (None, "the file cannot be read: No such file or directory"),
    ],
)
def test_foreign_files_are_refused(content: bytes | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(wl.DataError) as caught:
        wl.load(path)
    assert caught.value.where == str(path)
    assert caught.value.what == words


def test_a_path_that_is_none_is_refused() -> None:
    s = wl.solve(cs.max_min(*cluster(1, 3, 8)), engine="interior", threads=1)
    uses: list[Any] = [wl.load, s.save]
    for use in uses:
        with pytest.raises(wl.InputError, match="is 5") as caught:
            use(5)
        assert caught.value.where == "path"


def test_arrays_of_others_and_later_formats_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, x=np.ones(3))
    with pytest.raises(wl.DataError, match="cannot be read as a result"):
        wl.load(path)
    monkeypatch.setattr("walras.saving.FORMAT", 2)
    s = wl.solve(cs.max_min(*cluster(1, 3, 8)), engine="interior", threads=1)
    s.save(path)
    monkeypatch.setattr("walras.saving.FORMAT", 1)
    with pytest.raises(wl.DataError, match="it has format 2"):
        wl.load(path)


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    s = wl.solve(cs.max_min(*cluster(1, 3, 8)), engine="interior", threads=1)
    with pytest.raises(wl.InputError, match="is a set") as caught:
        replace(s, message={1}).save(tmp_path / "s.npz")  # type: ignore[arg-type]
    assert caught.value.where == "Solution.message"
    assert not list(tmp_path.iterdir())


def test_solutions_prices_and_problems_have_one_short_line() -> None:
    s = wl.solve(cs.max_min(*cluster(1, 12, 200)), engine="interior", threads=1)
    assert repr(s).startswith("Solution(optimal, max-min fairness ")
    assert repr(s.problem).startswith(
        "Separable(maximize max-min fairness: 12 resources, 200 demands, "
    )
    shown_in_a_line = (s, s.problem, s.prices, s.problem.rows, s.certificate, s.history)
    for shown in (*shown_in_a_line, cs.leximin(*cluster(1, 3, 8))):
        assert len(repr(shown)) < 400
        assert "\n" not in repr(shown)
    assert s.allocation.shape == s.x.shape == (12, 200)
    assert s.entries.ndim == 1


def test_a_plan_is_read_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    times, success = rng.uniform(1, 5, (3, 9)), rng.uniform(0.7, 1, (3, 9))
    plan = wl.matching.match(times, success, 0.8, clusters=["a", "b", "c"], shortfall_price=2.0)
    plan.save(tmp_path / "plan.npz")
    again = wl.load(tmp_path / "plan.npz")
    assert (repr(again), str(again), again.value) == (repr(plan), str(plan), plan.value)
    assert again.frame().equals(plan.frame())
    with pytest.warns(DeprecationWarning, match=r"Plan.objective is now Plan.value"):
        assert again.objective == plan.value


def test_a_rebalanced_round_is_read_back(tmp_path: Path) -> None:
    lb = wl.domains.load_balancing
    found = lb.rebalance([5.0, 2.0, 2.0, 1.0], [0, 0, 0, 0], servers=2, attempts=10)
    found.save(tmp_path / "moves.npz")
    again = wl.load(tmp_path / "moves.npz")
    assert (repr(again), again.gap, again.bound) == (repr(found), found.gap, found.bound)
    assert again.frame().equals(found.frame())
    assert again.next_round(found.problem.load).shards == 4
    with pytest.warns(DeprecationWarning, match=r"Rebalanced.cost is now Rebalanced.value"):
        assert again.cost == found.value


def test_a_run_is_read_back_and_one_with_a_function_is_refused(tmp_path: Path) -> None:
    wn = wl.network
    x = np.random.default_rng(0).normal(size=(20, 2))
    shards = wn.split(x, np.sign(x[:, 0]), 4)
    costs = [wn.QuadraticCPU(center=1.0 + k, scale=1.0) for k in range(4)]
    problem = wn.NetworkProblem(costs, 8.0, (0.0, 5.0), wn.Logistic(0.01), shards)
    run = wn.simulate(problem, wn.Network.ring(4), steps=30)
    run.save(tmp_path / "run.npz")
    again = wl.load(tmp_path / "run.npz")
    assert (repr(again), str(again)) == (repr(run), str(run))
    assert again.frame().equals(run.frame())
    assert (again.value, again.bound, again.gap) == (run.value, run.bound, run.gap)
    again.problem.data.features[...] = 0  # its own
    own = wn.NetworkProblem([lambda v: v * v] * 4, 8.0, (0.0, 5.0))
    with pytest.raises(wl.InputError, match="is a function") as caught:
        wn.simulate(own, wn.Network.ring(4), steps=3).save(tmp_path / "own.npz")
    assert caught.value.where == "Run.problem.costs.groups[0][1].function"


def test_a_trained_model_is_read_back(tmp_path: Path) -> None:
    data = wl.predict.recipe("nb201", train_tasks=30, seed=1)
    model = wl.learn.fit("tsm", data, tasks_per_round=5, rounds=20)
    model.save(tmp_path / "model.npz")
    again = wl.load(tmp_path / "model.npz")
    assert repr(again) == repr(model)
    assert again.settings == model.settings
    np.testing.assert_array_equal(again.times(data.test), model.times(data.test))
    np.testing.assert_array_equal(
        again.place(data.test, [[0, 1, 2, 3, 4]]), model.place(data.test, [[0, 1, 2, 3, 4]])
    )
    model.predictor.save(tmp_path / "predictor.npz")
    predictor = wl.load(tmp_path / "predictor.npz")
    assert predictor.predict(data.test).frame().equals(model.predict(data.test).frame())


def test_old_names_work_and_warn() -> None:
    for module, old, new in (
        (wl.learn, "Learning", wl.learn.LearnSettings),
        (wl.learn, "Learned", wl.learn.FittedModel),
        (wl.network, "Problem", wl.network.NetworkProblem),
    ):
        with pytest.warns(DeprecationWarning, match=f"{old} is now"):
            assert getattr(module, old) is new
    with pytest.warns(DeprecationWarning, match=r"round_of is now walras.matching.Round.of"):
        assert wl.matching.round_of([[1.0]], [[1.0]]).shape == (1, 1)


def test_frames_are_written_as_csv_and_parquet(tmp_path: Path) -> None:
    s = wl.solve(cs.max_min(*cluster(1, 3, 8)), engine="interior", threads=1)
    for name, frame in (("x", s.frame()), ("steps", s.history.frame()), ("worth", s.worth())):
        frame.to_csv(tmp_path / f"{name}.csv")
        again = pd.read_csv(tmp_path / f"{name}.csv", index_col=0, dtype={0: str})
        assert list(map(str, again.columns)) == list(map(str, frame.columns))
        assert len(again) == len(frame)
    pytest.importorskip("pyarrow")
    s.frame().to_parquet(tmp_path / "x.parquet")
    assert pd.read_parquet(tmp_path / "x.parquet").equals(s.frame())
