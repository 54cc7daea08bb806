"""Figure 3, regression, quantisers, directed graphs, scale."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.network.study import Outcome, Study, net, points, shares_only, with_loss
from walras import network as wn
from walras.network.links.quantizers import Links
from walras.plot import network as plots
from walras.plot.style import SERIES, blank, legend

RHO = 0.125
DIGRAPHS = 30


def _labelled(run: wn.Run, name: str) -> pd.DataFrame:
    return run.frame().assign(method=name)


def _row(name: str, run: wn.Run) -> dict[str, object]:
    return {
        "links": name,
        "cost gap": run.cost_gap[-1],
        "consensus error": run.consensus_error[-1],
        "error of the model": run.model_error,
        "worst audit": int(np.abs(run.audit).max()),
        "bits": run.bits[-1],
    }


def _both_sides(problem: wn.NetworkProblem, network: wn.Network, steps: int) -> Outcome:
    kinds: dict[str, Links] = {
        "innovation, rho 0.125": wn.LogQuantizer(RHO),
        "value, rho 0.125": wn.LogQuantizer(RHO, "value"),
        "difference, rho 0.125": wn.LogQuantizer(RHO, "difference"),
        "uniform, step 0.01": wn.UniformQuantizer(0.01),
        "ideal": wn.Ideal(),
    }
    rows, frames = [], []
    for name, links in kinds.items():
        run = wn.simulate(
            problem, network, links=links, steps=steps, every=10, backend="vectorised"
        )
        rows.append(_row(name, run))
        frames.append(_labelled(run, name))
    figure = plots.progress_of_methods(pd.concat(frames), "consensus_error")
    return Outcome(pd.DataFrame(rows), figure)


def figure3(seed: int) -> Outcome:
    """A support vector machine on 20 centres whose graph is redrawn every 50 steps."""
    problem = with_loss(seed, wn.SmoothHinge(), *points(seed))
    return _both_sides(problem, net(seed).switching(50, seed=seed), 5000)


def circle(seed: int) -> Outcome:
    """Points within a circle against those around it: no line in the plane parts them."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, (300, 2))
    t = np.where((x**2).sum(axis=1) + 0.1 * rng.normal(size=300) < 0.6, 1.0, -1.0)
    problem = with_loss(seed, wn.SmoothHinge(), _quadratic_kernel(x), t)
    return _both_sides(problem, net(seed).switching(50, seed=seed), 5000)


def _quadratic_kernel(x: np.ndarray) -> np.ndarray:
    """Features phi, the loss's intercept included, with phi(x) . phi(u) = (1 + x . u)^2."""
    root = np.sqrt(2.0)
    return np.column_stack([x**2, root * x[:, 0] * x[:, 1], root * x])


def regression(seed: int) -> Outcome:
    """Least squares with ten features."""
    return _both_sides(_line(seed), net(seed).switching(50, seed=seed), 5000)


def _line(seed: int) -> wn.NetworkProblem:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(600, 10))
    t = x @ rng.normal(size=10) + 0.3 * rng.normal(size=600)
    return with_loss(seed, wn.LeastSquares(0.01), x, t)


CODES = ("innovation", "value", "difference", "uniform")


def quantisers(seed: int) -> Outcome:
    """Final gaps over rho for each way of coding, and over the step for uniform codes."""
    problems = {
        "SVM": with_loss(seed, wn.SmoothHinge(), *points(seed)),
        "logistic": with_loss(seed, wn.Logistic(0.01), *points(seed)),
        "regression": _line(seed),
    }
    rows = []
    for name, problem in problems.items():
        for rho in (0.03, 0.0625, 0.125, 0.25, 0.5, 1.0):
            rows.append({"loss": name, "rho, or uniform step": rho} | _coded(problem, seed, rho))
            print(f"  {name}, {rho}", flush=True)
    table = pd.DataFrame(rows)
    return Outcome(table, _over_rho(table, list(problems)))


def _coded(problem: wn.NetworkProblem, seed: int, rho: float) -> dict[str, object]:
    row: dict[str, object] = {}
    kinds: tuple[Links, ...] = (
        wn.LogQuantizer(rho),
        wn.LogQuantizer(rho, "value"),
        wn.LogQuantizer(rho, "difference"),
        wn.UniformQuantizer(rho),
    )
    for name, links in zip(CODES, kinds, strict=True):
        run = wn.simulate(
            problem,
            net(seed),
            links=links,
            steps=6000,
            every=200,
            method=wn.Surplus(learner="tracking"),  # only the codes differ
        )
        row[f"{name}: gap"] = run.cost_gap[-1]
        row[f"{name}: consensus"] = run.consensus_error[-1]
    return row


def _over_rho(table: pd.DataFrame, losses: list[str]) -> Figure:
    """The cost gap, which is the same for all losses, and each one's consensus error."""
    figure, axes = blank(12.8, 3.2, panels=1 + len(losses))
    panels = [("gap", losses[0]), *(("consensus", loss) for loss in losses)]
    for panel, (value, loss) in zip(axes, panels, strict=True):
        own = table[table["loss"] == loss]
        for k, name in enumerate(CODES):
            y = np.maximum(own[f"{name}: {value}"], 1e-16)
            x = own["rho, or uniform step"]
            panel.loglog(x, y, "o-", color=SERIES[k].stand_in, label=name)
        panel.set_xlabel("rho, or uniform step")
        panel.set_ylabel("cost gap" if value == "gap" else f"consensus error, {loss}")
    legend(axes[-1], outside=True)
    return figure


