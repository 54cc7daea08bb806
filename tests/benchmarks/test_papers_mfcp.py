"""The items of the MFCP paper: figure 2's example, and verdicts that mathematics decides."""

from __future__ import annotations

import argparse
import math

import numpy as np
import pandas as pd
import pytest
from benchmarks.papers.__main__ import _chosen
from benchmarks.papers.mfcp import (
    ITEMS,
    ablation,
    convergence,
    evaluation,
    pictures,
    protocol,
    rounds,
)

from walras.learn import compare
from walras.matching import Smoothing

BY_NAME = {item.name: item for item in ITEMS}
DECIDED = {
    "equation 2": "reproduced",
    "equation 3": "reproduced",
    "equation 4": "refuted",
    "claim: linear cost": "reproduced",
    "equation 8": "reproduced",
    "theorem 1": "reproduced",
    "equation 9": "reproduced",
    "equation 10": "reproduced",
    "theorem 2": "refuted",
    "equation 11": "refuted",
    "claim: step function": "reproduced",
    "claim: rounding": "refuted",
    "claim: slack floor": "refuted",
    "claim: barrier": "refuted",
    "claim: small lambda": "reproduced",
    "claim: convex": "reproduced",
    "equation 14": "reproduced",
    "equation 13": "refuted",
    "equation 15": "refuted",
    "algorithm 1": "refuted",
    "equation 16": "reproduced",
    "equation 17": "reproduced",
    "algorithm 2": "reproduced",
    "theorem 3": "refuted",
    "equation 18": "refuted",
    "best perturbation": "refuted",
    "theorem 4": "refuted",
    "equation 19": "refuted",
    "theorem 5": "refuted",
    "equation 20": "reproduced",
    "equation 21": "refuted",
    "metric: utilisation": "reproduced",
    "figure 3": "reproduced",
    "claim: 25.7 %": "reproduced",
}


@pytest.mark.parametrize("name", DECIDED)
def test_what_mathematics_decides_is_found_by_a_quick_check(name: str) -> None:
    found = BY_NAME[name].check(True)
    assert found.verdict == DECIDED[name], found


def test_figure_2_lines_fitted_one_by_one_misplace_task_2_and_trained_ones_do_not() -> None:
    even = np.stack([pictures.line(row, np.ones(3)) for row in pictures.TRUE])
    assert pictures.TRUE[1, 1] < pictures.TRUE[0, 1]  # B is quicker on task 2
    assert even[1, 1] > even[0, 1]  # and its line says that it is not
    assert pictures.placed(pictures.TRUE).tolist() == [1, 1, 0]
    assert pictures.placed(even).tolist() == [1, 0, 0]
    weighted = np.stack([pictures.TRUE[0], pictures.line(pictures.TRUE[1], pictures.PREFERRED)])
    assert pictures.placed(weighted).tolist() == [1, 1, 0]
    through = pictures.trained(even)
    assert pictures.placed(through).tolist() == [1, 1, 0]
    errors = [float(((lines[1] - pictures.TRUE[1]) ** 2).sum()) for lines in (even, through)]
    assert errors[0] < errors[1]  # wrong in another place, where no decision depends on it


def test_the_least_squares_line_is_that_of_numpy() -> None:
    times = np.array([1.0, 4.0, 2.0])
    np.testing.assert_allclose(
        pictures.line(times, np.ones(3)), np.polyval(np.polyfit(pictures.Z, times, 1), pictures.Z)
    )


def test_projection_finds_the_nearest_point_of_the_simplex() -> None:
    z = np.random.default_rng(0).normal(size=(4, 3, 5))
    found = convergence._onto_simplex(z)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    other = np.random.default_rng(1).dirichlet(np.ones(3), (4, 5)).swapaxes(1, 2)
    assert (((z - found) * (other - found)).sum(axis=1) <= 1e-12).all()  # an obtuse angle


def test_the_hessian_of_the_smoothed_cost_is_that_of_differences() -> None:
    times, success = rounds.drawn(1)
    own = rounds.problem(times, success, Smoothing(barrier="log"), 0.7)
    x, step = rounds.shares(1), 1e-6
    move = np.zeros_like(x)
    move[0, 1, 2] = step
    column = (rounds.slope(own, x + move) - rounds.slope(own, x - move)).ravel() / (2 * step)
    np.testing.assert_allclose(rounds.hessian(own, x[0])[:, 7], column, rtol=1e-5, atol=1e-6)


