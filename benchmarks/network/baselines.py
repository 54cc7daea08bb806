"""The baselines, tuned with equal budgets: CPU shares and models."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.network.study import (
    Outcome,
    Study,
    first_below,
    net,
    shares_only,
    with_loss,
)
from walras import network as wn
from walras.errors import EngineError
from walras.network import baselines as rv
from walras.network.links.quantizers import Links
from walras.network.methods.interfaces import Method
from walras.network.methods.steps import safe_steps
from walras.plot import network as plots

SEEDS = 30
TUNING_SEEDS = (1000, 1001, 1002)
HORIZON = 100  # steps after which methods are compared, and to which they are tuned
EARLY = 25  # steps after which the same runs are compared as well
STEPS = 600


@dataclass(frozen=True)
class Entry:
    """A method and the candidates that its tuning may try: eight each.

    Attributes:
        make: From a problem's safe step and a candidate to the method.
        candidates: What is tried.
        links: What it sends; its own form.
    """

    make: Callable[[float, float], Method]
    candidates: Sequence[float]
    links: Links


_STEPS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 1.95)  # of the safe step, whose double diverges
_INERTIA = (0.0, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)
_LONG = 1.7  # times the safe step, of both methods with momentum
_GAP = "gap at {}: median"
_TEN = tuple(float(v) for v in np.geomspace(0.03, 30.0, 8))

SHARING: Mapping[str, Entry] = {
    "surplus (innovation, 16 bits)": Entry(
        lambda s, c: wn.Surplus(share_step=_LONG * s, share_momentum=c),
        _INERTIA,
        wn.LogQuantizer(0.125),
    ),
    "Laplacian gradient": Entry(lambda s, c: rv.LaplacianGradient(c * s), _STEPS, wn.Ideal()),
    "heavy ball": Entry(lambda s, c: rv.HeavyBall(_LONG * s, c), _INERTIA, wn.Ideal()),
    "sign-power": Entry(
        lambda s, c: rv.SignPower(c * s), tuple(np.geomspace(0.02, 1.0, 8)), wn.Ideal()
    ),
    "log codes of values (rho 0.125)": Entry(
        lambda s, c: rv.LaplacianGradient(c * s), _STEPS, wn.LogQuantizer(0.125, "value")
    ),
    "uniform codes (step 0.01)": Entry(
        lambda s, c: rv.LaplacianGradient(c * s), _STEPS, wn.UniformQuantizer(0.01)
    ),
    "ADMM sharing": Entry(lambda s, c: rv.AdmmSharing(c), _TEN, wn.Ideal()),
    "ratio consensus": Entry(lambda s, c: rv.RatioConsensus(), (1.0,), wn.Ideal()),
}


def sharing(seed: int) -> Outcome:
    """CPU alone: gaps after 25 and 100 steps on 30 seeds, and steps, bits, seconds to 1e-6."""
    rows, frames = [], []
    for name, entry in SHARING.items():
        best = min(entry.candidates, key=lambda c: _score(entry, c))
        runs = [_share(entry, best, seed + k) for k in range(SEEDS)]
        off = max(float(np.abs(run.held - run.problem.budget).max()) for run in runs)
        reached = pd.DataFrame([first_below(run, run.cost_gap) for run in runs])
        row: dict[str, object] = {"method": name, "tuned": best}
        for horizon in (EARLY, HORIZON):
            gaps = np.array([abs(run.cost_gap[horizon - 1]) for run in runs])
            low, high = _interval(gaps, seed)
            row |= {
                _GAP.format(horizon): np.median(gaps),
                f"95 % from, at {horizon}": low,
                f"to, at {horizon}": high,
            }
        rows.append(row | {**_medians(reached), "budget off, at worst": off})
        frames += [run.frame().assign(method=name, seed=k) for k, run in enumerate(runs)]
        print(f"  {name}: {row}", flush=True)
    return Outcome(_against_first(pd.DataFrame(rows)), plots.progress_of_methods(pd.concat(frames)))


def _share(entry: Entry, candidate: float, seed: int) -> wn.Run:
    problem, network = shares_only(seed), net(seed)
    safe = safe_steps(problem, network, entry.links).share
    method = entry.make(safe, candidate)
    return wn.simulate(problem, network, links=entry.links, steps=STEPS, method=method)


def _score(entry: Entry, candidate: float) -> float:
    """Mean logarithm of the gap at the horizon on the tuning seeds; infinite if it diverges."""
    try:
        gaps = [abs(_share(entry, candidate, seed).cost_gap[HORIZON - 1]) for seed in TUNING_SEEDS]
    except EngineError:
        return np.inf
    return float(np.mean(np.log(np.maximum(gaps, 1e-300))))


def _interval(values: np.ndarray, seed: int) -> tuple[float, float]:
    """95 % bootstrap interval of the median."""
    rng = np.random.default_rng(seed)
    draws = np.median(rng.choice(values, (2000, len(values))), axis=1)
    return float(np.quantile(draws, 0.025)), float(np.quantile(draws, 0.975))


def _medians(reached: pd.DataFrame) -> dict[str, float]:
    """Medians to 1e-6; NaN where less than half of the runs got there."""
    return {f"{name} to 1e-6": float(reached[name].median(skipna=False)) for name in reached}


def _against_first(table: pd.DataFrame) -> pd.DataFrame:
    """The first method's median gap over each other's: below 0.5 it is more than 50 % smaller."""
    ours = {
        f"our gap / theirs, at {horizon}": table[column].iloc[0] / table[column]
        for horizon in (EARLY, HORIZON)
        if (column := _GAP.format(horizon))
    }
    return table.assign(**ours)


@dataclass(frozen=True)
class Learner:
    """A method for the model and the candidates that its tuning may try: eight each.

    Attributes:
        make: From the problem, the network and a candidate to the method.
        candidates: What is tried.
        links: What it sends.
    """

    make: Callable[[wn.NetworkProblem, wn.Network, float], Method]
    candidates: Sequence[float]
    links: Links


_CODED = wn.LogQuantizer(0.25, width=6)


def _tracking(problem: wn.NetworkProblem, network: wn.Network, c: float) -> Method:
    """alpha = c lambda_n / L, and nearly the largest step that is proved stable with it."""
    alpha = c * network.spectral_bound / float(problem.smoothness.max())
    step = 0.95 * safe_steps(problem, network, _CODED, alpha=alpha).model_bound
    return wn.Surplus(learner="tracking", alpha=alpha, model_step=step)


def _diffusion(step: float) -> Method:
    return wn.Surplus(learner="diffusion", model_step=step, unsafe=True)


def _over_l(
    kind: Callable[[float], Method],
) -> Callable[[wn.NetworkProblem, wn.Network, float], Method]:
    """A method whose step is the candidate over L."""
    return lambda problem, network, c: kind(c / float(problem.smoothness.max()))


# To twice the proved bound: L is one for all models, and their curvature is less near the optimum.
_TO_FOUR = tuple(float(v) for v in np.geomspace(0.25, 4.0, 8))
LEARNING: Mapping[str, Learner] = {
    "surplus, diffusion (innovation)": Learner(_over_l(_diffusion), _TO_FOUR, _CODED),
    "the same, its default step": Learner(lambda problem, network, c: wn.Surplus(), (1.0,), _CODED),
    "surplus, tracking (innovation)": Learner(
        _tracking, (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0), _CODED
    ),
    "EXTRA": Learner(_over_l(rv.Extra), _TO_FOUR, wn.Ideal()),
    "NIDS": Learner(_over_l(rv.Nids), _TO_FOUR, wn.Ideal()),
    "DIGing": Learner(_over_l(rv.DIGing), tuple(np.geomspace(0.02, 2.0, 8)), wn.Ideal()),
    "EXTRA (innovation)": Learner(_over_l(rv.Extra), _TO_FOUR, _CODED),
    "NIDS (innovation)": Learner(_over_l(rv.Nids), _TO_FOUR, _CODED),
}
_LEARN_STEPS = 1000
_LEARN_HORIZON = 150
_LEARN_SEEDS = 5


def learning(seed: int) -> Outcome:
    """Gradient-tracking baselines as in DISROPT and decent-bench, to 1e-6 of the optimal model."""
    rows, frames = [], []
    for name, entry in LEARNING.items():
        tuned = min(entry.candidates, key=lambda c: _learn_score(entry, c))
        runs = [_learn(entry, tuned, seed + k) for k in range(_LEARN_SEEDS)]
        reached = pd.DataFrame([first for _, first in runs])
        rows.append(
            {
                "method": name,
                "tuned": tuned,
                **_medians(reached),
                "most steps": reached["steps"].max(skipna=False),
            }
        )
        run = runs[0][0]
        frames.append(run.frame().assign(method=name, loss=np.maximum(run.loss_gap, 1e-16)))
        print(f"  {name}: {rows[-1]}", flush=True)
    figure = plots.progress_of_methods(pd.concat(frames).dropna(subset=["loss"]), "loss", "bits")
    return Outcome(pd.DataFrame(rows), figure)


def _learn_score(entry: Learner, candidate: float) -> float:
    """Mean logarithm of what is left at the horizon on the tuning seeds."""
    left = []
    for seed in TUNING_SEEDS:
        try:
            run = _attempt(entry, candidate, seed, _LEARN_HORIZON, _LEARN_HORIZON)
        except EngineError:
            return np.inf
        left.append(max(run.loss_gap[-1], run.consensus_error[-1], 1e-300))
    return float(np.mean(np.log(left)))


@functools.cache
def _classes(seed: int) -> wn.NetworkProblem:
    """Logistic regression: 1,000 samples of 20 features, dealt at random."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(1000, 20))
    t = np.where(x @ rng.normal(size=20) + 0.5 * rng.normal(size=1000) >= 0, 1.0, -1.0)
    return with_loss(seed, wn.Logistic(0.01), x, t)


