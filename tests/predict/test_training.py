"""The loss of torch models and what they predict, against the formulas written out in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from walras.predict import Recipe, Tasks, fit, training
from walras.predict.models.model import LinearModel
from walras.predict.models.networks import NetworkKind, NetworkModel, graph_tensors
from walras.predict.training import _Measured, _part
from walras.progress import counts

NAN = np.nan


class Scores(nn.Module):
    """Returns the same scores whatever the features are."""

    def __init__(self, scores: np.ndarray) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.from_numpy(scores).float())

    def forward(self, features: Any) -> Any:
        return self.scores[: len(features)]


def tasks(times: np.ndarray, success: np.ndarray, runs: np.ndarray) -> Tasks:
    m, n = times.shape
    return Tasks(
        names=tuple(f"task{j}" for j in range(n)),
        clusters=tuple(f"cluster{i}" for i in range(m)),
        features=np.zeros((n, 2)),
        times=times,
        success=success,
        runs=runs,
    )


def model(scores: np.ndarray, scale: np.ndarray) -> NetworkModel:
    kind = NetworkKind("module", 2, len(scale), 8, 1)
    return NetworkModel(kind, Scores(scores), scale, np.zeros(2), np.ones(2))


SCALE = np.array([2.0, 5.0])
SCORES = np.array([[0.1, -0.4, 0.3, -1.2], [0.7, 0.2, -0.5, 2.0], [-0.3, 0.5, 0.9, 0.0]])
TIMES = np.array([[1.0, NAN, 3.0], [4.0, 6.0, NAN]])
SUCCESS = np.array([[1.0, 0.5, NAN], [0.25, NAN, 0.75]])
RUNS = np.array([[3.0, 4.0, 0.0], [8.0, 0.0, 4.0]])


@pytest.mark.parametrize("loss", ["raw", "log"])
@pytest.mark.parametrize("part", [None, [2, 0]])
def test_the_loss_is_the_mean_squared_error_of_times_and_the_brier_score(
    loss: str, part: list[int] | None
) -> None:
    chosen = [0, 1, 2] if part is None else part
    times, success, runs = (v[:, chosen] for v in (TIMES, SUCCESS, RUNS))
    scores = SCORES[: len(chosen)].T  # the module does not look at its inputs
    wrong = np.exp(scores[:2]) - times / SCALE[:, None]
    if loss == "log":
        wrong = scores[:2] - np.log(times / SCALE[:, None])
    chance = 1.0 / (1.0 + np.exp(-scores[2:]))
    brier = np.nansum(runs * (chance - success) ** 2) / runs.sum()
    measured = _Measured(model(SCORES, SCALE), tasks(TIMES, SUCCESS, RUNS))
    found = measured.loss(None if part is None else np.array(part), loss)
    assert found.item() == pytest.approx(np.nanmean(wrong**2) + brier, rel=1e-5)


def test_a_loss_without_outcomes_is_that_of_the_times() -> None:
    bare = tasks(TIMES, np.full((2, 3), NAN), np.zeros((2, 3)))
    found = _Measured(model(SCORES, SCALE), bare).loss(None, "log").item()
    wrong = SCORES[:, :2].T - np.log(TIMES / SCALE[:, None])
    assert found == pytest.approx(np.nanmean(wrong**2), rel=1e-5)


def test_networks_predict_scaled_exponentials_and_logistic_functions_of_their_scores() -> None:
    time, chance = model(SCORES, SCALE).predict(tasks(TIMES, SUCCESS, RUNS))
    assert time == pytest.approx(SCALE[:, None] * np.exp(SCORES[:, :2].T), rel=1e-6)
    assert chance == pytest.approx(1.0 / (1.0 + np.exp(-SCORES[:, 2:].T)), rel=1e-6)


def test_scores_beyond_all_reason_stay_finite() -> None:
    wild = np.array([[1e3, -1e3, 1e3, -1e3]] * 3)
    time, chance = model(wild, SCALE).predict(tasks(TIMES, SUCCESS, RUNS))
    assert time[:, 0] == pytest.approx(SCALE * np.exp([20.0, -20.0]))
    assert chance[:, 0] == pytest.approx(1.0 / (1.0 + np.exp([-30.0, 30.0])))


@pytest.mark.parametrize("link", ["softplus", "exp"])
def test_a_link_that_is_asked_for_is_the_one_that_is_used(small: Recipe, link: Any) -> None:
    for one in fit(small.train, small.validation, link=link).models:
        assert isinstance(one, LinearModel)
        assert one.link == link


def test_a_seed_draws_one_training_and_another_another(small: Recipe) -> None:
    def trained(seed: int) -> np.ndarray:
        fitted = fit(small.train, small.validation, model="mlp", layers=1, epochs=3, seed=seed)
        return np.asarray(fitted.predict(small.test).times)

    assert np.array_equal(trained(1), trained(1))
    assert not np.array_equal(trained(1), trained(2))


def test_a_round_holds_between_one_task_and_all_of_its_split(small: Recipe) -> None:
    assert small.rounds("test", tasks=1, count=3).shape == (3, 1)
    everyone = small.rounds("train", tasks=len(small.train), count=2)
    assert np.sort(everyone).tolist() == [list(range(len(small.train)))] * 2


def test_some_tasks_of_a_batch_of_graphs_are_the_batch_of_those_tasks(small: Recipe) -> None:
    tasks = small.test.take(np.arange(6))
    chosen = np.array([4, 1, 3])
    found, wanted = _part(graph_tensors(tasks), chosen), graph_tensors(tasks.take(chosen))
    # The operators stay in the batch's order; each graph's are those of the task taken alone.
    assert found.count == wanted.count == 3
    assert len(found.node) == len(wanted.node)
    assert len(found.tail) == len(wanted.tail)
    for k in range(3):
        rows = [(g.graph == k).nonzero().flatten() for g in (found, wanted)]
        np.testing.assert_array_equal(found.node[rows[0]], wanted.node[rows[1]])
        edges = [
            {(int(t - r[0]), int(h - r[0])) for t, h in zip(g.tail, g.head, strict=True) if t in r}
            for g, r in zip((found, wanted), rows, strict=True)
        ]
        assert edges[0] == edges[1]


def test_a_single_model_trains_on_all_tasks_and_each_epoch_is_reported(
    small: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    true = training._bootstrap

    def bootstrap(tasks: Tasks, rng: np.random.Generator) -> Tasks:
        drawn.append(1)
        return true(tasks, rng)

    monkeypatch.setattr(training, "_bootstrap", bootstrap)
    counted: list[int] = []
    settings: dict[str, Any] = {"model": "mlp", "epochs": 3}
    progress = counts(lambda done, count: counted.append(done))
    fit(small.train, small.validation, **settings, on_progress=progress)
    assert (drawn, counted) == ([], [1, 2, 3])
    fit(small.train, small.validation, **settings, method="bagged", members=2)
    assert drawn == [1, 1]


def test_large_sets_train_in_batches_of_at_most_256() -> None:
    rng = np.random.default_rng(0)
    assert training._batches(256, rng) == [None]
    parts = [part for part in training._batches(600, rng) if part is not None]
    assert [len(part) for part in parts] == [200, 200, 200]
    assert sorted(np.concatenate(parts).tolist()) == list(range(600))


def test_one_measured_time_is_the_whole_loss() -> None:
    alone = np.array([[1.0, NAN, NAN], [NAN, NAN, NAN]])
    bare = tasks(alone, np.full((2, 3), NAN), np.zeros((2, 3)))
    found = _Measured(model(SCORES, SCALE), bare).loss(None, "log").item()
    assert found == pytest.approx((SCORES[0, 0] - np.log(1.0 / 2.0)) ** 2, rel=1e-5)


def test_the_best_weights_on_validation_are_kept_not_the_last(
    small: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []
    true = _Measured.loss

    def watched(self: _Measured, part: Any, loss: str) -> Any:
        found = true(self, part, loss)
        if not torch.is_grad_enabled():
            seen.append(float(found))
        return found

    monkeypatch.setattr(_Measured, "loss", watched)
    counted: list[int] = []
    found = fit(
        small.train, small.validation, model="mlp", epochs=100, learning_rate=0.3, seed=2,
        on_progress=counts(lambda done, count: counted.append(done)),
    )  # fmt: skip
    assert counted == list(range(2, 101, 2)), "looked at forty times or more, the last included"
    assert min(seen) < seen[-1], "the last weights are not the best, or this test shows nothing"
    kept = found.models[0]
    assert isinstance(kept, NetworkModel)
    with torch.no_grad():
        assert float(true(_Measured(kept, small.validation), None, "log")) == pytest.approx(
            min(seen)
        )


def test_an_ensemble_tells_epochs_of_all_members(small: Recipe) -> None:
    counted: list[tuple[int, int]] = []
    fit(
        small.train, small.validation, model="mlp", epochs=3, method="bagged", members=2,
        on_progress=counts(lambda *step: counted.append(step)),
    )  # fmt: skip
    assert counted == [(k, 6) for k in range(1, 7)]
