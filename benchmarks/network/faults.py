"""Loss, crashes, churn, and a million audited steps."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.network.study import Outcome, Study, net, points, shares_only, with_loss
from walras import network as wn
from walras.plot import network as plots


def loss(seed: int) -> Outcome:
    """Shares of messages lost from 0 to 40 %, and with a crash on top."""
    problem = with_loss(seed, wn.SmoothHinge(), *points(seed))
    rows, frames = [], []
    for rate in (0.0, 0.1, 0.2, 0.3, 0.4):
        for crashes in ((), (wn.Crash(4, 1000),)):
            faults = wn.Faults(loss=rate, crashes=crashes)
            run = wn.simulate(
                problem,
                net(seed),
                steps=14000,
                every=20,
                faults=faults,
                seed=seed,
                method=wn.Surplus(learner="tracking"),  # only the faults differ
                backend="vectorised",
            )
            name = f"{rate:.0%} lost" + ", a crash" * bool(crashes)
            rows.append(_row(name, run))
            frames.append(run.frame().assign(method=name))
    few = [f for f in frames if "crash" in f["method"].iloc[0]]
    return Outcome(pd.DataFrame(rows), plots.progress_of_methods(pd.concat(few)))


def churn(seed: int) -> Outcome:
    """Centres that come and go at random while a fifth of the messages is lost."""
    rng = np.random.default_rng(seed)
    crashes = []
    for centre in rng.permutation(20)[:12].tolist():
        step = int(rng.integers(200, 5000))
        crashes.append(wn.Crash(centre, step, step + 100 + int(rng.integers(800))))
    faults = wn.Faults(loss=0.2, crashes=crashes)
    problem = shares_only(seed)
    run = wn.simulate(
        problem,
        net(seed).switching(50, seed=seed),
        steps=10000,
        every=5,
        faults=faults,
        seed=seed,
        backend="vectorised",
    )
    row = _row("12 of 20 centres leave and return", run)
    return Outcome(pd.DataFrame([row]), plots.budget_audit(run.frame(), problem.budget))


def million(seed: int) -> Outcome:
    """10^6 steps with switching, codes, loss, crashes and a return; every step is audited."""
    faults = wn.Faults(
        loss=0.2, crashes=[wn.Crash(4, 100_000, 300_000), wn.Crash(9, 600_000), wn.Crash(5, 605)]
    )
    problem = shares_only(seed)
    network = net(seed).switching(50, seed=seed)
    run = wn.simulate(
        problem, network, steps=10**6, every=500, faults=faults, seed=seed, backend="vectorised"
    )
    row = {"steps audited": len(run.audit), **_row("1,000,000 steps", run)}
    return Outcome(pd.DataFrame([row]), plots.budget_audit(run.frame(), problem.budget))


def _row(name: str, run: wn.Run) -> dict[str, object]:
    return {
        "faults": name,
        "cost gap to the survivors' optimum": run.cost_gap[-1],
        "consensus error": run.consensus_error[-1],
        "error of the model": run.model_error,
        "worst audit, quanta": int(np.abs(run.audit).max()),
        "most held / budget": float(run.held.max() / run.problem.budget),
        "least held / budget": float(run.held.min() / run.problem.budget),
    }


STUDIES = (
    Study(
        "loss", "Messages lost",
        "Both ends' running sums make losses good; a crash's shares go to a successor.", loss, 110,
    ),
    Study(
        "churn", "Churn", "Twelve of twenty centres leave and return, a fifth of messages lost.",
        churn, 10,
    ),
    Study(
        "million", "A million audited steps",
        "Switching every 50 steps, innovation codes, 20 % loss, three crashes, one return.",
        million, 280,
    ),
)  # fmt: skip
