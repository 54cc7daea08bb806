"""The problem, the dynamics and the quantiser: equations 1, 24 and 30 to 34."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd

from benchmarks.papers.coopt.setting import RHO, boxed, judged, net, shares_only, svm
from benchmarks.papers.item import Item, Outcome
from walras import network as wn
from walras.network.methods.continuous import Start, integrate

_NEAR = 1e-6


def problem_one(quick: bool) -> Outcome:
    """Equation 1 against cvxpy, with boxes that are reached."""
    problem = boxed()
    cost = problem.costs.quadratic
    if cost is None:
        raise ValueError("the costs are quadratic")
    x = cp.Variable(problem.centres)
    value = cp.sum(cp.multiply(1.0 / (2.0 * np.asarray(cost.scale)), cp.square(x - cost.center)))
    stated = [cp.sum(x) == problem.budget, x >= problem.low, x <= problem.high]
    cp.Problem(cp.Minimize(value), stated).solve(solver=cp.CLARABEL)
    run = wn.simulate(problem, net(0), steps=3000, every=100, backend="vectorised")
    apart = float(np.abs(run.shares[-1] - x.value).max())
    at = int(((x.value < 2.0 + 1e-4) | (x.value > 4.5 - 1e-4)).sum())
    return judged(
        apart < 1e-4,
        f"largest difference to Clarabel's shares {apart:.0e}, {at} of 20 at a limit",
        "f and g share no variable: the problem falls apart into two",
    )


def trackers(quick: bool) -> Outcome:
    """Equation 24 with both first trackers: the error of the model where the equations rest."""
    problem, network, rows = svm(), net(0), []
    best = np.asarray(problem.optimum().model)
    starts: tuple[Start, ...] = ("gradient", "zero")
    for start in starts:
        found = integrate(problem, network, end=600.0, alpha=20.0, start=start, points=21)
        loss, data = problem.learning
        if found.models is None or found.trackers is None:
            raise ValueError("the problem has a loss")
        sums = [loss.gradient(y, data, 20).sum(axis=0) for y in found.models]
        off = np.abs(found.trackers.sum(axis=1) - sums).max()
        error = float(np.abs(found.models[-1] - best).max())
        rows.append({"z(0)": start, "sum z - sum of gradients": off, "error of the model": error})
    table = pd.DataFrame(rows)
    right, wrong = table["error of the model"]
    return judged(
        wrong < 10.0 * right + _NEAR,
        f"error of the model {right:.0e} with z(0) = grad g(y(0)), {wrong:.2g} with z(0) = 0",
        "sum z - sum of gradients never changes, so it is 0 only if it begins there",
        table=table,
    )


def shares_flow(quick: bool) -> Outcome:
    """Equation 30 on ideal links and with coded values."""
    problem, rows = shares_only(0), []
    best = problem.optimum().cost
    for name, links in (("ideal", wn.Ideal()), ("values, rho 0.125", None)):
        if links is None:
            code = wn.LogQuantizer(RHO, "value")
            run = wn.simulate(
                problem,
                net(0),
                links=code,
                steps=1000 if quick else 4000,
                every=100,
                method=wn.Surplus(share_momentum=0.0),
                backend="vectorised",
            )
            x = run.shares[-1]
        else:
            x = integrate(problem, net(0), end=200.0, points=3).shares[-1]
        gap = float(problem.cost(x).sum() - best) / best
        rows.append({"links": name, "sum - b": float(x.sum() - problem.budget), "cost gap": gap})
    table = pd.DataFrame(rows)
    ideal, coded = table["cost gap"]
    return judged(
        ideal < _NEAR,
        f"cost gap {ideal:.0e} on ideal links, {coded:.0e} with coded values",
        "coded values rest where codes are equal, up to a factor e^rho from the optimum",
        table=table,
    )


def models_flow(quick: bool) -> Outcome:
    """Equations 31 and 32 as stated, and in discrete time."""
    problem = svm()
    best = np.asarray(problem.optimum().model)
    found = integrate(problem, net(0), end=600.0, alpha=20.0, points=3)
    if found.models is None:
        raise ValueError("the problem has a loss")
    stated = float(np.abs(found.models[-1] - best).max())
    method = wn.Surplus(learner="tracking")
    run = wn.simulate(problem, net(0), steps=3000, every=100, method=method, backend="vectorised")
    return judged(
        max(stated, run.model_error) < 1e-5,
        f"error of the model {stated:.0e} by solve_ivp, {run.model_error:.0e} after 3,000 steps",
        "the integrator and its step are not published; ours is Euler with a proved step",
    )


def quantiser(quick: bool) -> Outcome:
    """Equation 33: powers of e^rho, odd, nearest exponent."""
    u = np.concatenate([s * np.geomspace(1e-6, 1e6, 20001) for s in (1.0, -1.0)])[:, None]
    q = wn.LogQuantizer(RHO, "value").quantise(u)[:, 0]
    nearest = np.sign(u[:, 0]) * np.exp(RHO * np.rint(np.log(np.abs(u[:, 0])) / RHO))
    off = float(np.abs(q / nearest - 1.0).max())
    return judged(
        off < 1e-12,
        f"largest relative difference {off:.0e} on 40,002 values from 1e-6 to 1e6",
        "[.] is the nearest integer: a summary's floor would have the sector e^-rho to 1",
    )


def sector(quick: bool) -> Outcome:
    """Equation 34: the measured sector against 1 +- rho^2 / 4 and e^(+- rho / 2)."""
    rows = []
    for rho in (0.0625, 0.125, 0.5, 1.0):
        u = np.geomspace(1.0, np.exp(8.0 * rho), 200001)[:, None]
        ratio = (wn.LogQuantizer(rho, "value").quantise(u) / u)[:, 0]
        rows.append(
            {
                "rho": rho,
                "least q(u) / u": ratio.min(),
                "most": ratio.max(),
                "published least": 1.0 - rho**2 / 4.0,
                "published most": 1.0 + rho**2 / 4.0,
                "e^(-rho / 2)": np.exp(-rho / 2.0),
                "e^(rho / 2)": np.exp(rho / 2.0),
            }
        )
    table = pd.DataFrame(rows)
    holds = (table["most"] <= table["published most"]).all()
    own = table[table["rho"] == RHO].iloc[0]
    return judged(
        bool(holds),
        f"{own['least q(u) / u']:.4f} to {own['most']:.4f} at rho = 0.125",
        "the tight sector is e^(-rho / 2) to e^(rho / 2), 1 -+ rho / 2 to first order",
        table=table,
    )


ITEMS = (
    Item(
        "equation 1",
        "shares of a budget in boxes and one model for all, of least cost and loss",
        "",
        "wn.NetworkProblem(cpu, budget, boxes, loss, shards).optimum()",
        problem_one,
    ),
    Item(
        "equation 24",
        "the trackers sum to the gradients, with z(0) = 0 in the summary",
        "z(0) = 0",
        'integrate(problem, net, start="zero")',
        trackers,
    ),
    Item(
        "equation 30",
        "shares flow towards lower marginal costs and reach the optimum",
        "",
        "integrate(problem, net); wn.simulate(problem, net)",
        shares_flow,
    ),
    Item(
        "equations 31 and 32",
        "consensus and gradient tracking reach the optimal model",
        "",
        'wn.simulate(problem, net, method=wn.Surplus(learner="tracking"))',
        models_flow,
    ),
    Item(
        "equation 33",
        "q(u) = sgn(u) exp(rho [log|u| / rho])",
        "rho = 0.125 in the simulations",
        "wn.LogQuantizer(rho).quantise(u)",
        quantiser,
    ),
    Item(
        "equation 34",
        "(1 - rho^2 / 4) u <= q(u) <= (1 + rho^2 / 4) u",
        "0.9961 to 1.0039 at rho = 0.125",
        "wn.LogQuantizer(rho).sector",
        sector,
    ),
)
