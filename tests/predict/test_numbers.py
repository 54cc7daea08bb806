"""The arithmetic of models, graphs and settings: formulas written out, limits from both sides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from walras.errors import InputError
from walras.predict import Tasks, Training, reliability_table
from walras.predict.graphs.graph import KINDS, TaskGraph, batch_graphs, closed_form
from walras.predict.models.calibration import fit_logistic, logit
from walras.predict.models.glm import (
    Link,
    Loss,
    _model,
    _normal,
    centre_and_spread,
    fit_glm,
    fit_standard,
    inverse_link,
    link_of,
)

NAN, INF = np.nan, np.inf
LINKS: tuple[tuple[Link, Loss], ...] = (
    ("softplus", "raw"),
    ("softplus", "log"),
    ("exp", "raw"),
    ("exp", "log"),
    ("logistic", "raw"),
)


def test_means_of_scores_and_scores_of_means() -> None:
    score = np.array([-50.0, -31.0, -2.0, 0.0, 1.5, 31.0, 50.0])
    inside = np.clip(score, -30.0, 30.0)
    logistic = 1.0 / (1.0 + np.exp(-inside))
    for link, mean, rate in (
        ("exp", np.exp(inside), np.exp(inside)),
        ("logistic", logistic, logistic * (1.0 - logistic)),
        ("softplus", np.log1p(np.exp(score)), logistic),
    ):
        found = inverse_link(link, score)  # type: ignore[arg-type]
        assert found[0] == pytest.approx(mean, rel=1e-12)
        assert found[1] == pytest.approx(rate, rel=1e-12, abs=1e-15)
    assert link_of("exp", np.array([2.0, 0.0])) == pytest.approx([math.log(2.0), math.log(1e-9)])
    chance = np.array([0.0, 1e-3, 0.2, 1.0])
    assert link_of("logistic", chance) == pytest.approx(
        [math.log(1e-3 / 0.999)] * 2 + [math.log(0.25), math.log(999.0)]
    )
    assert link_of("softplus", np.array([1e-5, 1e-3, 2.0])) == pytest.approx(
        [math.log(math.expm1(1e-3))] * 2 + [math.log(math.expm1(2.0))]
    )


def test_centre_and_spread_are_means_and_deviations_of_columns() -> None:
    x = np.array([[1.0, 5.0, 0.0, 1e200, -3.0], [3.0, 5.0, 0.0, 3e200, -1.0]])
    centre, spread = centre_and_spread(x)
    assert centre == pytest.approx([2.0, 5.0, 0.0, 2e200, -2.0])
    assert spread == pytest.approx([1.0, 1.0, 1.0, 1e200, 1.0])
    third = np.array([[0.1], [0.1], [0.1]])
    assert centre_and_spread(third)[1].tolist() == [1.0]


def objective(
    x: np.ndarray, y: np.ndarray, w: np.ndarray, ridge: float, link: Link, loss: Loss
) -> Any:
    """The function of one model's weights that a fit minimises, by the module's formula."""
    design = np.column_stack([x, np.ones(len(x))])
    penalty = ridge * np.append(np.ones(x.shape[1]), 1e-10)

    def of(beta: np.ndarray) -> float:
        mean = inverse_link(link, design @ beta)[0]
        error = np.log(np.maximum(mean, 1e-9) / y) if loss == "log" else mean - y
        return float(w @ error**2 / w.sum() + penalty @ beta**2)

    return of


@pytest.mark.parametrize(("link", "loss"), LINKS)
def test_value_slope_and_curvature_of_a_model(link: Link, loss: Loss) -> None:
    rng = np.random.default_rng(0)
    x, y, w = rng.normal(size=(9, 2)), rng.uniform(0.2, 0.9, 9), rng.random(9)
    beta, ridge = rng.normal(size=3), 0.3
    design = np.column_stack([x, np.ones(9)])
    penalty = ridge * np.array([[1.0, 1.0, 1e-10]])
    of = objective(x, y, w, ridge, link, loss)
    share = (w / w.sum())[None]
    value, curvature, slope = _model(design, share, y[None], beta[None], penalty, link, loss)
    assert value[0] == pytest.approx(of(beta))
    step = 1e-6 * np.eye(3)
    difference = [(of(beta + one) - of(beta - one)) / 2e-6 for one in step]
    assert 2.0 * slope[0] == pytest.approx(difference, rel=1e-6, abs=1e-8)
    # Gauss and Newton: J'WJ + penalty, with J the residuals' derivative.
    mean, rate = inverse_link(link, design @ beta)
    J = design * (rate / mean if loss == "log" else rate)[:, None]
    wanted = J.T @ (share[0][:, None] * J) + np.diag(penalty[0])
    assert curvature[0] == pytest.approx(wanted)


@pytest.mark.parametrize(("link", "loss"), LINKS)
def test_fits_are_least_over_all_weights(link: Link, loss: Loss) -> None:
    rng = np.random.default_rng(1)
    x, ridge = rng.normal(size=(15, 2)), np.array([0.01, 0.5])
    y, w = rng.uniform(0.2, 0.9, (2, 15)), rng.random((2, 15))
    w[0, 3] = w[1, 7] = 0.0
    found = fit_glm(x, y, w, ridge, link, loss)
    for one in range(2):
        of = objective(x, y[one], w[one], ridge[one], link, loss)
        best = minimize(of, found[one], method="Nelder-Mead", options={"xatol": 1e-9})
        assert of(found[one]) == pytest.approx(best.fun, rel=1e-7)
        far = minimize(of, np.zeros(3))
        assert of(found[one]) <= far.fun * (1.0 + 1e-6)


def test_a_fit_starts_from_the_ridge_regression_of_the_scores() -> None:
    rng = np.random.default_rng(2)
    design = np.column_stack([rng.normal(size=(8, 2)), np.ones(8)])
    share, score = rng.random((2, 8)), rng.normal(size=(2, 8))
    penalty = np.array([[0.1, 0.1, 1e-11], [2.0, 2.0, 2e-10]])
    found = _normal(design, share, score, penalty)
    for one in range(2):
        W = np.diag(share[one])
        gram = design.T @ W @ design + np.diag(penalty[one] + 1e-9)
        wanted = np.linalg.solve(gram, design.T @ W @ score[one])
        assert found[one] == pytest.approx(wanted, rel=1e-9)


def test_standard_fits_are_those_of_standard_features_in_the_features_own_unit() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(5.0, [3.0, 0.01], (12, 2)), rng.uniform(0.5, 2.0, (1, 12))
    ridge = np.array([0.2])
    given = fit_standard(x, y, np.ones((1, 12)), ridge, "exp", "log")[0]
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    beta = fit_glm(z, y, np.ones((1, 12)), ridge, "exp", "log")[0]
    assert x @ given[:-1] + given[-1] == pytest.approx(z @ beta[:-1] + beta[-1], rel=1e-6)


def test_logits_stay_within_a_millionth_of_the_ends() -> None:
    found = logit(np.array([0.0, 1e-7, 1e-6, 0.25, 1.0]))
    edge = math.log(1e-6 / (1.0 - 1e-6))
    assert found == pytest.approx([edge, edge, edge, math.log(1 / 3), -edge])


def test_chances_are_scaled_by_the_least_squares_of_outcomes_and_one_prior_run() -> None:
    chance = np.array([[0.2, 0.4, 0.7, 0.9, 0.6]])
    seen, runs = np.array([[0.3, 0.35, 0.8, 1.0, NAN]]), np.array([[5.0, 9.0, 4.0, 2.0, 3.0]])
    found = fit_logistic(chance, seen, runs)[0]
    p, y, w = chance[0, :4], seen[0, :4], runs[0, :4]
    z = np.log(p / (1 - p))

    def loss(ab: np.ndarray) -> float:
        q = 1.0 / (1.0 + np.exp(-ab[0] * z - ab[1]))
        return float(w @ (q - y) ** 2 + np.mean((q - p) ** 2))

    best = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14})
    assert found == pytest.approx(best.x, abs=1e-3)
    assert loss(found) == pytest.approx(best.fun, rel=1e-6)


def test_chances_that_are_alike_have_no_slope() -> None:
    for width, scales in ((0.5e-3, False), (2e-3, True)):
        alike = 1.0 / (1.0 + np.exp(-np.array([[0.3, 0.3 + width]])))
        found = fit_logistic(alike, np.array([[0.0, 1.0]]), np.full((1, 2), 9.0))[0]
        assert (found.tolist() != [1.0, 0.0]) is scales


def test_bins_hold_equally_many_predictions_in_order() -> None:
    chance = np.array([0.9, 0.1, 0.5, 0.3, 0.7])
    outcome = np.array([1.0, 0.0, 1.0, 0.0, 0.0])
    table = reliability_table(chance, outcome, 2)
    assert table["count"].tolist() == [3, 2]
    assert table["predicted"].tolist() == pytest.approx([0.3, 0.8])
    assert table["observed"].tolist() == pytest.approx([1 / 3, 0.5])
    errors = [2 * math.sqrt(2 / 9 / 3), 2 * math.sqrt(0.25 / 2)]
    assert table["error"].tolist() == pytest.approx(errors)
    assert len(reliability_table(chance, outcome)) == 5
    assert len(reliability_table(np.linspace(0.1, 0.9, 33), np.ones(33))) == 10
    assert reliability_table(chance, outcome, 1)["count"].tolist() == [5]
    sure = reliability_table(np.full(4, 0.5), np.ones(4), 1)
    assert sure["error"].tolist() == pytest.approx([2 * math.sqrt(1e-12 / 4)])


def graph(**changes: Any) -> TaskGraph:
    fields: dict[str, Any] = {
        "kinds": ("input", "conv3x3", "add", "output"),
        "macs": [0, 9, 2, 0],
        "params": [1, 8, 0, 3],
        "elements": [4, 5, 6, 7],
        "edges": [(0, 1), (1, 2), (0, 2), (2, 3)],
        "batch": 2,
    }
    return TaskGraph(**(fields | changes))


def test_a_batch_of_graphs_has_each_operators_numbers() -> None:
    other = graph(kinds=("linear",), macs=[3], params=[2], elements=[1], edges=[], batch=5)
    found = batch_graphs([graph(), other])
    kinds = ["input", "conv3x3", "add", "output", "linear"]
    assert found.kind.tolist() == [KINDS.index(kind) for kind in kinds]
    rows = [(0, 1, 4, 2, 0, 3), (9, 8, 5, 2, 1, 2), (2, 0, 6, 2, 2, 1), (0, 3, 7, 2, 3, 0)]
    rows.append((3, 2, 1, 5, 0, 0))
    for numbers, row in zip(found.numbers, rows, strict=True):
        logs = [math.log1p(value) / 10.0 for value in row[:4]]
        assert numbers == pytest.approx([*logs, row[4] / 10.0, row[5] / 10.0])
    assert found.edges.tolist() == [[0, 1], [1, 2], [0, 2], [2, 3]]
    assert found.graph.tolist() == [0, 0, 0, 0, 1]
    turned = batch_graphs([other, graph()])
    assert turned.edges.tolist() == [[1, 2], [2, 3], [1, 3], [3, 4]]


def test_closed_form_features_are_sums_by_kind() -> None:
    (row,) = closed_form([graph(kinds=("input", "add", "add", "output"))])
    assert row[:6] == pytest.approx([*np.log1p([11.0, 12.0, 22.0, 2.0, 4.0]), 3.0])
    by = {kind: (row[6 + 2 * k], row[7 + 2 * k]) for k, kind in enumerate(KINDS)}
    assert by["add"] == pytest.approx((2.0, math.log1p(11.0)))
    assert by["input"] == by["output"] == (1.0, 0.0)
    assert sum(count for count, _ in by.values()) == 4.0


def test_graphs_of_the_least_size_are_taken_and_beyond_are_refused() -> None:
    assert len(graph(batch=1)) == 4
    assert graph(macs=[0, 0, 0, 0]).macs.tolist() == [0.0] * 4
    assert graph(edges=[(0, 3)]).edges.tolist() == [[0, 3]]
    for changes, message in (
        ({"batch": 0}, "batch: is 0"),
        ({"macs": [0, 1, -1, INF]}, r"macs\[2\]: is -1"),
        ({"edges": [(0, 1), (4, 1)]}, r"edges\[1\]: is \(4, 1\).*0 to 3"),
        ({"edges": [(1, 1)]}, r"cycle among operators \[1\]"),
        ({"edges": [(0, 1), (1, 2), (2, 1), (2, 3)]}, r"cycle among operators \[1, 2, 3\]"),
    ):
        with pytest.raises(InputError, match=message):
            graph(**changes)
    with pytest.raises(ValueError, match="read-only"):
        graph().macs[0] = 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"confidence": 0.0}, "confidence: is 0.0; allowed: a number, finite and > 0"),
        ({"learning_rate": 0.0}, "learning_rate: is 0.0; allowed: a number, finite and > 0"),
        ({"level": 0.0}, "level: is 0.0; allowed: a number, > 0 and < 1"),
        ({"level": 1.5}, "level: is 1.5; allowed: a number, > 0 and < 1"),
        ({"hidden": 0}, "hidden: is 0; allowed: a whole number, >= 1"),
        ({"layers": "two"}, "layers: is 'two'"),
        ({"epochs": -1}, "epochs: is -1"),
        ({"link": "probit"}, "link: is 'probit'; allowed: auto, softplus, exp"),
    ],
)
def test_settings_beyond_their_range_name_it(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Training(**changes)


def test_settings_at_the_end_of_their_range_are_taken() -> None:
    least = Training(members=1, epochs=1, hidden=1, layers=1, level=1e-9, confidence=5.0)
    assert least.ensemble == 1
    assert Training(learning_rate=7.0, level=0.999, model=object()).level == 0.999
    for method, members in (("tam", 1), ("tsm", 1), ("bagged", 4), ("ucb-optimistic", 4)):
        assert Training(method=method, members=4).ensemble == members  # type: ignore[arg-type]


def test_tasks_at_the_ends_of_what_is_measured_are_taken_and_beyond_are_refused() -> None:
    names, clusters, features = ("x", "y"), ("a",), np.zeros((2, 0))

    def of(times: Any, success: Any, runs: Any = ((1.0, 1.0),)) -> Tasks:
        return Tasks(names, clusters, features, np.array(times), np.array(success), np.array(runs))

    kept = of([[1e-300, NAN]], [[0.0, 1.0]], [[0.0, 3.0]])
    assert kept.mean_times().tolist() == [1e-300]
    assert of([[2.0, 4.0]], [[NAN, 1.0]]).mean_times().tolist() == [3.0]
    assert np.isnan(of([[NAN, NAN]], [[0.0, 1.0]]).mean_times()).all()
    assert Tasks(names, clusters, features, [[1, 2]], [[1, 1]]).runs.tolist() == [[1.0, 1.0]]  # type: ignore[arg-type]
    for wrong, message in (
        (([[1.0, 0.0]], [[1.0, 1.0]]), r"times\[0, 1\] \(task y on cluster a\): is 0"),
        (([[1.0, 1.0]], [[INF, 1.0]]), r"success\[0, 0\] \(task x on cluster a\): is inf"),
        (([[1.0, 1.0]], [[1.0, 1.0]], [[1.0, NAN]]), r"runs\[0, 1\].*: is NaN"),
        (([[1.0, 1.0]], [[1.0, 1.0]], [[1.0, INF]]), r"runs\[0, 1\].*: is inf"),
        (([[1.0]], [[1.0, 1.0]]), r"times: has shape \(1, 1\); allowed: \(1, 2\)"),
        (([1.0, 1.0], [[1.0, 1.0]]), r"times: has shape \(2,\)"),
    ):
        with pytest.raises(InputError, match=message):
            of(*wrong)
    with pytest.raises(InputError, match=r"features: has shape \(3, 1\); allowed: \(2, any\)"):
        Tasks(names, clusters, np.zeros((3, 1)), np.ones((1, 2)), np.ones((1, 2)))
    with pytest.raises(InputError, match=r"features\[1, 0\] \(task y\): is inf"):
        Tasks(names, clusters, np.array([[0.0], [INF]]), np.ones((1, 2)), np.ones((1, 2)))
