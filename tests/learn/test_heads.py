"""Predictors as torch modules, and back."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import walras as wl
from walras.learn import LearnSettings
from walras.learn.fitting import two_stage
from walras.learn.heads import LinearHead, Trainable, reinitialised
from walras.learn.training_problem import training_problem
from walras.predict import Recipe
from walras.predict.models.model import LinearModel

PRINTED = {"model": "gnn+mlp", "trunk": "separate", "epochs": 5}


def test_before_training_the_module_predicts_what_the_predictor_does(small: Recipe) -> None:
    settings = LearnSettings(method="tsm", model="counts")
    made = training_problem(small, settings, tasks_per_round=5)
    for options in ({}, {"model": "mlp", "epochs": 5, "members": 2}, PRINTED):
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


def test_without_training_a_linear_model_comes_back_in_the_units_of_its_features(
    small: Recipe,
) -> None:
    made = training_problem(small, LearnSettings(method="tsm"), tasks_per_round=5)
    (model,) = two_stage(made, LearnSettings(method="tsm")).models
    assert isinstance(model, LinearModel)
    back = LinearHead(model, small.train).model()
    np.testing.assert_allclose(back.time, model.time, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(back.success, model.success, rtol=1e-9, atol=1e-12)


def test_slopes_that_are_forgotten_leave_each_clusters_average(small: Recipe) -> None:
    predictor = wl.predict.fit(small.train, small.validation, link="softplus")
    (model,) = reinitialised(predictor).models
    times, success = model.predict(small.test)
    assert isinstance(model, LinearModel)
    np.testing.assert_allclose(times, np.repeat(model.scale[:, None], 150, axis=1), rtol=1e-12)
    assert np.all(np.ptp(success, axis=1) == 0.0)


def test_models_without_parameters_are_not_trained(small: Recipe) -> None:
    averages = wl.predict.fit(small.train, small.validation, method="tam")
    with pytest.raises(wl.InputError, match=r"is a AverageModel.*linear or torch models"):
        Trainable(averages, small.train)
    with pytest.raises(wl.InputError, match=r"warm_start=False: is a AverageModel"):
        reinitialised(averages)
