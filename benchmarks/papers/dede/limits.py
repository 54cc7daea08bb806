"""Figures 1 and 2 and section 4.2 of DeDe: the workflow, and what the paper says it cannot do."""

from __future__ import annotations

from itertools import combinations

import cvxpy as cp
import numpy as np

import walras as wl
from benchmarks.papers.dede.formulation import drawn
from benchmarks.papers.item import Item, Outcome, verdict_if
from walras.domains import cluster_scheduling as cs
from walras.types import Floats


def workflow(quick: bool) -> Outcome:
    """The step of equation 6 for all resources at once, against equation 8 one by one."""
    worst = 0.0
    for seed in range(2 if quick else 6):
        speed, size, capacity = drawn(4, 12, seed)
        target = np.random.default_rng(seed).uniform(-0.2, 0.6, speed.shape)
        whole = _near(target, np.ones(len(speed)), size, capacity)
        rows = [_near(target[[i]], np.ones(1), size, capacity[[i]])[0] for i in range(len(speed))]
        worst = max(worst, float(np.abs(whole - rows).max()))
    return Outcome(
        f"4 problems of 12 variables give the shares of one of 48 to {worst:.0e} (Clarabel)",
        verdict_if(worst < 1e-6),
        "drawings without numbers; the paper's words for them are equations 6 and 8",
    )


def _near(target: Floats, rho: Floats, size: Floats, capacity: Floats) -> Floats:
    """The step of some resources: the nearest shares within their capacity, slack and all."""
    x, slack = cp.Variable(target.shape, nonneg=True), cp.Variable(len(target), nonneg=True)
    over = x @ size + slack - capacity
    cost = cp.sum(cp.multiply(rho, cp.square(over))) + cp.sum_squares(x - target)
    exact = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    cp.Problem(cp.Minimize(cost)).solve(cp.CLARABEL, **exact)
    found: Floats = x.value
    return found


def sharing(quick: bool) -> Outcome:
    """Jobs that are slower beside others: pairs on a device, against the same LP by HiGHS."""
    speed, size, capacity = drawn(3, 6 if quick else 12)
    size, capacity = np.ones_like(size), capacity * 0.5
    both = np.array(list(combinations(range(speed.shape[1]), 2)))
    beside = np.random.default_rng(4).uniform(0.5, 0.9, (len(both), 2, len(speed)))
    beside *= speed.T[both]
    beside[(beside == 0.0).any(axis=1)[:, None, :].repeat(2, axis=1)] = 0.0
    pairs = cs.Pairs(both[:, 0].tolist(), both[:, 1].tolist(), beside)
    ours = wl.solve(cs.max_min(speed, size, capacity, pairs=pairs), tolerance=1e-8)
    x, y = (cp.Variable((len(speed), k), nonneg=True) for k in (speed.shape[1], len(both)))
    rate: list[cp.Expression] = []
    time: list[cp.Expression] = []
    for j in range(speed.shape[1]):
        mine = [(p, int(np.flatnonzero(pair == j)[0])) for p, pair in enumerate(both) if j in pair]
        rate.append(speed[:, j] @ x[:, j] + sum(beside[p, k] @ y[:, p] for p, k in mine))
        time.append(cp.sum(x[:, j]) + sum(cp.sum(y[:, p]) for p, _ in mine))
    rules = [cp.sum(x, axis=1) + cp.sum(y, axis=1) <= capacity, cp.hstack(time) <= 1]
    wanted = float(cp.Problem(cp.Maximize(cp.min(cp.hstack(rate))), rules).solve(cp.HIGHS))
    alone = wl.solve(cs.max_min(speed, size, capacity), tolerance=1e-8).value
    off = abs(ours.value / wanted - 1.0)
    return Outcome(
        f"least throughput {ours.value:.4f} with pairs, {alone:.4f} without, {off:.0e} from HiGHS",
        verdict_if(not off < 1e-6),
        "a pair is a column of its own, in the row of each of its jobs: separable as it was",
    )


