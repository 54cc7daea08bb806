"""One cluster's models of all its rows but a fold's, for every fold and for none, at once.

They minimise what :mod:`walras.predict.models.glm` does. Newton's steps share one pass over the
rows: the curvature of the rows without a fold is that of all less that of the fold, and a curvature
serves for several steps. From weights near by, as after a few new rows, two or three passes do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from walras.predict.models.glm import Link, Loss, fit_glm, inverse_link
from walras.types import Bools, Floats, Longs

FOLDS = 5
_FLOOR = 1e-9
_CURVATURES = 6  # before each model goes its own way
_STEPS = 12  # with one curvature
_SLOW = 0.5  # a step that is shorter than the last one by less asks for a new curvature
_ALONE = 60


@dataclass(frozen=True, eq=False)
class FoldRows:
    """Rows of one target; row r is left out of model ``fold[r]``, none out of the last model.

    Attributes:
        design: (n, p) features, the last column ones, ordered by fold.
        target: (n,) what is met.
        weight: (n,) > 0.
        fold: (n,) ascending.
        unit: (F + 1,) target of one; of each model.
    """

    design: Floats
    target: Floats
    weight: Floats
    fold: Longs
    unit: Floats

    @cached_property
    def parts(self) -> list[slice]:
        """The rows of each fold."""
        ends = np.searchsorted(self.fold, np.arange(FOLDS + 1))
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    @cached_property
    def share(self) -> Floats:
        """(F + 1, n) weight of each row in each model; sums of one."""
        kept = np.arange(FOLDS + 1)[:, None] != self.fold
        share = kept * self.weight
        return np.asarray(share / np.maximum(share.sum(axis=1, keepdims=True), 1e-300))

    @cached_property
    def able(self) -> Bools:
        """(F + 1,) models that have a row."""
        return np.asarray(self.share.any(axis=1))

    def mean(self, link: Link, beta: Floats) -> Floats:
        """(n,) what each row is predicted by the model that has not seen it."""
        score = np.einsum("np,np->n", self.design, beta[self.fold])
        return np.asarray(np.maximum(inverse_link(link, score)[0], _FLOOR) * self.unit[self.fold])


def with_units(design: Floats, target: Floats, fold: Longs, weight: Floats) -> FoldRows:
    """Rows whose target each model counts in the mean of its own rows, as times are.

    Args:
        design: (n, p) features, the last column ones, ordered by fold.
        target: (n,) > 0.
        fold: (n,) ascending.
        weight: (n,) > 0.
    """
    total = np.bincount(fold, target, FOLDS)
    count = np.bincount(fold, minlength=FOLDS)
    sums = np.append(target.sum() - total, target.sum())
    counts = np.append(len(fold) - count, len(fold))
    unit = np.where((counts > 0) & (sums > 0), sums / np.maximum(counts, 1), 1.0)
    return FoldRows(design, target, weight, fold, unit)


def solve(
    rows: FoldRows, ridge: Floats, link: Link, loss: Loss, start: Floats, near: float = 1e-9
) -> Floats:
    """The weights of every model.

    Args:
        rows: The rows.
        ridge: (F + 1,) λ of each model.
        link: h.
        loss: g.
        start: (F + 1, p) weights to begin at.
        near: Length of a step that ends it.

    Returns:
        (F + 1, p) weights; those of a model without rows as they were.
    """
    problem = _Problem(rows, ridge, link, loss)
    beta, done = start.copy(), ~rows.able
    value, slope = problem.value_and_slope(beta)
    for _ in range(_CURVATURES):
        inverse = problem.inverses(beta[-1])
        if inverse is None:
            break
        last, bad = np.full(len(beta), np.inf), np.zeros(len(beta), np.bool_)
        for _ in range(_STEPS):
            step = -np.einsum("cpq,cq->cp", inverse, slope)
            step[done | bad] = 0.0
            length = np.abs(step).max(axis=1)
            trial_value, trial_slope = problem.value_and_slope(beta + step)
            better = trial_value <= value * (1.0 + 1e-12) + 1e-300
            moved = better & ~done & ~bad
            beta[moved] += step[moved]
            value, slope = (
                np.where(moved, trial_value, value),
                np.where(moved[:, None], trial_slope, slope),
            )
            done |= moved & (length <= near)
            bad |= ~done & (~better | (length > _SLOW * last))
            last = length
            if (done | bad).all():
                break
        if done.all():
            return beta
        if not done[-1] and bad[-1] and not better[-1]:
            break  # the curvature is not even of use to the model that it is of
    for c in np.flatnonzero(~done):
        beta[c] = problem.alone(int(c), beta[c], near)
    return beta


def cold(rows: FoldRows, ridge: float, link: Link, loss: Loss) -> Floats:
    """(F + 1, p) the weights of all rows, for every model to begin at."""
    scaled = (rows.target / rows.unit[-1])[None]
    found = fit_glm(
        rows.design[:, :-1], scaled, rows.weight[None], np.array([ridge]), link, loss
    )  # fmt: skip
    return np.tile(found, (FOLDS + 1, 1))


@dataclass(frozen=True, eq=False)
class _Problem:
    rows: FoldRows
    ridge: Floats
    link: Link
    loss: Loss

    @cached_property
    def penalty(self) -> Floats:
        """(F + 1, p) λ of each weight; the intercept has next to none."""
        p = self.rows.design.shape[1]
        return np.asarray(self.ridge[:, None] * np.append(np.ones(p - 1), 1e-10))

    @cached_property
    def goal(self) -> Floats:
        """(F + 1, n) targets in each model's unit, by g."""
        scaled = self.rows.target / self.rows.unit[:, None]
        return np.log(np.maximum(scaled, _FLOOR)) if self.loss == "log" else scaled

    def _residual(self, beta: Floats, which: slice) -> tuple[Floats, Floats, Floats]:
        """Residuals, their rates by the score, and the scores."""
        score = beta @ self.rows.design.T
        if self.loss == "log" and self.link == "exp":
            inside = np.clip(score, -30.0, 30.0)
            return np.maximum(inside, np.log(_FLOOR)) - self.goal[which], np.ones_like(score), score
        mean, rate = inverse_link(self.link, score)
        if self.loss == "log":
            mean = np.maximum(mean, _FLOOR)
            return np.log(mean) - self.goal[which], rate / mean, score
        return mean - self.goal[which], rate, score

    def _bend(self, score: Floats, rate: Floats) -> Floats:
        """The rate of the rate."""
        if self.link == "exp":
            return np.asarray(np.zeros_like(rate) if self.loss == "log" else rate)
        logistic = inverse_link("logistic", score)[0]
        if self.link == "logistic":
            return np.asarray(rate * (1.0 - 2.0 * logistic))
        if self.loss == "log":
            return np.asarray(rate * (1.0 - logistic) - rate**2)
        return np.asarray(rate * (1.0 - logistic))

    def value_and_slope(self, beta: Floats, which: slice = slice(None)) -> tuple[Floats, Floats]:
        """(C,) values and (C, p) slopes, each halved, of some models."""
        residual, rate, _ = self._residual(beta, which)
        share, penalty = self.rows.share[which], self.penalty[which]
        pull = share * residual
        value = np.einsum("cn,cn->c", pull, residual) + (penalty * beta**2).sum(axis=1)
        return value, (pull * rate) @ self.rows.design + penalty * beta

    def inverses(self, beta: Floats) -> Floats | None:
        """(F + 1, p, p) inverse curvatures of all models, taken at the weights of the last one.

        None where one of them is not convex there.
        """
        rows = self.rows
        residual, rate, score = self._residual(beta[None], slice(FOLDS, None))
        bent = rate**2 + residual * self._bend(score, rate)
        weight = (rows.weight * bent[0])[:, None]
        grams = np.array([(rows.design[k] * weight[k]).T @ rows.design[k] for k in rows.parts])
        whole = grams.sum(axis=0)
        curvature = np.concatenate([whole - grams, whole[None]])
        total = np.bincount(rows.fold, rows.weight, FOLDS)
        totals = np.append(rows.weight.sum() - total, rows.weight.sum())
        curvature /= np.maximum(totals, 1e-300)[:, None, None]
        curvature += np.eye(len(beta)) * self.penalty[:, :, None]
        curvature[~rows.able] = np.eye(len(beta))
        try:
            np.linalg.cholesky(curvature)
            return np.linalg.inv(curvature)
        except np.linalg.LinAlgError:
            return None

    def alone(self, c: int, beta: Floats, near: float) -> Floats:
        """One model's weights by damped Newton steps of its own."""
        which = slice(c, c + 1)
        beta, damping = beta.copy(), 0.0
        value, slope = self.value_and_slope(beta[None], which)
        for _ in range(_ALONE):
            curvature = self._curvature(c, beta, damping)
            step = -np.linalg.solve(curvature, slope[0])
            trial_value, trial_slope = self.value_and_slope((beta + step)[None], which)
            if trial_value[0] <= value[0] * (1.0 + 1e-12) + 1e-300:
                beta, value, slope = beta + step, trial_value, trial_slope
                damping = 0.0 if damping < 1e-6 else damping / 10.0
            else:
                damping = max(10.0 * damping, 1e-3)
            if np.abs(step).max() <= near:
                break
        return beta

    def _curvature(self, c: int, beta: Floats, damping: float) -> Floats:
        """One model's curvature; Gauss and Newton's where the whole one is not convex."""
        which = slice(c, c + 1)
        residual, rate, score = self._residual(beta[None], which)
        bent = rate**2 + residual * self._bend(score, rate)
        design, eye = self.rows.design, np.eye(len(beta))
        for weight in (self.rows.share[c] * bent[0], self.rows.share[c] * rate[0] ** 2):
            found = (design * weight[:, None]).T @ design + eye * self.penalty[c]
            try:
                np.linalg.cholesky(found)
            except np.linalg.LinAlgError:
                continue
            break
        else:
            found = found + 1e-9 * eye
        lift = damping * (np.trace(found) / len(found) + 1e-12)
        return np.asarray(found + lift * eye)