def test_methods_of_the_papers_protocol_fit_together_and_print_its_metrics() -> None:
    for run in protocol.RUNS.values():
        for own in run.methods.values():
            changed = own.with_(**run.changes)
            assert (changed.model, changed.trunk) == ("gnn+mlp", "separate")
    assert {own.decoder for own in protocol.METHODS.values()} == {"relaxed"}
    frame = compare(
        {"TSM": protocol.METHODS["TSM"].with_(epochs=2)},
        ["A"],
        train_tasks=[20],
        seeds=2,
        test_rounds=10,
        rounds=5,
        workers=1,
        recipe_options={"synthetic": True, "validation_tasks": 20, "test_tasks": 20},
    )
    table = protocol.said(frame)
    mean = frame["paper_regret"].mean()
    assert table["regret"].tolist() == [f"{mean:.3f} ± {frame['paper_regret'].std(ddof=0):.3f}"]
    assert protocol.of_what(frame).startswith("A, 2 seeds, synthetic")


def _frame(regrets: dict[str, float]) -> pd.DataFrame:
    """A run with the given regrets, and reliability and utilisation that fall as they rise."""
    rows = [
        {
            "method": name,
            "setting": setting,
            "tasks_per_round": size,
            "seed": seed,
            "source": "drawn",
            "paper_regret": regret * (1.0 + 0.01 * seed),
            "elastic_regret": regret / 10,
            "reliability": 0.9 - regret / 100,
            "utilisation": 0.6 - regret / 10 + size / 1000,
            "violations": 0.5 if setting == "A" else 0.0,
        }
        for name, regret in regrets.items()
        for setting in ("A", "B")
        for size in (5, 10)
        for seed in (0, 1)
    ]
    return pd.DataFrame(rows)


AS_PRINTED = {"TAM": 3.0, "TSM": 2.0, "UCB": 1.8, "MFCP-AD": 1.4, "MFCP-FG": 1.45}
ORDERS = [
    "figure 4",
    "claim: lowest regret",
    "claim: fg like ad",
    "claim: ucb between",
    "claim: averages",
    "claim: reliability",
    "claim: utilisation",
    "figure 5, regret",
    "figure 5, utilisation",
    "claim: linear growth",
    "claim: sizes",
    "table 2, regret",
    "table 2, reliability",
    "table 2, utilisation",
    "claim: parallel",
]
NO_ORDERS = {"claim: averages", "figure 5, utilisation", "claim: linear growth"}


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_as_printed_is_reproduced(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "measured", lambda _, quick: _frame(AS_PRINTED))
    assert BY_NAME[name].check(True).verdict == "reproduced"


@pytest.mark.parametrize("name", sorted(set(ORDERS) - NO_ORDERS))
def test_an_order_turned_around_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    turned = {"TAM": 1.0, "TSM": 1.2, "UCB": 1.1, "MFCP-AD": 2.0, "MFCP-FG": 3.0}
    monkeypatch.setattr(evaluation, "measured", lambda _, quick: _frame(turned))
    assert BY_NAME[name].check(True).verdict == "refuted"


