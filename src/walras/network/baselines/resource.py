"""Baselines for the shares: gradient flows over links, ADMM, ratio consensus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.errors import InputError
from walras.network.graph.network import Network
from walras.network.links.channel import Channel
from walras.network.methods.interfaces import ModelSide, Setting, ShareSide
from walras.network.methods.steps import safe_steps
from walras.network.methods.surplus import Surplus
from walras.network.problem.optimum import shares_at
from walras.types import Floats

_HALVINGS = 80


class _Floating:
    """Shares as floating-point numbers, without a ledger."""

    quanta = None

    def __init__(self, setting: Setting) -> None:
        problem = self.problem = setting.problem
        fractions = np.ones(problem.centres) if setting.start is None else setting.start
        self.shares: Floats = problem.budget * fractions / fractions.sum()
        self.alive = np.ones(problem.centres, bool)
        self.bits = 0

    @property
    def held(self) -> Floats:
        """(centres,) the shares, since nothing is in flight."""
        return self.shares


@dataclass(frozen=True)
class _OfShares:
    """A baseline for the shares; the model is trained as in Surplus."""

    def models(self, setting: Setting) -> ModelSide:
        """Models are trained as in Surplus."""
        return Surplus().models(setting)


@dataclass(frozen=True)
class LaplacianGradient(_OfShares):
    """x_i+ = x_i + step sum_j w_ij (q(f_j') - q(f_i')): Ho, Servi and Suri; Xiao and Boyd 2006.

    With ``UniformQuantizer`` links it is the uniformly quantised scheme of arXiv 2208.14059.

    Attributes:
        step: Step along links, below twice the safe step; the safe one when left out.
        momentum: Momentum of the heavy ball, 0 for none.
        powers: Exponents of ``|difference|``: (1,) is linear, (a, c) with a < 1 < c is the
            sign-power form, which converges in a fixed time in continuous time.
        name: The name in tables and figures.

    Example:
        >>> from walras.network import baselines
        >>> baselines.LaplacianGradient(momentum=0.5).name
        'Laplacian gradient'
    """

    step: float | None = None
    momentum: float = 0.0
    powers: tuple[float, ...] = (1.0,)
    name: str = "Laplacian gradient"

    def shares(self, setting: Setting) -> ShareSide:
        """CPU flows along links from centres of high marginal cost to centres of low one.

        Args:
            setting: The problem, the network and the links.

        Returns:
            The part of the method that moves shares.
        """
        _undirected(setting, self.name)
        default = safe_steps(setting.problem, setting.network, setting.links).share
        step = default if self.step is None else self.step
        return _Flow(setting, step, self.momentum, self.powers)


def HeavyBall(step: float | None = None, momentum: float = 0.5) -> LaplacianGradient:
    """The Laplacian gradient with momentum, arXiv 2503.06167.

    Args:
        step: Step along links; the safe one if None.
        momentum: Weight of the last transfer, 0 <= momentum < 1.

    Returns:
        The method.

    Example:
        >>> from walras.network import baselines
        >>> baselines.HeavyBall(momentum=0.4).momentum
        0.4
    """
    return LaplacianGradient(step, momentum, name="heavy ball")


def SignPower(step: float | None = None, low: float = 0.7, high: float = 1.3) -> LaplacianGradient:
    """Flows ``sgn(d) (|d|^low + |d|^high)`` of the differences d, arXiv 2401.15598.

    Args:
        step: Step along links; the safe one if None.
        low: Exponent of small differences, 0 to 1.
        high: Exponent of large differences, above 1.

    Returns:
        The method.

    Example:
        >>> from walras.network import baselines
        >>> baselines.SignPower(low=0.5, high=1.5).powers
        (0.5, 1.5)
    """
    return LaplacianGradient(step, 0.0, (low, high), name="sign-power")


class _Flow(_Floating):
    """Laplacian gradient, heavy ball and sign-power."""

    def __init__(
        self, setting: Setting, step: float, momentum: float, powers: tuple[float, ...]
    ) -> None:
        super().__init__(setting)
        self._step, self._momentum, self._powers = step, momentum, powers
        self._channel: Channel[np.float64] = Channel(setting.links, 1)
        self._before = self.shares

    def step(self, network: Network, number: int) -> None:
        """One Euler step of the flow and of the momentum."""
        x, problem = self.shares, self.problem
        # Boxes enter by their quadratic penalty, as in the paper.
        inside = np.clip(x, problem.low, problem.high)
        price = problem.slope(x) + problem.curvatures[1] * (x - inside)
        apart = self._channel.differences(price[:, None], network)[:, 0]
        flow = sum(np.copysign(np.abs(apart) ** power, apart) for power in self._powers)
        moved = network.incidence @ (network.weight[: network.links] * flow)
        self.shares = x + self._step * moved + self._momentum * (x - self._before)
        self._before = x
        self.bits += len(network.tail) * self._channel.message_bits


@dataclass(frozen=True)
class AdmmSharing(_OfShares):
    """Consensus ADMM on the price of CPU (Chang, Hong and Wang 2015); feasible in the limit only.

    Attributes:
        rho: Penalty of the prices' disagreement.
        name: The name in tables and figures.

    Example:
        >>> from walras.network import baselines
        >>> baselines.AdmmSharing(rho=0.5).name
        'ADMM sharing'
    """

    rho: float = 1.0
    name: str = "ADMM sharing"

    def shares(self, setting: Setting) -> ShareSide:
        """Prices agree, and shares follow from them.

        Args:
            setting: The problem, the network and the links.

        Returns:
            The part of the method that moves shares.
        """
        _undirected(setting, self.name)
        return _Admm(setting, self.rho)


class _Admm(_Floating):
    """lambda_i = argmin f_i*(-lambda) + ..., then the multipliers of equal prices."""

    def __init__(self, setting: Setting, rho: float) -> None:
        super().__init__(setting)
        n = self.problem.centres
        self._rho, self._links = rho, setting.links
        self._channel: Channel[np.float64] = Channel(setting.links, 1)
        self._price, self._dual = np.zeros(n), np.zeros(n)

    def step(self, network: Network, number: int) -> None:
        """Solve every centre's own problem, send the price, and add up disagreements."""
        degree = np.bincount(network.tail, minlength=network.centres)
        known = self._channel.broadcast(self._price[:, None])[:, 0]
        around = _around(network, known)
        pull: Floats = self._rho * (degree * known + around) - self._dual
        self._price = self._local(2.0 * self._rho * degree.astype(np.float64), pull)
        known = self._channel.broadcast(self._price[:, None])[:, 0]
        around = _around(network, known)
        self._dual = self._dual + self._rho * (degree * known - around)
        problem = self.problem
        self.shares = shares_at(problem.costs, self._price, problem.low, problem.high)
        self.bits += len(network.tail) * self._channel.message_bits

    def _local(self, curvature: Floats, pull: Floats) -> Floats:
        """The root p of x_i(p) - budget / n + bend p = pull; its left side increases with p."""
        problem = self.problem
        each = problem.budget / problem.centres
        quadratic = problem.costs.quadratic
        if quadratic is not None and not problem.boxed:
            root = (pull + each - quadratic.center) / (curvature + quadratic.scale)
            return np.asarray(root)
        low, high = np.full(problem.centres, -1e6), np.full(problem.centres, 1e6)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            x = shares_at(problem.costs, middle, problem.low, problem.high)
            below = x - each + curvature * middle < pull
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(0.5 * (low + high))


