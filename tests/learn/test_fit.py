"""Training through decisions: never worse than its start, resumed to the digit, bad input."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import walras as wl
from walras.errors import DataError, EngineError, InputError
from walras.learn import LearnSettings, fit, train
from walras.learn.decide import placed_by, tuned_margin
from walras.learn.fitting import fit_problem, two_stage, viewed
from walras.learn.heads import Trainable
from walras.learn.training_problem import Evaluator, complete, draw, training_problem
from walras.matching import match_rounds
from walras.predict import Recipe, Tasks
from walras.progress import Progress

THROUGH = [
    {"method": "mfcp-ad"},
    {"method": "mfcp-fg", "samples": 2},
    {"method": "mfcp-fg", "mode": "paper", "samples": 2, "iterations": 10},
    {"method": "score-function"},
    {"method": "perturbed"},
    {"method": "pool-expected"},
    {"method": "pool-contrastive"},
    {"method": "pool-listwise"},
    {"method": "spo+", "objective": "sum"},
    {"method": "black-box", "objective": "sum"},
    {"method": "mfcp-ad", "joint": "alternating", "anchor": 0.1, "decoder": "hard"},
    {"method": "mfcp-ad", "model": "counts", "link": "exp", "margin": "tuned"},
    {"method": "mfcp-ad", "model": "mlp", "epochs": 5, "members": 2},
    {"method": "mfcp-ad", "model": "gnn", "epochs": 2},
    {"method": "mfcp-ad", "decoder": "relaxed", "barrier": "hard"},
]


@pytest.mark.parametrize("options", THROUGH, ids=str)
def test_a_warm_start_is_never_worse_on_validation(
    small: Recipe, quick: dict[str, Any], options: dict[str, Any]
) -> None:
    settings = LearnSettings(**(quick | options), learning_rate=0.02)
    made = training_problem(small, settings, tasks_per_round=5)
    learned = fit_problem(made, settings)
    start = learned.history[0][1]
    looks = [step for step, _ in learned.history]
    assert looks == [0, 4, 8]
    evaluator = made.validation
    found = (learned.times(evaluator.tasks), learned.success(evaluator.tasks))
    placed = placed_by(evaluator, *found, settings, 0.0 if settings.margin == "tuned" else None)
    reached = evaluator.regret(placed, settings.decoder)
    assert reached == pytest.approx(min(value for _, value in learned.history), abs=1e-9)
    assert reached <= start
    assert min(value for _, value in learned.history) >= 0.0
    times = learned.times(small.test)
    assert times.shape == learned.success(small.test).shape == (3, 150)
    assert np.all(times > 0)


def test_training_lowers_the_regret_of_a_misspecified_model(small: Recipe) -> None:
    learned = fit(
        "mfcp-ad", small, tasks_per_round=5, model="counts", link="exp", steps=60, rounds=200
    )
    values = [value for _, value in learned.history]
    assert min(values) < 0.98 * values[0]


def test_before_training_the_module_predicts_what_the_predictor_does(small: Recipe) -> None:
    settings = LearnSettings(method="tsm", model="counts")
    made = training_problem(small, settings, tasks_per_round=5)
    for options in ({}, {"model": "mlp", "epochs": 5, "members": 2}):
        own = settings.with_(**({"model": "linear"} | options))
        predictor = two_stage(made, own)
        module = Trainable(predictor, made.train)
        with torch.no_grad():
            times, chance = module(module.inputs(small.test, "cpu"))
        wanted = predictor.predict(small.test)
        np.testing.assert_allclose(times.numpy(), wanted.times, rtol=1e-6)
        np.testing.assert_allclose(chance.numpy(), wanted.success, rtol=1e-6)
        back = module.predictor(small.validation).predict(small.test)
        np.testing.assert_allclose(back.times, wanted.times, rtol=1e-9)
        held = wl.predict.coverage(back.low, back.high, small.test.times)
        assert held.mean() > 0.8


class _CtrlCError(Exception):
    pass


def test_a_resumed_training_ends_where_an_uninterrupted_one_does(
    small: Recipe, quick: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "run.pt"
    options: dict[str, Any] = {"tasks_per_round": 5, **quick, "steps": 12}

    def stop(step: Progress) -> None:
        if step.iteration == 6:  # two steps after the last checkpoint
            raise _CtrlCError

    whole = fit("mfcp-ad", small, **options)
    with pytest.raises(_CtrlCError):
        fit("mfcp-ad", small, checkpoint=path, on_progress=stop, **options)
    resumed = fit("mfcp-ad", small, checkpoint=path, **options)
    assert resumed.history == whole.history
    np.testing.assert_array_equal(resumed.times(small.test), whole.times(small.test))
    for changes in ({"seed": 1}, {"learning_rate": 0.1}):
        with pytest.raises(InputError, match="of other data or settings"):
            fit("mfcp-ad", small, checkpoint=path, **(options | changes))
    other = replace(small, train=small.train.take(np.arange(30)))
    with pytest.raises(InputError, match="of other data or settings"):
        fit("mfcp-ad", other, checkpoint=path, **options)
    path.write_bytes(b"no checkpoint")
    with pytest.raises(DataError, match="cannot be read as a checkpoint"):
        fit("mfcp-ad", small, checkpoint=path, **options)
    with pytest.raises(DataError, match="cannot be written"):
        fit("mfcp-ad", small, checkpoint=tmp_path / "no" / "run.pt", **options)


def test_a_checkpoint_is_extended_to_more_steps_and_has_a_format(
    small: Recipe, quick: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.pt"
    options: dict[str, Any] = {"tasks_per_round": 5, **quick}
    short = fit("mfcp-ad", small, checkpoint=path, **(options | {"steps": 4}))
    longer = fit("mfcp-ad", small, checkpoint=path, **(options | {"steps": 12}))
    assert longer.history[: len(short.history)] == short.history
    assert longer.history[-1][0] == 12
    assert min(r for _, r in longer.history) <= min(r for _, r in short.history)
    again = fit("mfcp-ad", small, checkpoint=path, **(options | {"steps": 12}))
    assert again.history == longer.history
    monkeypatch.setattr(train, "FORMAT", 2)
    with pytest.raises(DataError, match="it has format 1, this version reads 2"):
        fit("mfcp-ad", small, checkpoint=path, **(options | {"steps": 12}))


def test_true_stops_a_training_which_goes_on_from_its_checkpoint(
    small: Recipe, quick: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "run.pt"
    options: dict[str, Any] = {"tasks_per_round": 5, **quick, "steps": 12}
    part = fit("mfcp-ad", small, checkpoint=path, on_progress=lambda s: s.iteration == 5, **options)
    assert part.history[-1][0] < 6
    whole = fit("mfcp-ad", small, **options)
    assert fit("mfcp-ad", small, checkpoint=path, **options).history == whole.history


def test_a_tuned_margin_is_never_worse_on_its_rounds(small: Recipe) -> None:
    settings = LearnSettings(method="tsm", margin="tuned", decoder="hard", rounds=150)
    made = training_problem(small, settings, tasks_per_round=5)
    learned = fit_problem(made, settings)
    evaluator, found = made.validation, learned.predictor.predict(small.validation)
    at = {
        m: evaluator.regret(placed_by(evaluator, found.times, found.success, settings, m), "hard")
        for m in (0.0, learned.margin)
    }
    assert at[learned.margin] <= at[0.0]
    fixed = settings.with_(margin=0.03)
    assert tuned_margin(evaluator, found.times, found.success, fixed) == 0.03


def test_the_oracle_has_no_regret_and_the_floor_binds_in_half_of_the_rounds(
    small: Recipe,
) -> None:
    made = training_problem(small, LearnSettings(), tasks_per_round=5)
    evaluator = made.validation
    truth = small.validation.times, small.validation.success
    assert evaluator.regret(
        placed_by(evaluator, *truth, LearnSettings()), "elastic"
    ) == pytest.approx(0.0)
    assert np.all(evaluator.elastic(np.zeros(evaluator.rounds.shape, np.int32)) >= -1e-9)
    own = Evaluator(small.train, made.draw(300, (5,)), made.terms)
    free = match_rounds(*own.truth, 0.0).outcome.mean_success
    assert 0.3 < float((free < made.terms.floor).mean()) < 0.7


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


@pytest.mark.parametrize("price", [0.01, 10.0])
def test_no_round_has_a_negative_regret(small: Recipe, price: float) -> None:
    made = training_problem(small, LearnSettings(price=price), tasks_per_round=5)
    evaluator, rng = made.validation, np.random.default_rng(0)
    quickest = np.argmin(evaluator.truth[0], axis=1).astype(np.int32)
    drawn = rng.integers(0, 3, evaluator.rounds.shape).astype(np.int32)
    for placed in (quickest, drawn, made.terms.place(*evaluator.truth, margin=-0.5)):
        assert np.all(evaluator.elastic(placed) >= 0.0)
        for decoder in ("elastic", "hard"):
            assert evaluator.regret(placed, decoder) >= 0.0


def test_too_small_a_log_names_the_quarter_that_is_held_out(small: Recipe) -> None:
    own = small.test.take(np.arange(8))
    with pytest.raises(InputError, match=r"is 5; 8 of 8 tasks were measured.*2 are in the quarter"):
        fit("tsm", own, tasks_per_round=5)
    with pytest.raises(InputError, match=r"at most 2 with these tasks; .*about 20 tasks"):
        fit("tsm", own, tasks_per_round=5)


def test_a_log_of_ones_own_is_split_and_may_have_gaps(small: Recipe, quick: dict[str, Any]) -> None:
    times, success = small.test.times.copy(), small.test.success.copy()
    times[0, :10], success[1, 5:20] = np.nan, np.nan
    own = Tasks(small.test.names, small.clusters, small.test.features, times, success)
    assert len(complete(own)) == 130
    learned = fit("mfcp-ad", own, tasks_per_round=4, **quick)
    placed = learned.place(small.test, [[0, 1, 2, 3], [4, 5, 6, 7]])
    assert placed.shape == (2, 4)
    assert np.isfinite(learned.times(own)).all()


def test_rounds_are_drawn_without_repeats_and_alike_for_a_key() -> None:
    pool = np.arange(10, 30)
    found = draw(pool, 50, 8, (1, 2))
    assert all(len(set(row)) == 8 for row in found.tolist())
    assert np.isin(found, pool).all()
    np.testing.assert_array_equal(found, draw(pool, 50, 8, (1, 2)))


BAD: list[tuple[dict[str, Any], str]] = [
    ({"method": "mcfp"}, "setting method: is 'mcfp'.*mfcp-ad"),
    ({"model": "forest"}, "setting model: is 'forest'"),
    ({"model": "auto"}, "model: is 'auto'"),
    ({"margin": "some"}, "margin: is 'some'"),
    ({"method": "spo+"}, "objective='sum'"),
    ({"method": "mfcp-ad", "objective": "sum"}, "with objective='sum'"),
    ({"steps": 0}, "steps"),
    ({"learning_rate": float("nan")}, "learning_rate"),
    ({"rates": 1}, "unknown key 'rates'.*did you mean 'rate'"),
    ({"linear_loss": "no"}, "linear_loss: is 'no'"),
    ({"speedup": 0.6}, "speedup: is 0.6"),
    ({"seed": -1}, "seed: is -1"),
    ({"device": "quantum"}, "device: is 'quantum'"),
]


@pytest.mark.parametrize(("change", "words"), BAD, ids=str)
def test_bad_settings(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        LearnSettings().with_(**change)


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


def test_a_loss_that_is_no_number_ends_the_training(
    small: Recipe, quick: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(train._LOSSES, "mfcp-ad", lambda s: lambda t, a, truth: torch.nan * t)
    with pytest.raises(EngineError, match=r"the loss is nan at step 0.*learning_rate"):
        fit("mfcp-ad", small, tasks_per_round=5, **quick)
    monkeypatch.undo()
    with pytest.raises(EngineError, match=r"the loss is nan at step \d+.*learning_rate"):
        fit("mfcp-ad", small, tasks_per_round=5, link="exp", learning_rate=99.0, **quick)
