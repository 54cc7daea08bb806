"""What the items share: the experiments' data, and the verdict of a check.

The paper's own numbers for graphs, costs and data are not published in what we have (its abstract
and two summaries), so the data are ours: 20 centres, Erdos-Renyi graphs with p = 0.3, costs with
scale U(0.5, 4) and center U(1, 5), a budget 1.2 times the centers' sum. All but MNIST is synthetic.
"""

from __future__ import annotations

import numpy as np

from benchmarks.network.study import net, points, shares_only, with_loss
from benchmarks.papers.item import Outcome, Verdict
from walras import network as wn

RHO = 0.125

__all__ = ["RHO", "boxed", "judged", "net", "points", "shares_only", "svm", "with_loss"]


def judged(holds: bool, ours: str, why: str = "", **rest: object) -> Outcome:
    """An outcome whose verdict follows from a comparison."""
    verdict: Verdict = "reproduced" if holds else "refuted"
    return Outcome(ours, verdict, why, **rest)  # type: ignore[arg-type]


def svm(seed: int = 0) -> wn.NetworkProblem:
    """The support vector machine on two overlapping classes in the plane."""
    return with_loss(seed, wn.SmoothHinge(), *points(seed))


def boxed(seed: int = 0, centres: int = 20) -> wn.NetworkProblem:
    """CPU alone, with boxes that a third of the centres reach at the optimum."""
    rng = np.random.default_rng(seed)
    center, scale = rng.uniform(1, 5, centres), rng.uniform(0.5, 4, centres)
    cpu = [wn.QuadraticCPU(c, k) for c, k in zip(center, scale, strict=True)]
    return wn.NetworkProblem(cpu, 1.2 * float(center.sum()), boxes=(2.0, 4.5))