def _around(network: Network, known: Floats) -> Floats:
    """(centres,) sums of the neighbours' known values."""
    return np.asarray(np.bincount(network.head, known[network.tail], network.centres), np.float64)


@dataclass(frozen=True)
class RatioConsensus(_OfShares):
    """The price of quadratic costs as a ratio of two averages: Rikos et al., arXiv 2104.03126.

    Attributes:
        name: The name in tables and figures.

    Example:
        >>> from walras.network import baselines
        >>> baselines.RatioConsensus().name
        'ratio consensus'
    """

    name: str = "ratio consensus"

    def shares(self, setting: Setting) -> ShareSide:
        """Every centre keeps two running averages.

        Args:
            setting: The problem, the network and the links.

        Returns:
            The part of the method that moves shares.

        Raises:
            InputError: A cost is not quadratic, or there are boxes.
        """
        if setting.problem.costs.quadratic is None or setting.problem.boxed:
            raise InputError(
                "has other costs, or boxes",
                where="ratio consensus",
                allowed="QuadraticCPU only",
                remedy="use another method",
            )
        return _Ratio(setting)


class _Ratio(_Floating):
    """(sum of centers - budget) / (sum of scales) by averaging numerator and denominator."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        quadratic = self.problem.costs.quadratic
        if quadratic is None:
            raise InputError("has other costs", where="ratio consensus")
        self._cost = quadratic
        each = self.problem.budget / self.problem.centres
        self._sums = np.stack([each - quadratic.center, quadratic.scale + 0.0 * each], axis=1)
        self._channel: Channel[np.float64] = Channel(setting.links, 2)
        self._pace = 1.0 / (1.0 + float(setting.network.out_weight.max()))

    def step(self, network: Network, number: int) -> None:
        """Average with the neighbours; the ratio is the price."""
        self._sums = self._sums - self._pace * (network.send @ self._channel.broadcast(self._sums))
        price = self._sums[:, 0] / np.where(self._sums[:, 1] == 0.0, 1.0, self._sums[:, 1])
        self.shares = self._cost.at_slope(price)
        self.bits += len(network.tail) * self._channel.message_bits


def _undirected(setting: Setting, name: str) -> None:
    if setting.network.directed or (setting.faults is not None and setting.faults.any):
        raise InputError(
            "is directed, or messages are lost",
            where=name,
            allowed="undirected, without faults",
            remedy="the method has no answer to either; Surplus has",
        )
