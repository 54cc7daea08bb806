"""Safe step sizes, from numbers that centres can compute with their neighbours.

Section numbers are those of the explanation page on co-optimisation. For undirected graphs:

* shares: F falls at every step if step < 2 / (K lambda_n L_f), for any sequence of graphs;
* model: stable if step lambda_n + sqrt(2 step alpha L) < 2, for any alpha > 0 if losses are convex;
* alpha < lambda_2 / (K L) when some centre's loss is not convex;
* exact diffusion: step < 2 / L on every graph, mix < (4 / 3) (2 - K) / (K lambda_n).

K is the links' sector, lambda_n at most the largest sum of two neighbours' weights, L_f and L the
largest curvature of any centre's cost and loss: three maxima, as many rounds of messages as the
diameter. On a constant graph, lambda_2 and lambda_n themselves come from a power iteration, one
scalar a round. One-way links need push-sum: prices make 1 / T^1.5 of Newton's step, T the
mixing time, and models twice that of 1 / L. At a resonance e^(i a) of a ring, with the spectral
gap d of about 1 / T, trackers answer by a / d^2, and a is about the root of d. There is no proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from walras import checks
from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.links.quantizers import Links
from walras.network.methods.passivity import lag
from walras.network.methods.push_sum import mixing_time
from walras.network.problem.network_problem import Problem
from walras.types import Floats

METROPOLIS = 2.0  # the largest eigenvalue of any Laplacian with Metropolis weights is at most this
_STALE = 0.5  # share of the step when neighbours' prices may be old
_INERTIA = 0.95  # largest momentum, for nearly flat costs
_NEARLY = 0.9  # share of the diffusion step's bound
# in units of one over the largest weight: candidate steps of averaging on one-way links
_LAZY = np.array([0.3, 0.5, 0.7])
_SMALLER = np.array([0.3, 0.1, 0.03])  # shares of these candidates, for a given alpha
_LONGER = 1.2
_TRUSTED = 0.8  # share of the bound on one-way links
_CLASSICAL = 0.75  # share of the diffusion mix's bound: 1 / lambda_n for K = 1

Learner = Literal["tracking", "diffusion"]
"""How the model is learnt: gradient tracking, or exact diffusion."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Step sizes and their bounds.

    Attributes:
        share: Step of the shares.
        share_bound: The bound on ``share`` up to which the cost falls.
        model: Step of model and surplus; NaN without a loss.
        model_bound: The bound on ``model`` beyond which the iteration may diverge.
        alpha: Weight of the gradient against consensus.
        alpha_bound: lambda_2 / (K L) if losses need not be convex, else infinite.
        spectral_bound: The value used for lambda_n.
        curvature: L_f, boxes' penalty included.
        smoothness: L.
        penalty: (centres,) curvature of the boxes' penalty.
        mixing: On one-way links, steps in which push-sum's masses mix; else 0.
        momentum: Momentum of the shares: (sqrt k - 1) / (sqrt k + 1), k = lambda_n L_f / (lambda_2
            mu); 0 if graphs change, links are one-way, or messages are lost.
        learner: The learner of the model step.
        mix: Mix of exact diffusion; 0 for gradient tracking, which mixes by its step.
        multiplier_step: Step of the boxes' multipliers.
    """

    share: float
    share_bound: float
    model: float
    model_bound: float
    alpha: float
    alpha_bound: float
    spectral_bound: float
    curvature: float
    smoothness: float
    penalty: Floats
    mixing: float = 0.0
    momentum: float = 0.0
    learner: Learner = "tracking"
    mix: float = 0.0
    multiplier_step: float = 1.0


def safe_steps(
    problem: Problem,
    network: Network,
    links: Links,
    faults: Faults | None = None,
    alpha: float | None = None,
) -> Steps:
    """Compute the default steps for a problem on a network.

    Args:
        problem: Costs and losses.
        network: The network; for a changing one, steps hold for every graph that it may draw.
        links: The links, for their sector K.
        faults: Possible faults; old prices halve the step.
        alpha: Weight of the gradient; when left out lambda_n / L, or less if the bound requires it.

    Raises:
        InputError: alpha is not positive.
    """
    if alpha is not None:
        alpha = checks.number(alpha, "alpha", above=0.0, remedy="leave it out for the default")
    reach = _largest_eigenvalue(network)
    sharing = _share_steps(problem, network, links, faults, reach)
    if problem.loss is None:
        return sharing
    smooth = float(problem.smoothness.max())
    limit = np.inf
    if not problem.loss.convex:
        limit = network.at(0).eigenvalues[0] / (links.sector * smooth)
    changes = network.law is not None or (faults is not None and faults.any)
    if network.directed and changes:
        weight = 1.0 if alpha is None else alpha
        step = min(0.5, 2.0 * sharing.mixing**-1.5) / (smooth * weight)
        return replace(
            sharing,
            model=step,
            model_bound=2.0 / (smooth * weight),
            alpha=weight,
            alpha_bound=limit,
            smoothness=smooth,
        )
    if network.directed:
        return _one_way(
            replace(sharing, smoothness=smooth, alpha_bound=limit), network, links, alpha
        )
    chosen = min(reach / smooth, 0.99 * limit) if alpha is None else alpha
    bound = _model_bound(links.sector * reach, chosen * smooth)
    stale = _STALE if faults is not None and faults.any else 1.0
    return replace(
        sharing,
        model=0.5 * stale * bound,
        model_bound=bound,
        alpha=chosen,
        alpha_bound=limit,
        smoothness=smooth,
    )


def _one_way(steps: Steps, network: Network, links: Links, alpha: float | None) -> Steps:
    """Tracking steps on one-way links: :mod:`walras.network.methods.passivity`.

    The step is the one that allows the largest step times alpha, or a given alpha. Codes allow (2 -
    K) / K of the value for ideal links.
    """
    spent = max(0.0, 2.0 - links.sector) / links.sector / steps.smoothness
    heaviest = float(max(network.out_weight.max(), network.in_weight.max()))
    sizes = np.array(_LAZY if alpha is None else [*_LAZY, *(_LAZY[0] * _SMALLER)]) / heaviest
    stands = np.array([spent / lag(network, size) for size in sizes])  # of step times alpha
    best = int(stands.argmax() if alpha is None else (stands / sizes).argmax())
    if alpha is not None:
        fine = stands > alpha * sizes / _TRUSTED
        best = int(np.argmax(np.where(fine, sizes, 0.0))) if fine.any() else best
    size = float(sizes[best])
    chosen = _TRUSTED * float(stands[best]) / size if alpha is None else alpha
    return replace(
        steps,
        model=size,
        model_bound=_longest(network, size, spent / chosen),
        alpha=chosen,
        alpha_bound=min(steps.alpha_bound, float((stands / sizes).max())),
    )


def _longest(network: Network, size: float, budget: float) -> float:
    """The longest step, on an increasing grid, with step lag < budget."""
    while (longer := size * _LONGER) * lag(network, longer) < budget:
        size = longer
    return size * _LONGER


def diffusion_steps(steps: Steps, problem: Problem, network: Network, links: Links) -> Steps:
    """The steps with exact diffusion in place of gradient tracking.

    The step's bound does not depend on the graph (Li, Shi and Yan 2019), and the mix's bound
    (:func:`mix_bound`) does not depend on the losses.
    """
    bound = 2.0 / float(problem.smoothness.max())
    return replace(
        steps,
        learner="diffusion",
        model=_NEARLY * bound,
        model_bound=bound,
        alpha=1.0,
        mix=_CLASSICAL * mix_bound(network.eigenvalues[1], links.sector),
    )


def mix_bound(fastest: float, sector: float) -> float:
    """The bound (4 / 3) (2 - K) / (K lambda_n) on the mix of exact diffusion over coded links.

    With links that decode K times an innovation, a mode (lambda, h) of model x, surplus s and copy
    c obeys v = (1 - step h) x - s, c+ = c + K (v - c), s+ = s + l c+, x+ = v - l c+, in units of
    the step and with l = mix lambda. It leaves the unit circle through -1, where
    l = 2 (2 - K) (2 - step h) / (K (3 - 2 step h)), least at h = 0. K = 1 gives the 4 / 3 of Li
    and Yan 2021; at K = 2 an innovation's error is as large as itself.
    """
    return 4.0 / 3.0 * (2.0 - sector) / (sector * fastest)


def _model_bound(reach: float, pull: float) -> float:
    """The step with step lambda_n + sqrt(2 step alpha L) = 2.

    Jury's conditions on 1 + step sigma, sigma^2 + (2a + alpha c) sigma + e = 0 with a^2 <= e <=
    lambda_n a and 0 <= c <= L, are step e < 2a + alpha c and (2 - step a)^2 > 2 step alpha c; both
    follow.
    """
    root = (math.sqrt(2.0 * pull + 8.0 * reach) - math.sqrt(2.0 * pull)) / (2.0 * reach)
    return root**2


def _share_steps(
    problem: Problem, network: Network, links: Links, faults: Faults | None, reach: float
) -> Steps:
    """The steps of the shares, without the model's steps."""
    least, most = problem.curvatures
    penalty = most if problem.boxed else np.ones(problem.centres)
    curvature = float((most + penalty * problem.boxed).max())
    faulty = faults is not None and faults.any
    bound, momentum, mixing = 2.0 / (links.sector * reach * curvature), 0.0, 0.0
    share = 0.5 * bound * (_STALE if faulty else 1.0)
    if network.directed:
        mixing = mixing_time(network)
        share, bound = mixing**-1.5, 1.0
    elif network.law is None and not faulty:
        stiff = reach * curvature / (network.eigenvalues[0] * float(least.min()))
        momentum = min(_INERTIA, (math.sqrt(stiff) - 1.0) / (math.sqrt(stiff) + 1.0))
    nan = float("nan")
    return Steps(
        share=share,
        share_bound=bound,
        model=nan,
        model_bound=nan,
        alpha=nan,
        alpha_bound=np.inf,
        spectral_bound=reach,
        curvature=curvature,
        smoothness=nan,
        penalty=penalty,
        mixing=mixing,
        momentum=momentum,
    )


def _largest_eigenvalue(network: Network) -> float:
    """A bound on lambda_n of every graph that the network's law may give."""
    if network.law is not None and network.law.kind == "redraw":
        return max(METROPOLIS, network.spectral_bound)
    return network.spectral_bound


def checked(
    name: str, wanted: float | None, default: float, bound: float, *, unsafe: bool
) -> float:
    """The step to take: the default, or the wanted one if it is safe or ``unsafe`` is set.

    Raises:
        InputError: It is not positive, or beyond the bound.
    """
    if wanted is None:
        return default
    remedy = f"{default:.6g} is safe; unsafe=True takes the step as it is"
    most = None if unsafe else bound
    return checks.number(wanted, name, above=0.0, below=most, remedy=remedy)
