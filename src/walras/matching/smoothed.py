"""The smoothed matching problem in torch: its objective, and its stationary points.

Minimise over X, whose columns are in the simplex,

    F(X) = 1/beta log sum_i exp(beta L_i) + phi(R - gamma) + tau/N sum_ij x_ij log x_ij,

with loads ``L_i = zeta_i(n_i) S_i``, sums ``S_i = sum_j t_ij x_ij``, counts ``n_i = sum_j x_ij``
and the mean success ``R = 1/N sum_ij a_ij x_ij`` (equations 8, 9 and 17 of Huo et al., ICPP 2025,
with an entropy that makes the minimum unique, and the mean over tasks). At a stationary point

    x_ij = softmax_i( -(q_i t_ij + w_i - nu a_ij / N) N / tau ),
    p = softmax(beta L),  q = p zeta,  w = p zeta' S,  nu = -phi'(R - gamma),

so a point is given by the M sums, the M counts where zeta is not constant, and R.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch

from walras import checks

BARRIERS = ("log", "elastic")

_UNDERFLOW = 1e-280


@dataclass(frozen=True)
class Smoothing:
    """How the matching problem is smoothed: entropy, smooth maximum and barrier.

    Times count in units of a round's scale, ``g`` is mean success minus the floor.

    Attributes:
        temperature: tau, the weight of the entropy; the shares tend to 0 and 1 as it falls.
        sharpness: beta of the smoothed maximum: ``0 <= smooth - max <= log M / beta``.
        barrier: ``log``: ``phi(g) = -weight log g``, extended quadratically below ``width``;
            ``elastic``: ``price * width * log(1 + exp(-g / width))``, a smoothed price of missing
            success.
        weight: lambda, the weight of the log barrier.
        width: delta, the width of the extension, or of the elastic corner.
        price: Price of a unit of missing mean success, in units of the scale, for ``elastic``.

    Raises:
        InputError: A number is outside its range.

    Example:
        >>> from walras.matching import Smoothing, relaxed_match
        >>> times, success = [[[3.0, 2.0], [2.0, 3.0]]], [[[0.9, 0.9], [0.9, 0.9]]]
        >>> sharp = relaxed_match(times, success, smoothing=Smoothing(temperature=0.01))
        >>> sharp.x.numpy().round(2)
        array([[[0., 1.],
                [1., 0.]]])
    """

    temperature: float = 0.1
    sharpness: float = 20.0
    barrier: str = "log"
    weight: float = 0.02
    width: float = 0.005
    price: float = 10.0

    def __post_init__(self) -> None:
        checks.one_of(self.barrier, "setting barrier", BARRIERS)
        for name in ("temperature", "sharpness", "weight", "width"):
            checks.setting(self, name, 1e-9, 1e9)
        checks.setting(self, "price", 0.0, 1e9)

    def floor_cost(self, g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The cost of the floor and its first two derivatives.

        Args:
            g: (rounds,) mean success minus the floor.

        Returns:
            ``phi(g)``, ``-phi'(g) >= 0`` and ``phi''(g) >= 0``, each of the shape of ``g``.
        """
        if self.barrier == "elastic":
            part = torch.sigmoid(-g / self.width)
            value = self.price * self.width * torch.nn.functional.softplus(-g / self.width)
            slope = self.price * part
            return value, slope, slope * torch.sigmoid(g / self.width) / self.width
        inside = g.clamp_min(self.width)
        u = (g - inside) / self.width  # < 0 below the width, else 0
        value = self.weight * (-torch.log(inside) - u + 0.5 * u * u)
        slope = self.weight * (1.0 - u) / inside
        return value, slope, self.weight / (inside * inside)


