"""Assumptions, lemmas and the theorem, checked on cases."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.papers.coopt.setting import RHO, judged, net, shares_only, svm
from benchmarks.papers.item import Item, Outcome
from walras import network as wn
from walras.network._advise import threshold
from walras.network.methods.continuous import integrate

_NOTHING = 1e-6  # an alpha below which no mode would move in any run


def assumption_one(quick: bool) -> Outcome:
    """Locally concave losses whose sum is convex: stable below a threshold, none at a bad sum."""
    cases = 20 if quick else 100
    good, bad = (_thresholds(cases, mean) for mean in (0.05, -0.05))
    some = good["some concave"]
    stable = int((good["threshold"][some] > _NOTHING).sum())
    unstable = int((bad["threshold"] <= _NOTHING).sum())
    return judged(
        stable == int(some.sum()) and unstable == len(bad),
        f"convex sum: {stable} of {int(some.sum())} networks with concave centres have a stable "
        f"alpha; concave sum: {len(bad) - unstable} of {len(bad)} have one",
        "the curvatures' sum alone decides the slowest mode",
        table=good[some].groupby("some concave").min().reset_index(),
    )


def assumption_two(quick: bool) -> Outcome:
    """Undirected links: what one-way links do to equation 30, and what push-sum does."""
    problem = shares_only(0)
    digraph = wn.Network.erdos_renyi(20, 0.18, seed=5, directed=True)
    x = np.full(20, problem.budget / 20)
    for _ in range(2000):
        x = x - 0.1 * (digraph.receive @ problem.slope(x))
    lost = float(x.sum() / problem.budget - 1.0)
    run = wn.simulate(problem, digraph, steps=3000, every=50, backend="vectorised")
    ours = (
        f"equation 30 on a digraph: the sum is {lost:+.1%} off; ours: "
        f"{abs(run.audit).max()} quanta off, gap {abs(run.cost_gap[-1]):.0e}"
    )
    return judged(
        abs(lost) > 1e-6,
        ours,
        "so says equation 30; push-sum on running sums needs no balance, see open question 1",
    )


def lemma_two(quick: bool) -> Outcome:
    """The sum at every step: in floating point, and in quanta, with every way of coding."""
    problem, worst = shares_only(0), 0
    network = net(0).switching(10)
    for mode in ("innovation", "value", "difference"):
        run = wn.simulate(
            problem,
            network,
            links=wn.LogQuantizer(RHO, mode),
            steps=500 if quick else 2000,
            every=100,
            backend="vectorised",
        )
        worst = max(worst, int(np.abs(run.audit).max()))
    flow = integrate(problem, net(0), end=50.0, points=51).shares.sum(axis=1)
    drift = float(np.abs(flow - problem.budget).max())
    return judged(
        worst == 0 and drift < 1e-9,
        f"{worst} quanta off at any step, with three ways of coding; {drift:.0e} by solve_ivp",
        "every symmetric weight and every code, odd or not, as long as both ends take one number",
    )


def lemmas_five_six(quick: bool) -> Outcome:
    """The bound on alpha against the true threshold of the linearised dynamics."""
    found = _thresholds(40 if quick else 200)
    convex = found[~found["some concave"]]
    mixed = found[found["some concave"]]
    finite = mixed[np.isfinite(mixed["over the bound"])]["over the bound"]
    free = int(np.isinf(convex["threshold"]).sum())
    return judged(
        bool((found["over the bound"] >= 1.0).all()),
        f"convex: {free} of {len(convex)} stable for every alpha; concave centres: threshold at "
        f"least {finite.min():.2f} times lambda_2 / L",
        "sufficient in every case, and needed only where a centre's loss is concave; two centres "
        "with curvatures 1 and -1 reach it",
        table=found.groupby("some concave")["over the bound"].min().reset_index(),
    )


def _thresholds(cases: int, mean: float = 0.05) -> pd.DataFrame:
    """Random graphs and curvatures of at least this mean, or of this mean if it is negative."""
    rng, rows = np.random.default_rng(0), []
    for case in range(cases):
        concave = bool(case % 2)
        n = int(rng.integers(4, 10))
        network = wn.Network.erdos_renyi(n, float(rng.uniform(0.4, 0.9)), seed=case)
        h = rng.uniform(-1.0 if concave else 0.0, 1.0, n)
        h += max(0.0, mean - float(h.mean())) if mean > 0.0 else mean - float(h.mean())
        most = threshold(network.receive.toarray(), h[:, None, None])
        bound = network.eigenvalues[0] / float(np.abs(h).max())
        rows.append({"some concave": concave, "threshold": most, "over the bound": most / bound})
    return pd.DataFrame(rows)


def theorem_one(quick: bool) -> Outcome:
    """V = |y - y*|^2 / 2 + F - F* along the equations, on ideal links and with coded values."""
    problem, rows = svm(), []
    best = problem.optimum()
    for name, alpha, links in (
        ("ideal", 30.0, wn.Ideal()),
        ("ideal", 10.0, wn.Ideal()),
        ("values, rho 0.125", 10.0, wn.LogQuantizer(RHO, "value")),
    ):
        end = 600.0 if name == "ideal" else 20.0 if quick else 60.0
        tolerance = 1e-9 if name == "ideal" else 1e-4
        found = integrate(
            problem,
            net(0),
            end=end,
            alpha=alpha,
            links=links,
            points=201,
            tolerance=tolerance,
        )
        if found.models is None:
            raise ValueError("the problem has a loss")
        apart = 0.5 * ((found.models - np.asarray(best.model)) ** 2).sum(axis=(1, 2))
        v = apart + np.array([problem.cost(x).sum() for x in found.shares]) - best.cost
        rows.append(
            {
                "links": name,
                "alpha": alpha,
                "V at 0": v[0],
                "V at the end": v[-1],
                "times at which V grew": int((np.diff(v) > 1e-9).sum()),
            }
        )
    table = pd.DataFrame(rows)
    grew = int(table["times at which V grew"].iloc[:2].sum())
    left = float(table["V at the end"].iloc[:2].max())
    return judged(
        grew == 0 and left < 1e-6,
        f"ideal links: V ends at {left:.0e}, and grew at {grew} of 400 times",
        "on ideal links, with z(0) = grad g(y(0)); coded values stop short of the optimum",
        table=table,
    )


def remark_seven(quick: bool) -> Outcome:
    """What is left with uniform codes, with logarithms of values, and of innovations."""
    problem, rows = shares_only(0), []
    for name, links in (
        ("uniform, step 0.125", wn.UniformQuantizer(0.125)),
        ("values, rho 0.125", wn.LogQuantizer(RHO, "value")),
        ("differences, rho 0.125", wn.LogQuantizer(RHO, "difference")),
        ("innovations, rho 0.125", wn.LogQuantizer(RHO)),
        ("values, rho 1", wn.LogQuantizer(1.0, "value")),
        ("innovations, rho 1", wn.LogQuantizer(1.0)),
    ):
        run = wn.simulate(
            problem,
            net(0),
            links=links,
            steps=2000 if quick else 6000,
            every=200,
            method=wn.Surplus(share_momentum=0.0),
            backend="vectorised",
        )
        rows.append({"codes": name, "cost gap": run.cost_gap[-1]})
    table = pd.DataFrame(rows)
    gap = dict(zip(table["codes"], table["cost gap"], strict=True))
    value, uniform = gap["values, rho 0.125"], gap["uniform, step 0.125"]
    return judged(
        uniform > 1e-6 > value,
        f"uniform {uniform:.0e}; logarithms of values {value:.0e}, of innovations "
        f"{abs(gap['innovations, rho 0.125']):.0e}",
        "uniform codes keep a bias, and so do logarithms of values, the summaries' reading; "
        "differences and innovations do not",
        table=table,
    )


ITEMS = (
    Item(
        "assumption 1",
        "centres' losses may be concave if their sum is convex",
        "",
        "walras.network._advise.threshold(laplacian, hessians)",
        assumption_one,
    ),
    Item(
        "assumption 2",
        "links are two-way with equal weights; with one-way links the budget is lost",
        "",
        "wn.Network.erdos_renyi(20, 0.18, directed=True)",
        assumption_two,
    ),
    Item(
        "lemma 2",
        "the shares' sum never changes, whatever the code (equations 36 and 37)",
        "sum x = b",
        "run.audit",
        lemma_two,
    ),
    Item(
        "lemmas 5 and 6",
        "stable if alpha < |lambda_2| / (L (1 + rho^2 / 4))",
        "needed for stability",
        "wn.advise(problem, net).steps.alpha_bound",
        lemmas_five_six,
    ),
    Item(
        "theorem 1",
        "V = |y - y*|^2 / 2 + F - F* falls to 0: the dynamics reach the optimum",
        "",
        "integrate(problem, net, alpha=1.0)",
        theorem_one,
    ),
    Item(
        "remark 7",
        "uniform codes leave a bias, logarithmic codes leave none",
        "",
        "wn.UniformQuantizer(step), wn.LogQuantizer(rho, mode)",
        remark_seven,
    ),
)
