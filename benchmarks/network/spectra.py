"""The weight of the gradient: spectra, the Lyapunov function, thresholds against the bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.network.study import Outcome, Study, net, points, with_loss
from walras import network as wn
from walras.network._advise import spectrum, threshold
from walras.network.methods.interfaces import Setting
from walras.network.problem.shards import Shards
from walras.plot import network as plots
from walras.plot.style import SERIES, TEXT, blank, legend
from walras.types import Floats

_CASES = 300
_SIMULATED = 30  # of the cases with a threshold
_STEPS = 4000
_LYAPUNOV_STEPS = 600
_DIVERGED = 1e8


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
        run = wn.simulate(
            problem, network, steps=4000, every=20, method=method, backend="vectorised"
        )
        values = spectrum(network.receive.toarray(), hessians, alpha)
        rows.append(
            {
                "alpha / (lambda_2 / L)": factor,
                "alpha": alpha,
                "step": wn.advise(problem, network, method=method).steps.model,
                "rightmost eigenvalue": values.real.max(),
                "error of the model": run.model_error,
                "halvings": len(run.halvings),
            }
        )
        frames.append(run.frame().assign(method=f"{factor:g} lambda_2 / L"))
    # V = |y - mean|^2 / 2 is seen through the consensus error, the cost's part through the loss.
    figure = plots.progress_of_methods(pd.concat(frames), "consensus_error")
    return Outcome(pd.DataFrame(rows), figure)


def lyapunov(seed: int) -> Outcome:
    """V = |models - optimum|^2 / 2 + (F - F*) along one run, on ideal links, momentum free."""
    problem, network = with_loss(seed, wn.SmoothHinge(), *points(seed)), net(seed)
    best = problem.optimum()
    rows = []
    figure, (axes,) = blank(6.4, 3.6)
    for k, factor in enumerate((0.1, 1.0, 10.0)):
        alpha = factor * network.eigenvalues[0] / float(problem.smoothness.max())
        method = wn.Surplus(alpha=alpha, share_momentum=0.0)
        setting = Setting(problem, network, wn.Ideal(), None, seed, None)
        sharing, models = method.shares(setting), _models(method, setting, _LYAPUNOV_STEPS)
        apart = 0.5 * ((models - np.asarray(best.model)) ** 2).sum(axis=(1, 2))
        cost = np.empty(_LYAPUNOV_STEPS)
        for number in range(_LYAPUNOV_STEPS):
            sharing.step(network, number)
            cost[number] = problem.cost(sharing.shares).sum() - best.cost
        v = apart + cost
        axes.semilogy(
            np.arange(1, _LYAPUNOV_STEPS + 1),
            np.maximum(v, 1e-16),
            color=SERIES[k].stand_in,
            label=f"alpha = {factor:g} lambda_2 / L",
        )
        rows.append(
            {
                "alpha / (lambda_2 / L)": factor,
                "V at the start": v[0],
                "V at the end": v[-1],
                "steps at which V grew": int((np.diff(v) > 1e-12).sum()),
                "steps at which the cost part grew": int((np.diff(cost) > 1e-12).sum()),
            }
        )
    axes.set_xlabel("steps")
    axes.set_ylabel("V")
    legend(axes)
    return Outcome(pd.DataFrame(rows), figure)


def _models(method: wn.Surplus, setting: Setting, steps: int) -> Floats:
    """(steps, centres, scalars) models after each step; rows of a run that diverges are inf."""
    side = method.models(setting)
    found = np.full((steps, *side.models.shape), np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        for number in range(steps):
            side.step(setting.network, number)
            if not np.abs(side.models).max() < _DIVERGED:
                break
            found[number] = side.models
    return found


@dataclass(frozen=True)
class _Curved:
    """g_i(y) = h_i y^2 / 2 with a curvature of every centre's own, some of them negative.

    A shard's one sample is h_i. With a positive sum of the h_i the optimum is 0.
    """

    convex = False

    def prepare(self, shards: Shards) -> Shards:
        """As they are."""
        return shards

    def start(self, shards: Shards, seed: int) -> Floats:
        """One: the optimum is 0."""
        return np.ones(1)

    def value(self, models: Floats, shards: Shards, centres: int) -> Floats:
        """(rows,) h_i y^2 / 2."""
        return np.asarray(0.5 * shards.features[:, 0, 0] * models[:, 0] ** 2)

    def gradient(self, models: Floats, shards: Shards, centres: int) -> Floats:
        """(rows, 1) h_i y."""
        return np.asarray(shards.features[:, 0] * models)

    def smoothness(self, shards: Shards, centres: int) -> Floats:
        """|h_i|."""
        return np.abs(shards.features[:, 0, 0])

    def predict(self, model: Floats, features: object) -> Floats:
        """Nothing is predicted."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class _Case:
    """A graph and local curvatures.

    Attributes:
        network: The graph.
        h: (centres,) curvatures, of positive sum.
        bound: lambda_2 / L.
        threshold: The largest stable alpha of the linearised dynamics; infinite if all are.
    """

    network: wn.Network
    h: Floats
    bound: float
    threshold: float

    def spectrum(self, alpha: float) -> npt.NDArray[np.complex128]:
        """Eigenvalues of the linearised dynamics."""
        return spectrum(self.network.receive.toarray(), self.h[:, None, None], alpha)

    def energy(self, alpha: float, steps: int) -> Floats:
        """(steps,) V = |models|^2 / 2 of a simulated run, with a step small enough for alpha.

        Euler's step h leaves a stable mode sigma stable where h < -2 Re sigma / |sigma|^2; no step
        makes an unstable one stable.
        """
        modes = self.spectrum(min(alpha, 0.98 * self.threshold))
        step = 0.5 * float((-2.0 * modes.real / np.abs(modes) ** 2).min())
        shards = [(np.array([[h]]), np.zeros(1)) for h in self.h]
        cpu = [wn.QuadraticCPU(1.0, 1.0)] * len(self.h)
        problem = wn.NetworkProblem(cpu, 2.0 * len(self.h), loss=_Curved(), shards=shards)  # type: ignore[arg-type]
        method = wn.Surplus(alpha=alpha, model_step=step, unsafe=True)
        setting = Setting(problem, self.network, wn.Ideal(), None, 0, None)
        return np.asarray(0.5 * (_models(method, setting, steps) ** 2).sum(axis=(1, 2)))


