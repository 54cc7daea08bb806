"""Predict a run before it is made: steps, rates, spectra, bits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.linalg import eigvals

from walras import checks
from walras.network._simulate import DEFAULT_LINKS
from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.links.quantizers import Links
from walras.network.methods.interfaces import Setting
from walras.network.methods.push_sum import FULL, pushed_bits, pushes
from walras.network.methods.steps import Steps
from walras.network.methods.surplus import Surplus
from walras.network.problem.network_problem import NetworkProblem
from walras.short_repr import short_repr
from walras.types import Floats


@short_repr
@dataclass(frozen=True, eq=False)
class Advice:
    """Safe steps, with the rates and the traffic that they give.

    Attributes:
        steps: The steps and their bounds.
        algebraic_connectivity: lambda_2 of the graph at the first step.
        largest_eigenvalue: lambda_n of the same graph.
        diameter: Number of rounds for a maximum over all centres.
        rate: Least factor by which the cost gap falls each step (undirected graphs, links per
            difference); NaN if no theorem gives one.
        steps_to_millionth: Steps until the gap is 1e-6 of the first, by that rate.
        bits_per_step: Bits that all centres send together in one step.
        balanced: Whether every centre receives with the same total weight as it sends.
        learner: How the model is trained and why; empty without a model.

    Example:
        >>> import walras as wl
        >>> wn = wl.network
        >>> problem = wn.NetworkProblem([wn.QuadraticCPU(c, 1.0) for c in (1.0, 2.0, 6.0)], 6.0)
        >>> found = wn.advise(problem, wn.Network.ring(3))
        >>> print(found.frame()[["what", "value"]].head(2).to_string(index=False))
              what   value
        share step 0.70456
               L_f 1.00000
    """

    steps: Steps
    algebraic_connectivity: float
    largest_eigenvalue: float
    diameter: int
    rate: float
    steps_to_millionth: float
    bits_per_step: int
    balanced: bool
    learner: str = ""

    def frame(self) -> pd.DataFrame:
        """One row for each number: name, value, reason."""
        s = self.steps
        rows = [
            ("share step", s.share, self._share_reason()),
            *(self._diffusion() if s.learner == "diffusion" else self._tracking()),
            ("L_f", s.curvature, "largest curvature of a cost, penalty of its box included"),
            ("L", s.smoothness, "largest curvature of a centre's loss"),
            ("lambda_2", self.algebraic_connectivity, "how well the graph mixes"),
            ("lambda_n", self.largest_eigenvalue, f"taken as {s.spectral_bound:.6g}"),
            ("rounds", self.diameter, "for a maximum over all centres: the steps' only setup"),
            ("rate", self.rate, "of the cost gap, each step, at least"),
            ("steps to 1e-6", self.steps_to_millionth, "at that rate"),
            ("bits a step", self.bits_per_step, "sent by all centres together"),
        ]
        return pd.DataFrame(rows, columns=["what", "value", "why"]).dropna(subset=["value"])

    def _share_reason(self) -> str:
        s = self.steps
        if s.mixing:
            return f"of Newton's step for the price: (mixing time of {s.mixing:g} steps)^-1.5"
        return f"bound {s.share_bound:.6g} = 2 / (K lambda_n L_f)"

    def _tracking(self) -> list[tuple[str, float, str]]:
        s = self.steps
        bound = f"bound {s.model_bound:.6g}: K lambda_n h + sqrt(2 h alpha L) = 2"
        return [
            ("model messages a step", 2 if self.learner else math.nan, self.learner),
            ("model step", s.model, bound),
            ("alpha", s.alpha, f"bound {s.alpha_bound:.6g}; none for convex losses"),
        ]

    def _diffusion(self) -> list[tuple[str, float, str]]:
        s = self.steps
        return [
            ("model messages a step", 1, self.learner),
            ("model step", s.model, f"bound {s.model_bound:.6g} = 2 / L, on every graph"),
            ("mix", s.mix, "three quarters of (4 / 3) (2 - K) / (K lambda_n)"),
        ]


def advise(
    problem: NetworkProblem,
    network: Network,
    *,
    links: Links = DEFAULT_LINKS,
    faults: Faults | None = None,
    method: Surplus | None = None,
) -> Advice:
    """Compute safe step sizes for a problem on a network, and the rates that follow.

    They are those of the vectorised method. The protocol halves the steps, tracks the gradient, and
    has no momentum, since messages may be late.

    Args:
        problem: Costs, boxes and losses.
        network: The graph of the centres; only its links at the first step count.
        links: The coding of messages; innovation-coded logarithms when left out.
        faults: Possible faults; none when left out.
        method: Settings that are already fixed; ``Surplus()`` when left out.

    Returns:
        Steps, rates, spectrum and bits.

    Raises:
        InputError: A fixed step is unsafe.

    Example:
        >>> import walras as wl
        >>> wn = wl.network
        >>> problem = wn.NetworkProblem([wn.QuadraticCPU(c, 1.0) for c in (1.0, 2.0, 6.0)], 6.0)
        >>> found = wn.advise(problem, wn.Network.ring(3))
        >>> found.diameter, round(found.algebraic_connectivity, 3), found.bits_per_step
        (1, 1.0, 96)
    """
    chosen = Surplus() if method is None else method
    checks.of_kind(chosen, Surplus, "method")
    setting = Setting(problem, network, links, faults, 0, None)
    steps = chosen.steps(setting)
    graph = network.at(0)
    slow, fast = graph.eigenvalues
    rate = float("nan")
    if not network.directed and not problem.boxed and not (faults and faults.any):
        stiff = float(problem.curvatures[0].min())
        # 1 - (lower / upper sector) lambda_2 mu / (lambda_n L_f), the sectors being inverse.
        rate = 1.0 - slow * stiff * steps.share / links.sector
    needed = math.log(1e-6) / math.log(rate) if 0.0 < rate < 1.0 else float("nan")
    return Advice(
        steps,
        slow,
        fast,
        graph.diameter,
        rate,
        needed,
        _bits(setting, graph, 1 if steps.learner == "diffusion" else 2),
        network.balanced,
        _learner(chosen, setting, steps) if problem.loss is not None else "",
    )


def _learner(method: Surplus, setting: Setting, steps: Steps) -> str:
    if steps.learner == "diffusion":
        return "exact diffusion: the graph stays, the loss is convex, nothing is lost"
    return f"gradient tracking: {method.tracks(setting) or 'the settings ask for it'}"


def _bits(setting: Setting, graph: Network, messages: int) -> int:
    """Bits of one step: a message of the shares, and the messages of the model."""
    problem, links = setting.problem, setting.links
    lossy = setting.faults is not None and setting.faults.any
    if graph.directed:
        message = FULL + pushed_bits(links, 1, lossy=lossy)
    else:
        message = links.bits(1) + FULL * (lossy or bool(problem.floored.any()))
    if problem.loss is not None and problem.data is not None:
        scalars = problem.loss.start(problem.data, 0).size
        if pushes(setting.network, setting.faults):
            message += pushed_bits(links, scalars, lossy=lossy)
        else:
            coded = links.bits(scalars)
            message += FULL * scalars + coded if lossy else messages * coded
    return message * len(graph.tail)


def spectrum(laplacian: Floats, hessians: Floats, alpha: float) -> npt.NDArray[np.complex128]:
    """Eigenvalues of the linearised model dynamics, without the excluded zero modes.

    d/dt (y, s) = -(L + alpha H, alpha; L H, L)(y, s), L the Laplacian, H the local Hessians. The
    start excludes the m modes along sum s = const. They have the eigenvalue 0 and are dropped.

    Args:
        laplacian: (n, n).
        hessians: (n, m, m) local second derivatives.
        alpha: Weight of the gradient.

    Returns:
        (2 n m - m,) complex; stable when all real parts are negative.
    """
    n, m, _ = hessians.shape
    big = np.kron(laplacian, np.eye(m))
    bent = np.zeros((n * m, n * m))
    for i in range(n):
        bent[i * m : (i + 1) * m, i * m : (i + 1) * m] = hessians[i]
    top = np.hstack([big + alpha * bent, alpha * np.eye(n * m)])
    both = -np.vstack([top, np.hstack([big @ bent, big])])
    values = eigvals(both)
    return np.asarray(values[np.argsort(np.abs(values))][m:])


def threshold(laplacian: Floats, hessians: Floats, *, most: float = 1e4) -> float:
    """The largest stable alpha, by bisection on :func:`spectrum`; infinite beyond ``most``."""

    def stable(alpha: float) -> bool:
        return float(spectrum(laplacian, hessians, alpha).real.max()) < 1e-10

    if stable(most):
        return math.inf
    low, high = 1e-8, most
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if stable(middle) else (low, middle)
    return low
