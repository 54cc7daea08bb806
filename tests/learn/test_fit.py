"""Training through decisions: never worse than its start, resumed to the digit, bad input."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

import walras as wl
from walras.errors import EngineError, InputError
from walras.learn import LearnSettings, fit
from walras.learn.fitting import fit_problem, viewed
from walras.learn.training_problem import training_problem
from walras.predict import Recipe, Tasks


@pytest.mark.parametrize("method", ["spo+", "black-box", "tsm", "tam"])
def test_the_linear_ablation_is_judged_by_the_known_success(
    small: Recipe, quick: dict[str, Any], method: str
) -> None:
    settings = LearnSettings(**(quick | {"method": method, "objective": "sum"}))
    made = training_problem(small, settings, tasks_per_round=4)
    learned = fit_problem(made, settings)
    evaluator = made.validation
    placed = learned.place(evaluator.tasks, evaluator.rounds)
    for k, rounds in enumerate(evaluator.rounds[:20]):  # by the definition: every placement
        t, a = evaluator.tasks.times[:, rounds], evaluator.tasks.success[:, rounds]
        every = [
            (t[list(x), range(4)].sum(), a[list(x), range(4)].mean())
            for x in itertools.product(range(3), repeat=4)
        ]
        floor = min(made.terms.floor, max(success for _, success in every))
        best = min(total for total, success in every if success >= floor - 1e-12)
        own, reached = t[placed[k], range(4)].sum(), a[placed[k], range(4)].mean()
        assert reached >= floor - 1e-9
        assert evaluator.elastic(placed)[k] == pytest.approx(own / best - 1.0, abs=1e-12)
    assert np.all(evaluator.elastic(placed) >= 0.0)
    # A cheaper placement that misses the floor is infeasible, not better.
    free = np.argmin(evaluator.truth[0], axis=1).astype(np.int32)
    missed = evaluator.outcome(free).shortfall > evaluator.best.shortfall + 1e-9
    assert missed.any()
    assert np.all(np.isinf(evaluator.elastic(free)[missed]))


def test_bad_data(small: Recipe, quick: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"40 tasks of the training set were measured.*takes 41"):
        fit("tsm", small, tasks_per_round=41)
    with pytest.raises(InputError, match="min_success: is 2"):
        fit("tsm", small, tasks_per_round=5, min_success=2.0)
    with pytest.raises(InputError, match="start: is 'warm'"):
        fit("mfcp-ad", small, tasks_per_round=5, start="warm", **quick)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="checkpoint: is given to 'tsm'"):
        fit("tsm", small, tasks_per_round=5, checkpoint="kept.npz")
    bare = Tasks(
        small.test.names, small.clusters, small.test.features, small.test.times, small.test.success
    )
    with pytest.raises(InputError, match="no graphs"):
        viewed(bare, LearnSettings(model="counts"))
    narrow = torch.nn.Linear(30, 5)
    with pytest.raises(InputError, match="torch module: returns shape"):
        fit("mfcp-ad", small, tasks_per_round=5, model=narrow, epochs=1, **quick)
    narrow = torch.nn.Linear(29, 6)
    with pytest.raises(InputError, match="torch module: fails on its inputs"):
        fit("mfcp-ad", small, tasks_per_round=5, model=narrow, epochs=1, **quick)
    pair = torch.nn.LSTM(30, 6)
    with pytest.raises(InputError, match="torch module: returns a tuple"):
        fit("mfcp-ad", small, tasks_per_round=5, model=pair, epochs=1, **quick)
    lost = torch.nn.Sequential(torch.nn.Linear(30, 6), torch.nn.Threshold(1e9, float("nan")))
    with pytest.raises(EngineError, match="the loss on validation is nan"):
        fit("tsm", small, tasks_per_round=5, model=lost, epochs=1, **quick)
    sizes: list[Any] = [0, 2.5, "x"]
    for size in sizes:
        with pytest.raises(InputError, match="tasks_per_round: is"):
            fit("tsm", small, tasks_per_round=size)
    nothing: Any = None
    with pytest.raises(InputError, match="data: is None"):
        fit("tsm", nothing)
    with pytest.raises(InputError, match="data: is None"):
        wl.learn.advise(nothing)
    plain = fit("tsm", small, tasks_per_round=5, **quick)
    for rounds in ([[0, 1, 150]], [[0, -1]], [0, 1], [[0.5, 1.0]]):
        with pytest.raises(InputError, match="rounds: are"):
            plain.place(small.test, rounds)
    averages = wl.predict.fit(small.train, small.validation, method="tam")
    with pytest.raises(InputError, match="linear or torch models"):
        fit("mfcp-ad", small, tasks_per_round=5, start=averages, **quick)


def test_without_torch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(wl.EngineError, match=r"\.\[torch\]"):
        wl.learn.__getattr__("matched")
    with pytest.raises(AttributeError):
        wl.learn.__getattr__("nothing")
