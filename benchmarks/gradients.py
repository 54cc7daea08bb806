"""One gradient step through relaxed rounds: what is pulled back, and the independent judgement.

An answer is (3, rounds, clusters, tasks): the matching X, and the derivatives of ``<upstream, X>``
by the times and by the chances. The judge finds X anew, and differentiates it by the dense
optimality system (equation 15 of Huo et al., ICPP 2025, with the entropy's curvature): plain NumPy
and SciPy, from the definition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import root
from scipy.special import expit, softmax

from benchmarks.judge import Verdict
from benchmarks.matching import MatchInstance, judge_match

Floats = npt.NDArray[np.float64]

OBJECTIVE = "gradient-step"

_STAGES = (100.0, 30.0, 10.0, 3.0, 1.0)  # temperatures on the way, over the last one


@dataclass(frozen=True)
class Law:
    """Numbers of the smoothed problem that a round does not change; see ``walras.matching``.

    Attributes:
        temperature: tau.
        barrier: ``log`` or ``elastic``.
        sharpness: beta of the smoothed maximum.
        weight: Of the log barrier.
        width: Below which the log barrier is a parabola; of the elastic corner.
        price: Of a unit of missing mean success.
    """

    temperature: float
    barrier: str
    sharpness: float = 20.0
    weight: float = 0.02
    width: float = 0.005
    price: float = 10.0

    def slopes(self, g: float) -> tuple[float, float]:
        """phi'(g) and phi''(g) of the price of the floor, g the mean success above it."""
        if self.barrier == "elastic":
            part = float(expit(-g / self.width))
            return -self.price * part, self.price * part * (1.0 - part) / self.width
        inside = max(g, self.width)
        beyond = (g - inside) / self.width
        return -self.weight * (1.0 - beyond) / inside, self.weight / inside**2


@dataclass(frozen=True, eq=False)
class _Round:
    """A round, times over its scale."""

    t: Floats
    a: Floats
    floor: float
    law: Law

    def matching(self, state: Floats, tau: float) -> Floats:
        """X of the clusters' loads and the mean success: the softmax of minus the costs."""
        n = self.t.shape[1]
        slope = self.law.slopes(float(state[-1]) - self.floor)[0]
        p = softmax(self.law.sharpness * state[:-1])
        cost = p[:, None] * self.t + slope * self.a / n
        return np.asarray(softmax(-cost * n / tau, axis=0))

    def state(self, x: Floats) -> Floats:
        """Loads and mean success of a matching."""
        return np.append((self.t * x).sum(axis=1), (self.a * x).sum() / self.t.shape[1])

    def _excess(self, state: Floats, tau: float) -> Floats:
        return np.asarray(self.state(self.matching(state, tau)) - state)

    def solve(self) -> Floats:
        """The stationary X, by cooling down from where it is nearly even."""
        state = self.state(np.full(self.t.shape, 1.0 / len(self.t)))
        for factor in _STAGES:
            tau = factor * self.law.temperature
            state = root(self._excess, state, args=(tau,), tol=1e-13).x
        return self.matching(state, self.law.temperature)

    def pull(self, x: Floats, by_x: Floats) -> tuple[Floats, Floats]:
        """Derivatives of ``<by_x, X>`` by times and chances, X stationary.

        With D = diag(sqrt x) the system is well scaled however small shares are:
        ``[D H D + tau/N, D E'; E D, 0] [y; v] = [D by_x; 0]``, z = D y.
        """
        m, n = x.shape
        state, beta = self.state(x), self.law.sharpness
        slope, curvature = self.law.slopes(float(state[-1]) - self.floor)
        p = softmax(beta * state[:-1])
        spread = beta * (np.diag(p) - np.outer(p, p))
        flat_t, flat_a, d = self.t.ravel(), self.a.ravel(), np.sqrt(x.ravel())
        hessian = np.kron(spread, np.ones((n, n))) * np.outer(flat_t, flat_t)
        hessian += curvature * np.outer(flat_a, flat_a) / n**2
        rows = np.tile(np.eye(n), m) * d
        top = d[:, None] * hessian * d + np.eye(m * n) * self.law.temperature / n
        system = np.block([[top, rows.T], [rows, np.zeros((n, n))]])
        y = np.linalg.solve(system, np.append(d * by_x.ravel(), np.zeros(n)))[: m * n]
        z = (d * y).reshape(m, n)
        by_loads = spread @ (self.t * z).sum(axis=1)
        by_success = curvature * (self.a * z).sum() / n
        return -(p[:, None] * z + by_loads[:, None] * x), -(slope * z + by_success * x) / n


def upstream(instance: MatchInstance) -> Floats:
    """(rounds, clusters, tasks) the derivative by X that is pulled back; the same for every method.

    Drawn normal: no structure that a method could profit from.
    """
    return np.random.default_rng(0).normal(size=instance.times.shape)


def scales(instance: MatchInstance) -> Floats:
    """(rounds,) unit of time: the load of an even spread at mean times."""
    return np.asarray(instance.times.mean(axis=1).sum(axis=1) / instance.shape[0])


def reference(instance: MatchInstance) -> Floats:
    """(3, rounds, clusters, tasks) the answer, found independently."""
    law, found = Law(instance.temperature, instance.barrier), []
    parts = (instance.times, instance.success, instance.floor, scales(instance), upstream(instance))
    for t, a, floor, scale, by_x in zip(*parts, strict=True):
        one = _Round(t / scale, a, float(floor), law)
        x = one.solve()
        by_t, by_a = one.pull(x, by_x)
        found.append((x, by_t / scale, by_a))
    return np.array(found).swapaxes(0, 1)


def judge_gradient(instance: MatchInstance, answer: Floats) -> Verdict:
    """Mean makespan of the matchings; the largest error of each round, and of all as violation.

    Errors are relative to the largest number of the batch: of X, of the derivatives by the times,
    or of those by the chances.
    """
    if not np.all(np.isfinite(answer)):
        return Verdict(float("nan"), float("inf"), ())
    true = reference(instance)
    largest = np.abs(true).max(axis=(1, 2, 3))
    errors = (np.abs(answer - true) / largest[:, None, None, None]).max(axis=(0, 2, 3))
    value = judge_match(instance, "relaxed-match", answer[0]).value
    return Verdict(value, float(errors.max()), tuple(map(float, errors)))
