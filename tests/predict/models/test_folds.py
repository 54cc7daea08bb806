"""Models of all rows but a fold's against fits of those rows alone."""

from __future__ import annotations

import numpy as np
import pytest

from walras.predict.models.folds import FOLDS, FoldRows, _Problem, cold, solve, with_units
from walras.predict.models.glm import Link, Loss, fit_glm, inverse_link


def rows_of(link: Link, count: int, seed: int = 0) -> FoldRows:
    rng = np.random.default_rng(seed)
    design = np.column_stack([rng.normal(size=(count, 3)), np.ones(count)])
    mean = inverse_link(link, design @ [0.5, -0.3, 0.2, 0.4])[0]
    fold = np.sort(rng.integers(FOLDS, size=count))
    weight = rng.integers(1, 4, count).astype(float)
    if link == "logistic":
        target = (rng.random(count) < mean).astype(float)
        return FoldRows(design, target, weight, fold, np.ones(FOLDS + 1))
    return with_units(design, mean * rng.lognormal(0.0, 0.3, count), fold, weight)


CASES: list[tuple[Link, Loss]] = [
    ("exp", "log"), ("softplus", "log"), ("exp", "raw"), ("softplus", "raw"), ("logistic", "raw"),
]  # fmt: skip


@pytest.mark.parametrize(("link", "loss"), CASES)
@pytest.mark.parametrize("count", [25, 400])
def test_each_model_is_stationary_and_is_the_fit_of_the_rows_without_its_fold(
    link: Link, loss: Loss, count: int
) -> None:
    rows = rows_of(link, count)
    ridge = np.logspace(-3, -1, FOLDS + 1)
    found = solve(rows, ridge, link, loss, cold(rows, 0.01, link, loss))
    problem = _Problem(rows, ridge, link, loss)
    assert np.abs(problem.value_and_slope(found)[1]).max() < 1e-8
    for c in range(FOLDS + 1):
        kept = rows.fold != c
        y = rows.target[kept] / rows.unit[c]
        if link != "logistic":
            assert rows.unit[c] == pytest.approx(rows.target[kept].mean())
        given = y[None], rows.weight[kept][None], ridge[c : c + 1]
        alone = fit_glm(rows.design[kept, :-1], *given, link, loss)[0]
        np.testing.assert_allclose(found[c], alone, atol=2e-3)


@pytest.mark.parametrize(("link", "loss"), CASES)
def test_where_it_begins_does_not_matter(link: Link, loss: Loss) -> None:
    rows, ridge = rows_of(link, 300), np.full(FOLDS + 1, 0.01)
    begin = cold(rows, 0.01, link, loss)
    first = solve(rows, ridge, link, loss, begin)
    for other in (np.zeros_like(begin), begin + 0.3, 3.0 * begin):
        np.testing.assert_allclose(solve(rows, ridge, link, loss, other), first, atol=1e-7)


def test_rows_are_predicted_by_the_model_that_has_not_seen_them() -> None:
    rows = rows_of("exp", 60)
    beta = np.random.default_rng(1).normal(size=(FOLDS + 1, 4))
    found = rows.mean("exp", beta)
    for r in range(60):
        own = rows.fold[r]
        assert found[r] == pytest.approx(np.exp(rows.design[r] @ beta[own]) * rows.unit[own])


def test_a_model_without_rows_stays_as_it_was() -> None:
    rng = np.random.default_rng(0)
    design = np.column_stack([rng.normal(size=(9, 1)), np.ones(9)])
    rows = with_units(design, rng.lognormal(size=9), np.full(9, 2), np.ones(9))
    assert rows.able.tolist() == [True, True, False, True, True, True]
    begin = cold(rows, 0.1, "exp", "log")
    found = solve(rows, np.full(FOLDS + 1, 0.1), "exp", "log", begin)
    np.testing.assert_array_equal(found[2], begin[2])
    np.testing.assert_allclose(found[0], found[-1], atol=1e-9)