@dataclass(frozen=True, eq=False)
class Curve:
    """The smooth ratio ``zeta_i(n) = limit_i + (1 - limit_i) exp(-rate_i (n - 1))``.

    Attributes:
        limit: (clusters,).
        rate: (clusters,).
    """

    limit: torch.Tensor
    rate: torch.Tensor

    def at(self, n: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """zeta, zeta' and zeta'' at (..., clusters) counts."""
        decay = (1.0 - self.limit) * torch.exp(-self.rate * (n - 1.0))
        return self.limit + decay, -self.rate * decay, self.rate**2 * decay


@dataclass(frozen=True, eq=False)
class State:
    """What a point of the problem is made of.

    Attributes:
        sums: S, (rounds, clusters).
        counts: n, (rounds, clusters).
        success: R, (rounds,).
    """

    sums: torch.Tensor
    counts: torch.Tensor
    success: torch.Tensor


@dataclass(frozen=True, eq=False)
class Forces:
    """Derivatives of F by the parts of a state.

    Attributes:
        p: (rounds, clusters) weights of the loads.
        q: (rounds, clusters) by the sums.
        w: (rounds, clusters) by the counts.
        nu: (rounds,) minus that by the mean success.
        curvature: (rounds,) phi''.
    """

    p: torch.Tensor
    q: torch.Tensor
    w: torch.Tensor
    nu: torch.Tensor
    curvature: torch.Tensor


@dataclass(frozen=True, eq=False)
class Smoothed:
    """A batch of smoothed problems.

    Attributes:
        t: (rounds, clusters, tasks) times over the scale; 0 where a cluster cannot run a task.
        a: (rounds, clusters, tasks) chances of success.
        floor: gamma, (rounds,).
        smoothing: How it is smoothed.
        curve: The ratio of tasks together, None for one after the other.
        barred: (rounds, clusters, tasks) True where a cluster cannot run a task, or None.
    """

    t: torch.Tensor
    a: torch.Tensor
    floor: torch.Tensor
    smoothing: Smoothing
    curve: Curve | None = None
    barred: torch.Tensor | None = None

    @property
    def tasks(self) -> int:
        """N."""
        return int(self.t.shape[-1])

    @property
    def tau(self) -> float:
        """Weight of the entropy, tau / N."""
        return self.smoothing.temperature / self.tasks

    def at(self, temperature: float) -> Smoothed:
        """The problems at another temperature."""
        return replace(self, smoothing=replace(self.smoothing, temperature=temperature))

    def take(self, rounds: torch.Tensor) -> Smoothed:
        """Some of the problems."""
        if len(rounds) == len(self.t):
            return self
        barred = None if self.barred is None else self.barred[rounds]
        return replace(
            self, t=self.t[rounds], a=self.a[rounds], floor=self.floor[rounds], barred=barred
        )

    def state(self, x: torch.Tensor) -> State:
        """Sums, counts and mean success of a matching."""
        return State((self.t * x).sum(-1), x.sum(-1), (self.a * x).sum((-2, -1)) / self.tasks)

    def loads(self, at: State) -> torch.Tensor:
        """(rounds, clusters) loads."""
        return at.sums if self.curve is None else self.curve.at(at.counts)[0] * at.sums

    def forces(self, at: State) -> Forces:
        """Derivatives of F at a state."""
        _, nu, curvature = self.smoothing.floor_cost(at.success - self.floor)
        p = torch.softmax(self.smoothing.sharpness * self.loads(at), -1)
        if self.curve is None:
            return Forces(p, p, torch.zeros_like(p), nu, curvature)
        zeta, slope, _ = self.curve.at(at.counts)
        return Forces(p, p * zeta, p * slope * at.sums, nu, curvature)

    def costs(self, by: Forces) -> torch.Tensor:
        """(rounds, clusters, tasks) derivative of F without its entropy by x."""
        cost = by.q[..., None] * self.t + by.w[..., None]
        cost = cost - (by.nu / self.tasks)[:, None, None] * self.a
        return cost if self.barred is None else cost.masked_fill(self.barred, torch.inf)

    def logits(self, by: Forces) -> torch.Tensor:
        """Logarithm of the X of forces: log softmax(-cost / tau)."""
        return torch.log_softmax(-self.costs(by) / self.tau, -2)

    def slopes(self, by: Forces, z: torch.Tensor) -> torch.Tensor:
        """(rounds, clusters, tasks) derivative of F by x, less tau, at ``z = log x``."""
        slope = self.costs(by) + self.tau * z
        return slope if self.barred is None else slope.masked_fill(self.barred, 0.0)

    def value(self, x: torch.Tensor) -> torch.Tensor:
        """(rounds,) F."""
        return self.cost(x) + self.tau * torch.special.xlogy(x, x).sum((-2, -1))

    def cost(self, x: torch.Tensor) -> torch.Tensor:
        """(rounds,) F without its entropy."""
        at, beta = self.state(x), self.smoothing.sharpness
        smooth = torch.logsumexp(beta * self.loads(at), -1) / beta
        penalty = self.smoothing.floor_cost(at.success - self.floor)[0]
        return smooth + penalty

    def residual(self, x: torch.Tensor) -> torch.Tensor:
        """(rounds,) how far the optimality conditions are from holding; NaN if x is no number.

        The largest distance of a derivative of F from its column's mean. A share that has
        underflowed has no logarithm: its derivative must not be below the mean even at the least
        logarithm that a share can have.
        """
        slope = self.slopes(self.forces(self.state(x)), torch.log(x.clamp_min(_UNDERFLOW)))
        apart = slope - (x * slope).sum(-2, keepdim=True)
        apart = torch.where(x <= _UNDERFLOW, apart.clamp_max(0.0), apart)
        if self.barred is not None:
            apart = apart.masked_fill(self.barred, 0.0)
        return apart.abs().amax((-2, -1))

    def uniform(self) -> torch.Tensor:
        """Every task spread evenly over the clusters that run it."""
        free = torch.zeros_like(self.t)
        if self.barred is not None:
            free = free.masked_fill(self.barred, -torch.inf)
        return torch.softmax(free, -2)

    def dual(self, at: State, by: Forces) -> torch.Tensor:
        """(rounds,) the dual function at the forces of a state, for zeta = 1: a bound on F.

        ``D(p, nu) = H(p) / beta + nu R + phi(R - gamma) - tau sum_j log sum_i exp(-cost_ij / tau)``
        """
        entropy = -torch.special.xlogy(by.p, by.p).sum(-1) / self.smoothing.sharpness
        penalty = self.smoothing.floor_cost(at.success - self.floor)[0]
        soft = torch.logsumexp(-self.costs(by) / self.tau, -2).sum(-1)
        return entropy + by.nu * at.success + penalty - self.tau * soft


def features(problem: Smoothed, w: torch.Tensor) -> torch.Tensor:
    """U' w: the state's parts of (rounds, clusters, tasks) weights, in the order of a vector."""
    counts = [] if problem.curve is None else [w.sum(-1)]
    success = (w * problem.a).sum((-2, -1))[:, None] / problem.tasks
    return torch.cat([(w * problem.t).sum(-1), *counts, success], -1)


def pulled(problem: Smoothed, v: torch.Tensor) -> torch.Tensor:
    """U v: (rounds, clusters, tasks) from (rounds, k), the transpose of :func:`features`."""
    m = problem.t.shape[-2]
    out = v[:, :m, None] * problem.t + (v[:, -1] / problem.tasks)[:, None, None] * problem.a
    return out if problem.curve is None else out + v[:, m:-1, None]


def covariance(x: torch.Tensor, t: torch.Tensor, a: torch.Tensor, *, counts: bool) -> torch.Tensor:
    """K tau: minus the derivative of a state by its forces (q, w, -nu), (rounds, k, k), >= 0.

    Over columns j of X, the sum of covariances of the vectors ``(t_ij e_i, e_i, a_ij / N)``.

    Args:
        x: (rounds, clusters, tasks).
        t: (rounds, clusters, tasks).
        a: (rounds, clusters, tasks).
        counts: Whether the counts belong to the state: k = 2M + 1, else M + 1.
    """
    m, n = x.shape[-2:]
    parts = [t, torch.ones_like(t)] if counts else [t]
    means = [x * part for part in parts]
    mean_a = (x * a).sum(-2, keepdim=True)
    k = len(parts) * m + 1
    out = x.new_zeros(x.shape[0], k, k)
    for u, one in enumerate(means):
        for v, other in enumerate(means):
            block = torch.diag_embed((one * parts[v]).sum(-1)) - one @ other.transpose(1, 2)
            out[:, u * m : (u + 1) * m, v * m : (v + 1) * m] = block
        cross = (one * (a - mean_a)).sum(-1) / n
        out[:, u * m : (u + 1) * m, -1] = cross
        out[:, -1, u * m : (u + 1) * m] = cross
    out[:, -1, -1] = (x * (a - mean_a) ** 2).sum((-2, -1)) / n**2
    return out


def curvatures(problem: Smoothed, at: State, by: Forces) -> torch.Tensor:
    """Derivative of the forces (q, w, -nu) by the state, (rounds, k, k).

    Symmetric; positive semidefinite for zeta = 1, where F is convex in the state. By the success it
    is ``phi''``, since -nu is phi'.
    """
    p, beta = by.p, problem.smoothing.sharpness
    spread = beta * (torch.diag_embed(p) - p[:, :, None] * p[:, None, :])
    m = p.shape[-1]
    if problem.curve is None:
        out = p.new_zeros(p.shape[0], m + 1, m + 1)
        out[:, :m, :m] = spread
    else:
        zeta, slope, curvature = problem.curve.at(at.counts)
        pull = slope * at.sums  # dL/dn
        out = p.new_zeros(p.shape[0], 2 * m + 1, 2 * m + 1)
        out[:, :m, :m] = zeta[:, :, None] * spread * zeta[:, None, :]
        mixed = zeta[:, :, None] * spread * pull[:, None, :] + torch.diag_embed(p * slope)
        out[:, :m, m:-1] = mixed
        out[:, m:-1, :m] = mixed.transpose(1, 2)
        out[:, m:-1, m:-1] = pull[:, :, None] * spread * pull[:, None, :]
        out[:, m:-1, m:-1] += torch.diag_embed(p * curvature * at.sums)
    out[:, -1, -1] = by.curvature
    return out


def vector(at: State, *, counts: bool) -> torch.Tensor:
    """A state as (rounds, k), in the order of :func:`covariance`."""
    parts = [at.sums, at.counts] if counts else [at.sums]
    return torch.cat([*parts, at.success[:, None]], -1)


def unvector(y: torch.Tensor, m: int) -> State:
    """The state of a vector; without counts they are 0."""
    counts = y[:, m : 2 * m] if y.shape[-1] == 2 * m + 1 else torch.zeros_like(y[:, :m])
    return State(y[:, :m], counts, y[:, -1])


def even_load(t: torch.Tensor) -> torch.Tensor:
    """(rounds,) what a cluster would carry at mean times and an even spread."""
    usable = torch.isfinite(t)
    total = torch.where(usable, t, torch.zeros_like(t)).sum(-2) / usable.sum(-2)
    return total.sum(-1) / t.shape[-2]


def log_steps(first: float, count: int) -> list[float]:
    """``count`` factors from ``first`` down to 1, evenly in their logarithm."""
    return [math.exp(math.log(first) * (1.0 - k / max(1, count - 1))) for k in range(count)]