def nonlinear(quick: bool) -> Outcome:
    """ADMM as written with a norm of each job's shares in its indicator."""
    speed, _, _ = drawn(3, 5)
    capacity, bound, steps = np.full(3, 1.2), 0.6, 60 if quick else 200
    x = cp.Variable(speed.shape, nonneg=True)
    short = [cp.norm(x[:, j]) <= bound for j in range(5)]
    plain = [cp.sum(x, axis=1) <= capacity, cp.sum(x, axis=0) <= 1]
    asked = cp.Problem(cp.Maximize(cp.sum(cp.multiply(speed, x))), [*plain, *short])
    best = float(asked.solve(cp.CLARABEL))
    ours = wl.solve(asked)
    near, z = cp.Parameter(speed.shape), cp.Variable(speed.shape, nonneg=True)
    part = cp.Problem(cp.Minimize(cp.sum_squares(x - near)), plain[:1])
    jobs = cp.Problem(
        cp.Minimize(-cp.sum(cp.multiply(speed, z)) + 0.5 * cp.sum_squares(z - near)),
        [cp.sum(z, axis=0) <= 1, *(cp.norm(z[:, j]) <= bound for j in range(5))],
    )
    scaled, copied = np.zeros_like(speed), np.zeros_like(speed)
    for _ in range(steps):
        near.value = copied - scaled
        part.solve(cp.CLARABEL)
        near.value = x.value + scaled
        jobs.solve(cp.CLARABEL)
        copied = z.value
        scaled = scaled + x.value - copied
    off = abs(float((speed * copied).sum()) / best - 1.0)
    return Outcome(
        f"ADMM with the indicator ends {off:.0e} from Clarabel's optimum after {steps} steps, "
        f"wl.solve {abs(ours.value / best - 1.0):.0e}",
        "refuted" if off < 1e-3 else "reproduced",
        "the indicator of a convex set is convex. What is not convex is a set that bends inwards, "
        "such as whole numbers",
    )


def third_dimension(quick: bool) -> Outcome:
    """Three blocks diverge in the known example; hours are rows of resources in two."""
    blocks = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 2.0, 2.0]])
    radius = _three_blocks(blocks)
    speed, size, capacity = drawn(3, 6, seed=1)
    hours = 2 if quick else 4
    x = [cp.Variable(speed.shape, nonneg=True) for _ in range(hours)]
    rules = [rule for v in x for rule in (v @ size <= capacity, cp.sum(v, axis=0) <= 1)]
    rules.append(sum(cp.sum(cp.multiply(speed, v), axis=0) for v in x) <= 2.0)
    early = [(1.0 - 0.1 * k) * cp.sum(cp.multiply(speed, v)) for k, v in enumerate(x)]
    asked = cp.Problem(cp.Maximize(sum(early)), rules)
    best = float(asked.solve(cp.HIGHS))
    ours = wl.solve(asked, engine="admm")
    off = abs(ours.value / best - 1.0)
    return Outcome(
        f"ADMM in three blocks has a spectral radius of {radius:.4f}; {hours} hours in two blocks: "
        f"{off:.0e} from HiGHS, gap {ours.gap:.0e}",
        verdict_if(not (radius > 1.0 and off < 1e-6)),
        "three blocks may diverge, as it says (Chen et al. 2016). But a type in an hour is a "
        "resource and a job over all hours a demand: no third block is needed",
    )


def _three_blocks(a: Floats) -> float:
    """Spectral radius of a round of ADMM for A x = 0, one column a block, penalty 1."""
    n = len(a)
    step = np.zeros((2 * n, 2 * n))
    for k, unit in enumerate(np.eye(2 * n)):
        x, dual = unit[:n].copy(), unit[n:].copy()
        for i in range(n):  # min -dual'A x + |A x|^2 / 2 by x_i
            rest = a @ x - a[:, i] * x[i]
            x[i] = a[:, i] @ (dual - rest) / (a[:, i] @ a[:, i])
        step[:, k] = np.concatenate([x, dual - a @ x])
    return float(np.abs(np.linalg.eigvals(step)).max())


ITEMS = (
    Item(
        "figures 1 and 2",
        "A problem decouples into a side of resources and one of demands, and these into one each.",
        "drawings",
        'wl.engines.ADMM(mode="paper")',
        workflow,
    ),
    Item(
        "section 4.2, objectives",
        "Jobs that are faster alone on a device make the objective not separable.",
        "not separable",
        "cs.max_min(..., pairs=cs.Pairs(...))",
        sharing,
    ),
    Item(
        "section 4.2, nonlinear",
        "A nonlinear constraint becomes an indicator, which makes the problem not convex.",
        "not convex",
        "wl.solve(cvxpy_problem)",
        nonlinear,
    ),
    Item(
        "section 4.2, dimensions",
        "A third dimension, such as time, adds blocks to ADMM, which may not converge.",
        "may not converge",
        'wl.solve(cvxpy_problem, engine="admm")',
        third_dimension,
    ),
)
