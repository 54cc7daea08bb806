"""The weight of the gradient: spectra, the Lyapunov function, thresholds against the bound."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.network.study import Outcome, Study, net, points, with_loss
from walras import network as wn
from walras.network.advise import spectrum, threshold
from walras.plot import network as plots
from walras.plot.style import SERIES, blank, legend

_CASES = 300


def alpha_convex(seed: int) -> Outcome:
    """A support vector machine: alpha over five decades, the step by the rule."""
    problem, network = with_loss(seed, wn.SmoothHinge(), *points(seed)), net(seed)
    loss, data = problem.learning
    best = problem.optimum().model
    if best is None:
        raise ValueError("the problem has a loss")
    hessians = loss.hessian(best, data, problem.centres)  # type: ignore[attr-defined]
    bound = network.eigenvalues[0] / float(problem.smoothness.max())
    rows, frames = [], []
    for factor in (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0):
        alpha = factor * bound
        method = wn.Surplus(alpha=alpha)
        run = wn.simulate(problem, network, steps=4000, every=20, method=method)
        values = spectrum(network.receive.toarray(), hessians, alpha)
        rows.append(
            {
                "alpha / (lambda_2 / L)": factor, "alpha": alpha,
                "step": wn.advise(problem, network, method=method).steps.model,
                "rightmost eigenvalue": values.real.max(), "error of the model": run.model_error,
                "halvings": len(run.halvings),
            }
        )  # fmt: skip
        frames.append(run.frame().assign(method=f"{factor:g} lambda_2 / L"))
    # V = |y - mean|^2 / 2 is seen through the consensus error, the cost's part through the loss.
    figure = plots.progress_of_methods(pd.concat(frames), "consensus_error")
    return Outcome(pd.DataFrame(rows), figure)


def lyapunov(seed: int) -> Outcome:
    """V = |models - optimum|^2 / 2 + (F - F*) along one run, in edge form and momentum free."""
    problem, network = with_loss(seed, wn.SmoothHinge(), *points(seed)), net(seed)
    best = problem.optimum()
    steps = 600
    rows = []
    figure, (axes,) = blank(6.4, 3.6)
    for k, factor in enumerate((0.1, 1.0, 10.0)):
        alpha = factor * network.eigenvalues[0] / float(problem.smoothness.max())
        method = wn.Surplus(alpha=alpha, share_momentum=0.0)
        values = []
        for count in range(20, steps + 1, 20):
            run = wn.simulate(
                problem, network, links=wn.Ideal(), steps=count, every=count, method=method
            )
            apart = 0.5 * float(((run.model - best.model) ** 2).sum())  # type: ignore[operator]
            values.append((apart, float(run.cost[-1] - best.cost)))
        v = np.array(values)
        axes.semilogy(
            range(20, steps + 1, 20), np.maximum(v.sum(axis=1), 1e-16),
            color=SERIES[k].stand_in, label=f"alpha = {factor:g} lambda_2 / L",
        )  # fmt: skip
        grew = int((np.diff(v[:, 1]) > 1e-12).sum())
        rows.append(
            {
                "alpha / (lambda_2 / L)": factor, "V at the start": v[0].sum(),
                "V at the end": v[-1].sum(),
                "times V grew between looks": int((np.diff(v.sum(axis=1)) > 1e-12).sum()),
                "times the cost part grew": grew,
            }
        )  # fmt: skip
    axes.set_xlabel("steps")
    axes.set_ylabel("V")
    legend(axes)
    return Outcome(pd.DataFrame(rows), figure)


def alpha_threshold(seed: int) -> Outcome:
    """Random graphs and local curvatures: the true threshold over lambda_2 / L."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {"convex": [], "some centres concave": []}
    sample: dict[str, np.ndarray] = {}
    for case in range(_CASES):
        n = int(rng.integers(4, 16))
        network = wn.Network.erdos_renyi(n, float(rng.uniform(0.4, 0.9)), seed=seed + case)
        concave = bool(case % 2)
        h = rng.uniform(-1.0 if concave else 0.0, 1.0, n)
        h += max(0.0, 0.05 - float(h.mean()))
        laplacian, bound = network.receive.toarray(), network.eigenvalues[0] / np.abs(h).max()
        true = threshold(laplacian, h[:, None, None]) / bound
        found["some centres concave" if concave else "convex"].append(true)
        if concave and np.isfinite(true) and not sample:
            sample = {
                f"{f:g} of the threshold": spectrum(laplacian, h[:, None, None], f * true * bound)
                for f in (0.5, 1.0, 2.0)
            }
    rows = []
    for name, values in found.items():
        finite = np.array([v for v in values if np.isfinite(v)])
        rows.append(
            {
                "losses": name, "cases": len(values),
                "stable for every alpha": len(values) - len(finite),
                "least threshold / bound": finite.min() if len(finite) else np.nan,
                "median": np.median(finite) if len(finite) else np.nan,
                "below the bound": int((finite < 1.0).sum()),
            }
        )  # fmt: skip
    return Outcome(pd.DataFrame(rows), plots.spectrum(sample))


STUDIES = (
    Study(
        "alpha", "The gradient's weight on a convex loss",
        "Under the step rule no alpha diverges; the bound lambda_2 / L is not needed.",
        alpha_convex, 8,
    ),
    Study(
        "lyapunov", "The Lyapunov function",
        "V, the models' squared distance from the optimum and the cost above its least.",
        lyapunov, 15,
    ),
    Study(
        "threshold", "Thresholds on locally non-convex losses",
        "The largest stable alpha over lambda_2 / L, from the linearised dynamics' spectrum.",
        alpha_threshold, 60,
    ),
)  # fmt: skip
