"""What all results share, and the one rule of hooks: True stops and returns the best so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.network.drivers.small import RING
from tests.network.drivers.small import problem as shares_of_five

import walras as wl
from walras.domains import load_balancing as lb
from walras.domains import traffic_engineering as te
from walras.progress import Progress

SIZES: dict[str, Any] = {
    "train_tasks": 40,
    "validation_tasks": 80,
    "test_tasks": 20,
    "synthetic": True,
}
TIMES, SUCCESS = [[3.0, 2.0, 4.0], [2.0, 3.0, 3.0]], [[0.9, 0.9, 0.9], [0.8, 0.9, 0.7]]


def _stop(step: Progress) -> bool:
    """Asks to stop at the first step."""
    return True


def _tasks() -> Any:
    return wl.predict.recipe("nb201", clusters="A", **SIZES)


def _solution(hook: Any = None) -> Any:
    rng = np.random.default_rng(0)
    speeds = rng.uniform(1.0, 2.0, (4, 40))
    problem = wl.domains.cluster_scheduling.max_min(speeds, np.ones(40), np.full(4, 3.0))
    return wl.solve(problem, engine="interior", threads=1, on_progress=hook)


def _plan(hook: Any = None) -> Any:
    return wl.matching.match(TIMES, SUCCESS, on_progress=hook)


def _rebalanced(hook: Any = None) -> Any:
    first = lb.first_round(0.2, servers=8, shards=64)
    return lb.solve_round(first, lb.Options(attempts=100, on_progress=hook))


def _rounds(hook: Any = None) -> Any:
    first = lb.first_round(0.2, servers=4, shards=16)
    return lb.play(first, [0.2, 0.4, 0.6], on_progress=hook)


def _run(hook: Any = None) -> Any:
    return wl.network.simulate(shares_of_five(), RING, steps=50, on_progress=hook)


def _deployment(hook: Any = None) -> Any:
    return wl.network.deploy(shares_of_five(), RING, steps=50, time_limit=60, on_progress=hook)


def _fitted(hook: Any = None) -> Any:
    options: dict[str, Any] = {"steps": 6, "check_every": 3, "rounds": 20, "batch": 8}
    return wl.learn.fit("mfcp-ad", _tasks(), tasks_per_round=5, on_progress=hook, **options)


def _advice(hook: Any = None) -> Any:
    options: dict[str, Any] = {"model": "linear", "steps": 2, "check_every": 2, "rounds": 20}
    return wl.learn.advise(_tasks(), tasks_per_round=5, on_progress=hook, **options)


def _shadow(hook: Any = None) -> Any:
    log = wl.shadow.read_jobs(wl.shadow.synthetic_log(12, 30, seed=3).frame)
    given = hook and (lambda step: step.share > 0.6)
    return wl.shadow.compare(log, least_overlap=0.0, resamples=20, on_progress=given)


MAKE: dict[str, Callable[..., Any]] = {
    "Solution": _solution,
    "Plan": _plan,
    "Rebalanced": _rebalanced,
    "Rounds": _rounds,
    "Run": _run,
    "Deployment": _deployment,
    "FittedModel": _fitted,
    "Advice": _advice,
    "Shadow": _shadow,
}
PROVED = ("Solution", "Plan", "Rebalanced", "Run", "Deployment")  # have a bound
SAVED = ("Solution", "Plan", "Rebalanced", "Run", "FittedModel", "Shadow")
NUMBERED = (*PROVED, "FittedModel", "Advice", "Shadow")
STOPPED = ("Solution", "Rounds", "Run", "Deployment", "FittedModel", "Advice", "Shadow")
NEED_TORCH = ("FittedModel",)


@cache
def _result(name: str) -> Any:
    if name in NEED_TORCH:
        pytest.importorskip("torch")
    return MAKE[name]()


@pytest.mark.parametrize("name", MAKE)
def test_a_result_has_a_status_a_frame_a_short_repr_and_a_readable_str(name: str) -> None:
    found = _result(name)
    assert type(found).__name__ == name
    assert isinstance(found.status, wl.Status)
    assert found.status.has_allocation
    frame = found.frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0
    for text in (repr(found), str(found)):
        assert "\n" not in text
        assert len(text) < 250
        assert "array(" not in text
    assert repr(found).startswith(f"{name}(")


@pytest.mark.parametrize("name", NUMBERED)
def test_value_bound_and_gap_are_numbers_that_fit_together(name: str) -> None:
    found = _result(name)
    assert np.isfinite(found.value)
    if name in PROVED:
        assert np.isfinite(found.bound)
        assert abs(found.gap) < 1.0


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_result_is_read_back(name: str, tmp_path: Path) -> None:
    found = _result(name)
    found.save(tmp_path / "result.npz")
    again = wl.load(tmp_path / "result.npz")
    assert repr(again) == repr(found)
    assert again.status is found.status
    assert again.frame().equals(found.frame())


@pytest.mark.parametrize("name", STOPPED)
def test_true_stops_and_the_best_so_far_says_so(name: str) -> None:
    if name in NEED_TORCH:
        pytest.importorskip("torch")
    found = MAKE[name](_stop)
    assert found.status is wl.Status.INTERRUPTED
    assert len(found.frame()) > 0
    assert len(found.frame()) <= len(_result(name).frame())


def test_a_run_that_is_stopped_is_a_whole_shorter_run() -> None:
    found = MAKE["Run"](lambda step: step.iteration >= 1)
    assert found.steps == len(found.audit) == found.recorded[-1]
    assert found.steps < 50
    assert len(found.frame()) == len(found.recorded)
    assert np.isfinite(found.gap)


def test_a_comparison_that_is_stopped_keeps_its_first_cells() -> None:
    sizes = {name: value for name, value in SIZES.items() if name != "train_tasks"}
    options: dict[str, Any] = {"test_rounds": 20, "rounds": 20, "recipe_options": sizes}
    frame = wl.learn.compare(["tam"], ["A"], seeds=3, workers=1, on_progress=_stop, **options)
    assert len(frame) == 1
    assert not frame.attrs["complete"]
    assert frame.attrs["status"] == "interrupted"


def test_a_two_stage_network_that_is_stopped_predicts() -> None:
    pytest.importorskip("torch")
    seen: list[int] = []

    def stop(step: Progress) -> bool:
        seen.append(step.iteration)
        return True

    tasks = _tasks()
    found = wl.predict.fit(
        tasks.train,
        tasks.validation,
        method="bagged",
        model="mlp",
        epochs=40,
        members=3,
        on_progress=stop,
    )
    assert len(seen) == 1
    assert len(found.models) == 1
    assert np.isfinite(found.predict(tasks.test).times).all()
    learned = wl.learn.fit("tsm", tasks, model="mlp", epochs=40, on_progress=_stop, rounds=20)
    assert learned.status is wl.Status.INTERRUPTED


def test_a_replay_is_stopped_where_it_is(tmp_path: Path) -> None:
    wl.network.deploy(shares_of_five(), RING, steps=300, folder=tmp_path / "run", time_limit=60)
    part = wl.network.replay(tmp_path / "run", on_progress=_stop)
    assert part.status is wl.Status.INTERRUPTED
    assert None in part.same
    whole = wl.network.replay(tmp_path / "run")
    assert whole.status is wl.Status.FEASIBLE
    assert part.events < whole.events
    assert len(whole.frame()) == 5
    assert repr(whole) == f"Replay({whole.events} events, 5 of 5 states the same)"


def test_what_has_nothing_to_return_yet_raises() -> None:
    ends = np.array([0, 1, 0]), np.array([1, 2, 2])
    network = te.Network(("a", "b", "c"), *ends, np.array([10.0, 10.0, 5.0]))
    with pytest.raises(wl.StoppedError, match="of 3 sources"):
        te.candidate_paths(network, k=2, cache=False, on_progress=_stop)