def alpha_threshold(seed: int) -> Outcome:
    """Random graphs and local curvatures: the true threshold over lambda_2 / L, then simulated."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[_Case]] = {"convex": [], "some centres concave": []}
    for case in range(_CASES):
        concave = bool(case % 2)
        n = int(rng.integers(4, 16))
        network = wn.Network.erdos_renyi(n, float(rng.uniform(0.4, 0.9)), seed=seed + case)
        h = rng.uniform(-1.0 if concave else 0.0, 1.0, n)
        h += max(0.0, 0.05 - float(h.mean()))
        most = threshold(network.receive.toarray(), h[:, None, None])
        bound = network.eigenvalues[0] / float(np.abs(h).max())
        found["some centres concave" if concave else "convex"].append(
            _Case(network, h, bound, most)
        )
    rows = [_summary(name, cases) for name, cases in found.items()]
    return Outcome(pd.DataFrame(rows), _drawn(found["some centres concave"][0]))


def _summary(name: str, cases: list[_Case]) -> dict[str, object]:
    over = np.array([c.threshold / c.bound for c in cases])
    finite = over[np.isfinite(over)]
    known = [c for c in cases if np.isfinite(c.threshold)][:_SIMULATED]
    end = {  # V at the end over V at the start, with alpha at a part of the threshold
        part: np.array([_left(c.energy(part * c.threshold, _STEPS)) for c in known])
        for part in (0.95, 1.05)
    }
    at_bound = np.array([_left(c.energy(c.bound, _STEPS)) for c in known])
    return {
        "losses": name,
        "cases": len(cases),
        "stable for every alpha": len(cases) - len(finite),
        "least threshold / bound": finite.min() if len(finite) else np.nan,
        "median": np.median(finite) if len(finite) else np.nan,
        "below the bound": int((finite < 1.0).sum()),
        "simulated": len(known),
        "V falls at the bound": int((at_bound < 1.0).sum()),
        "V falls at 0.95 of the threshold": int((end[0.95] < 1.0).sum()),
        "V grows at 1.05": int((end[1.05] > 1.0).sum()),
    }


def _left(energy: Floats) -> float:
    """V at the end over its largest in the first half of a run; infinite where it diverged."""
    half = len(energy) // 2
    return float(energy[half:].max() / energy[:half].max()) if np.isfinite(energy).all() else np.inf


def _drawn(case: _Case) -> Figure:
    """The spectrum and V below, at and above the threshold."""
    figure, (left, right) = blank(9.6, 3.4, panels=2)
    for k, part in enumerate((case.bound / case.threshold, 0.95, 1.05)):
        alpha = part * case.threshold
        name = "the bound" if k == 0 else f"{part:g} of the threshold"
        colour, values = SERIES[k].stand_in, case.spectrum(alpha)
        left.scatter(values.real, values.imag, s=14, color=colour, alpha=0.8, linewidths=0)
        energy = case.energy(alpha, _STEPS)
        energy = energy[np.isfinite(energy)]
        right.semilogy(np.arange(1, len(energy) + 1), energy, color=colour, label=name)
    left.axvline(0.0, color=TEXT.stand_in, linewidth=0.8)
    left.set_xlabel("real part")
    left.set_ylabel("imaginary part")
    right.set_xlabel("steps")
    right.set_ylabel("V")
    legend(right, outside=True)
    return figure


STUDIES = (
    Study(
        "alpha",
        "The gradient's weight on a convex loss",
        "Under the step rule no alpha diverges; the bound lambda_2 / L is not needed.",
        alpha_convex,
        8,
    ),
    Study(
        "lyapunov",
        "The Lyapunov function",
        "V, the models' squared distance from the optimum and the cost above its least.",
        lyapunov,
        15,
    ),
    Study(
        "threshold",
        "Thresholds on locally non-convex losses",
        "The largest stable alpha over lambda_2 / L, from the linearised dynamics' spectrum; thirty"
        " cases are simulated at the bound, just below and just above the threshold.",
        alpha_threshold,
        60,
    ),
)