def digraph(seed: int) -> Outcome:
    """Unbalanced directed graphs that stay, change and lose messages; and imbalance ignored."""
    problem, network = with_loss(seed, wn.SmoothHinge(), *points(seed)), _one_way(seed)
    changing, lost = network.switching(50, seed=seed), wn.Faults(loss=0.2)
    rows, frames = [], []
    for name, graph, links, faults in (
        ("stays, ideal", network, wn.Ideal(), None),
        ("stays, rho 0.125", network, wn.LogQuantizer(RHO), None),
        ("redrawn every 50 steps, rho 0.125", changing, wn.LogQuantizer(RHO), None),
        ("20 % lost", network, wn.Ideal(), lost),
        ("redrawn, 20 % lost", changing, wn.Ideal(), lost),
    ):
        run = wn.simulate(
            problem,
            graph,
            links=links,
            steps=6000,
            every=20,
            faults=faults,
            backend="vectorised",
        )
        rows.append(_row(name, run))
        frames.append(_labelled(run, name))
    own = ignored_gap(shares_only(seed), network)
    rows.append({"links": "imbalance ignored, closed form", "cost gap": own})
    limits = [ignored_gap(shares_only(k), _one_way(k)) for k in range(seed, seed + DIGRAPHS)]
    for name, gap in zip(
        ("least", "median", "most"), np.quantile(limits, (0, 0.5, 1)), strict=True
    ):
        rows.append({"links": f"ignored, {name} of {DIGRAPHS} seeds, closed form", "cost gap": gap})
    return Outcome(pd.DataFrame(rows), plots.progress_of_methods(pd.concat(frames)))


def _one_way(seed: int) -> wn.Network:
    return wn.Network.erdos_renyi(20, 0.18, seed=seed + 5, directed=True)


def ignored_gap(problem: wn.NetworkProblem, network: wn.Network) -> float:
    """The cost gap at which quadratic costs stop when the digraph's imbalance is ignored.

    x+ = x - step S f'(x) rests where f' is in the kernel of S, whose columns sum to nothing: at
    f'_i = c pi_i with its Perron vector pi, and c from the budget.
    """
    cost = problem.costs.quadratic
    if cost is None:
        raise ValueError("the costs are quadratic")
    values, vectors = np.linalg.eig(network.send.toarray())
    pi = np.abs(vectors[:, int(np.argmin(np.abs(values)))].real)
    center, scale = np.asarray(cost.center), np.asarray(cost.scale)
    price = (problem.budget - center.sum()) / (scale @ pi)
    best = problem.optimum().cost
    return float((problem.cost(center + scale * price * pi).sum() - best) / best)


def scale(seed: int) -> Outcome:
    """Seconds of the simulator: 1,000 centres x 10,000 steps, and growth with the links."""
    rows = []
    for n, steps in ((1000, 10000), (1000, 2000), (2000, 2000), (5000, 2000), (10000, 2000)):
        problem = shares_only(seed, n)
        network = wn.Network.erdos_renyi(n, 12.0 / n, seed=seed)
        begun = time.perf_counter()
        run = wn.simulate(problem, network, steps=steps, every=100, backend="vectorised")
        seconds = time.perf_counter() - begun
        rows.append(
            {
                "centres": n,
                "links": network.links,
                "steps": steps,
                "seconds": seconds,
                "microseconds a link and 1,000 steps": 1e9 * seconds / network.links / steps,
                "cost gap": run.cost_gap[-1],
                "worst audit": int(np.abs(run.audit).max()),
            }
        )
    table = pd.DataFrame(rows)
    figure, (axes,) = blank(5.6, 3.2)
    own = table[table["steps"] == 2000]
    axes.loglog(own["links"], own["seconds"] / 2.0, "o-", color=SERIES[0].stand_in)
    axes.set_xlabel("links")
    axes.set_ylabel("seconds for 1,000 steps")
    return Outcome(table, figure)


STUDIES = (
    Study(
        "figure3", "SVM on a switching graph",
        "Twenty centres, a graph redrawn every 50 steps, five ways of coding.", figure3, 8,
    ),
    Study(
        "circle", "SVM with a quadratic kernel on a switching graph",
        "Points within a circle against those around it, in the kernel's features.", circle, 8,
    ),
    Study(
        "regression", "Regression on a switching graph", "Least squares with ten features.",
        regression, 8,
    ),
    Study(
        "quantisers", "Logarithmic against uniform codes",
        "What is left after 6,000 steps: codes of values stall, uniform codes keep a bias, "
        "innovations and differences are exact at every rho.", quantisers, 150,
    ),
    Study(
        "digraph", "Unbalanced directed graphs",
        "By push-sum, also where the graph changes or loses messages; and when the imbalance is "
        "ignored: how far that ends from the optimum depends on graph and costs.", digraph, 60,
    ),
    Study(
        "scale", "Seconds of the simulator", "CPU alone, mean degree 12, one process.", scale, 12,
    ),
)  # fmt: skip
