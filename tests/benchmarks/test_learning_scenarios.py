"""Scenario matching in the benchmarks: exact for one scenario, best on average over many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.learning.__main__ import measure, pairs_of
from benchmarks.learning.page import tables
from benchmarks.learning.scenarios import best, compare_scenarios, members, outcomes, with_errors
from benchmarks.learning.studies import STUDIES, Study
from benchmarks.tables import Tables

from walras.errors import InputError
from walras.learn import LearnSettings
from walras.learn.fitting import fit_problem
from walras.learn.linear import placements
from walras.learn.training_problem import Evaluator, TrainingProblem, training_problem
from walras.matching import evaluate, match_rounds
from walras.predict import Recipe, recipe

SMALL: dict[str, Any] = {"validation_tasks": 60, "test_tasks": 60, "synthetic": True}
BAGGED = LearnSettings(method="tsm", members=3)


@pytest.fixture(scope="module")
def data() -> Recipe:
    return recipe("nb201", clusters="A", train_tasks=20, **SMALL)


@pytest.fixture(scope="module")
def made(data: Recipe) -> TrainingProblem:
    return training_problem(data, BAGGED.with_(rounds=30), tasks_per_round=4)


def test_one_scenario_is_the_exact_matching(made: TrainingProblem) -> None:
    evaluator = made.validation
    found = best(evaluator, evaluator.tasks.times[None], evaluator.tasks.success[None])
    assert evaluator.elastic(found["elastic"]) == pytest.approx(0.0, abs=1e-9)
    hard = match_rounds(*evaluator.truth, evaluator.terms.floor)
    own = evaluator.outcome(found["hard"])
    feasible = hard.feasible
    np.testing.assert_allclose(own.makespan[feasible], hard.objective[feasible])
    assert not own.violated[feasible].any()


def test_outcomes_are_those_of_the_metrics(made: TrainingProblem) -> None:
    t, a = (values[:2] for values in made.validation.truth)
    makespan, mean = outcomes(t, a)
    for k, placed in enumerate(placements(3, 4)):
        own = evaluate(t, a, np.stack([placed, placed]))
        np.testing.assert_allclose(makespan[:, k], own.makespan)
        np.testing.assert_allclose(mean[:, k], own.mean_success)


def test_no_placement_costs_less_on_average(data: Recipe, made: TrainingProblem) -> None:
    learned = fit_problem(made, BAGGED)
    evaluator = Evaluator(data.test, made.validation.rounds[:3], made.terms)
    times, success = members(learned, data.test)
    assert times.shape == success.shape == (3, 3, 60)
    np.testing.assert_allclose(times.mean(axis=0), learned.times(data.test))
    found = best(evaluator, times, success)["elastic"]
    terms = evaluator.terms

    def cost(own: np.ndarray, placed: np.ndarray) -> float:
        every = (
            evaluate(t[:, own], a[:, own], placed, terms.floor)
            for t, a in zip(times, success, strict=True)
        )
        return float(np.mean([outcome.elastic_cost(terms.price) for outcome in every]))

    for own, placed in zip(evaluator.rounds, found, strict=True):
        least = min(cost(own, other) for other in placements(3, 4))
        assert cost(own, placed) == pytest.approx(least)


def test_errors_are_those_of_validation_tasks(data: Recipe, made: TrainingProblem) -> None:
    learned = fit_problem(made, BAGGED)
    each, held = members(learned, data.test), made.validation.tasks
    times, success = with_errors(each, learned, held, 0)
    assert times.shape == success.shape == (24, 3, 60)
    assert np.all((success > 0) & (success < 1))
    off = np.log(held.times / learned.times(held))
    drawn = np.log(times[0] / each[0][0])  # (M, tasks): each column one of the errors'
    for column in drawn.T:
        assert np.abs(off - column[:, None]).max(axis=0).min() < 1e-9
    again = with_errors(each, learned, held, 0)
    np.testing.assert_array_equal(again[0], times)


def test_the_study_has_rows_for_scenarios() -> None:
    methods = {name: LearnSettings(method=name) for name in ("tsm-raw", "tsm-log")}
    frame = compare_scenarios(
        {**methods, "bagged": BAGGED},
        ["A"],
        train_tasks=[20],
        tasks_per_round=[4],
        seeds=[0, 1],
        recipe_options=SMALL,
        test_rounds=20,
    )
    assert list(frame["method"][:5]) == [*methods, "bagged", "scenarios", "noisy scenarios"]
    assert len(frame) == 10
    assert (frame["elastic_regret"] >= -1e-9).all()
    assert "| noisy scenarios |" in tables(frame.assign(error=None))


def test_a_study_of_floors_has_a_table_for_each(tmp_path: Path) -> None:
    study = Study(
        "tiny",
        "Tiny",
        "Runs?",
        {n: LearnSettings(method=n) for n in ("tsm-raw", "tsm-log")},
        settings=("A",),
        train_tasks=(20,),
        options={"rounds": 20},
        floors=(0.5, 0.9),
        terms={"test_rounds": 20, "recipe_options": SMALL},
    )
    frame = measure(study, range(1), tmp_path / "scratch", Tables("learning", tmp_path), 1)
    assert sorted(set(frame["min_success"])) == [0.5, 0.9]
    loose, tight = (frame[frame["min_success"] == floor] for floor in (0.5, 0.9))
    assert tight["violations"].mean() > loose["violations"].mean()
    assert tables(frame.assign(error=None)).count("Floor 0.") == 2


def test_measured_pairs_pin_the_speedup_at_two_tasks() -> None:
    study = next(study for study in STUDIES if study.pairs)
    measured = recipe("gavel", clusters=study.settings[0], train_tasks=40).speedup
    assert measured is not None
    np.testing.assert_allclose(pairs_of(study).at([[2]] * 3)[:, 0], measured)
    other = next(study for study in STUDIES if study.name == "together")
    with pytest.raises(InputError, match="no measured pairs"):
        pairs_of(other)