@pytest.mark.parametrize(
    ("name", "metric"),
    [("regret", "paper_regret"), ("reliability", "reliability"), ("utilisation", "utilisation")],
)
def test_table_2_is_refuted_where_two_baselines_change_places(
    name: str, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = _frame(AS_PRINTED)
    frame["method"] = frame["method"].replace({"TSM": "UCB", "UCB": "TSM"})
    monkeypatch.setattr(evaluation, "measured", lambda _, quick: frame)
    found = BY_NAME[f"table 2, {name}"].check(True)
    low, high = ("UCB", "TSM") if metric == "paper_regret" else ("TSM", "UCB")
    assert found.verdict == "refuted"
    assert found.why.startswith(f"{low} is not below {high}, as printed")
    assert BY_NAME["claim: parallel"].check(True).verdict == "reproduced"


def test_figure_5_names_the_method_whose_utilisation_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = _frame(AS_PRINTED)
    frame.loc[frame["method"] == "TAM", "utilisation"] = 1.0 / 3.0
    monkeypatch.setattr(evaluation, "measured", lambda _, quick: frame)
    found = BY_NAME["figure 5, utilisation"].check(True)
    assert found.verdict == "refuted"
    assert found.why.startswith("that of TAM does not rise")


@pytest.mark.parametrize(
    ("regret", "whole", "a_task"),
    [("equal at all sizes", "reproduced", "refuted"), ("a size", "reproduced", "reproduced")],
)
def test_linear_growth_is_of_a_round_or_of_equation_6(
    regret: str, whole: str, a_task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = _frame(AS_PRINTED)
    if regret == "a size":
        frame["paper_regret"] *= frame["tasks_per_round"]
    monkeypatch.setattr(evaluation, "measured", lambda _, quick: frame)
    assert BY_NAME["claim: linear growth"].check(True).verdict == whole
    assert BY_NAME["claim: linear growth of equation 6"].check(True).verdict == a_task


def _ablations(changes: dict[tuple[str, str], float]) -> pd.DataFrame:
    """A run whose metrics are those of table 1, but for the changes."""
    frame = _frame(dict(ablation.TABLE_1["regret"]))
    for metric, values in ablation.TABLE_1.items():
        column = "paper_regret" if metric == "regret" else metric
        for name, value in values.items():
            frame.loc[frame["method"] == name, column] = changes.get((metric, name), value)
    return frame


@pytest.mark.parametrize(
    ("metric", "name", "value", "why"),
    [
        ("regret", ablation.HARD, 0.5, "(2) hard penalty is not worse than MFCP; elastic"),
        ("regret", ablation.LINEAR, 1.1, "(1) is not worse than (2); elastic"),
        ("reliability", ablation.HARD, 0.9, "the least of the others is -0.022 above"),
        ("utilisation", ablation.HARD, 0.6, "(2) is not below (3) and MFCP"),
    ],
)
def test_an_ablation_that_is_not_as_printed_is_named(
    metric: str, name: str, value: float, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ablation, "measured", lambda _, quick: _ablations({}))
    assert BY_NAME[f"table 1, {metric}"].check(True).verdict == "reproduced"
    changed = _ablations({(metric, name): value})
    monkeypatch.setattr(ablation, "measured", lambda _, quick: changed)
    found = BY_NAME[f"table 1, {metric}"].check(True)
    assert found.verdict == "refuted"
    assert found.why.startswith(why)


@pytest.mark.parametrize(("steps", "verdict"), [(40, "reproduced"), (20, "refuted")])
def test_training_is_less_efficient_where_it_takes_more_steps(
    steps: int, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {"barrier": ["log", "hard"], "steps": [20, steps], "reached": True, "seed": 0}
    frame = pd.DataFrame({**rows, "cpu s a step": [0.1, 0.2], "source": "drawn"})
    monkeypatch.setattr(ablation, "trainings", lambda *, quick: frame)
    found = BY_NAME["claim: training efficiency"].check(True)
    assert found.verdict == verdict
    assert "a step takes 2.00 times the processor time" in found.ours


def test_steps_are_counted_to_the_first_regret_at_the_target() -> None:
    history = [(0, 0.5), (5, 0.3), (10, 0.4), (15, 0.2)]
    assert ablation.steps_to(history, 0.3) == (5, True)
    assert ablation.steps_to(history, 0.1) == (15, False)


def test_a_table_is_asked_for_by_its_parts() -> None:
    parser = argparse.ArgumentParser()
    named = [item.name for item in _chosen(parser, ITEMS, ["Table 2"])]
    assert named == ["table 2, regret", "table 2, reliability", "table 2, utilisation"]
    assert [item.name for item in _chosen(parser, ITEMS, [named[1]])] == [named[1]]


def test_a_gain_is_a_change_of_the_two_stage_regret() -> None:
    row = evaluation._gain("all", "exact", 2.014, 1.496)
    assert row["change"] == "-25.7 %"
    assert evaluation._falls({"a": 2.0, "b": 1.0}, ["a", "b"])
    assert not evaluation._falls({"a": 1.0, "b": 2.0}, ["a", "b"])
    assert math.isclose(evaluation.TABLE_2["regret"]["TSM"], 2.014)