def _attempt(entry: Learner, candidate: float, seed: int, steps: int, every: int) -> wn.Run:
    problem, network = _classes(seed), net(seed)
    method = entry.make(problem, network, candidate)
    return wn.simulate(problem, network, links=entry.links, steps=steps, every=every, method=method)


def _learn(entry: Learner, candidate: float, seed: int) -> tuple[wn.Run, dict[str, float]]:
    """A run and what it took to 1e-6; again, looked at step by step, where it got there."""
    coarse = _LEARN_STEPS // 100  # the loss is looked at a hundred times
    try:
        run = _attempt(entry, candidate, seed, _LEARN_STEPS, coarse)
    except EngineError:
        run = _attempt(entry, candidate, seed, coarse, coarse)
    first = _reached(run)
    if np.isnan(first["steps"]):
        return run, first
    steps = int(first["steps"])
    run = _attempt(entry, candidate, seed, steps, -(-steps // 100))
    return run, _reached(run)


def _reached(run: wn.Run) -> dict[str, float]:
    return first_below(run, np.maximum(run.loss_gap, run.consensus_error))


STUDIES = (
    Study(
        "baselines",
        "CPU shares against the baselines",
        "Thirty seeds; each method tuned over eight settings on three other seeds. The paper "
        "claims a gap more than 50 % smaller than existing schedulers'.",
        sharing,
        120,
    ),
    Study(
        "learners",
        "The model against the baselines",
        "Logistic regression, 20 features, five seeds; each method tuned over eight settings on "
        "three other seeds. Medians until loss gap and consensus error are below 1e-6; innovation "
        "codes have 6 bits a scalar.",
        learning,
        90,
    ),
)
