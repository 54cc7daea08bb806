"""Costs of a centre's share of CPU: convex, differentiable functions of the share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from walras import checks
from walras.errors import InputError
from walras.types import Floats, Longs

Number = TypeVar("Number", float, Floats)
Parameter = float | Floats  # one centre's, or (centres,) of many


class CPUCost(Protocol):
    """The cost f(x) of one centre's share of CPU: the interface of your own costs.

    A cost is strictly convex and differentiable in its box. Its methods take arrays.

    Source: Doostmohammadian, Gabidullina and Rabiee, arXiv 2510.25176, problem 1.

    Example:
        >>> import numpy as np
        >>> import walras as wl
        >>> class Exponential:
        ...     def value(self, x):
        ...         return np.exp(-x)
        ...     def slope(self, x):
        ...         return -np.exp(-x)
        ...     def curvature(self, x):
        ...         return np.exp(-x)
        >>> wn = wl.network
        >>> cpu = [Exponential(), wn.QuadraticCPU(2.0, 1.0)]
        >>> wn.NetworkProblem(cpu, 3.0, (0.1, 3.0)).optimum().shares.round(3)
        array([1.278, 1.722])
    """

    def value(self, x: Floats) -> Floats:
        """The cost of a share.

        Args:
            x: Shares, one or (centres,), in the budget's unit.

        Returns:
            The costs, one for each share.
        """

    def slope(self, x: Floats) -> Floats:
        """The marginal cost of a share.

        Args:
            x: Shares, one or (centres,), in the budget's unit.

        Returns:
            The marginal costs f'(x), one for each share.
        """

    def curvature(self, x: Floats) -> Floats:
        """The second derivative of the cost.

        Args:
            x: Shares, one or (centres,), in the budget's unit.

        Returns:
            The second derivatives f''(x), one for each share.
        """


@dataclass(frozen=True)
class QuadraticCPU:
    """The cost (x - center)^2 / (2 scale) of a share x.

    Source: the paper's cost (arXiv 2510.25176), after Rikos et al., arXiv 2104.03126.

    Attributes:
        center: The share that a centre would choose alone, in the budget's unit; one or (centres,).
        scale: Inverse of the curvature, > 0; one or (centres,).

    Raises:
        InputError: The scale is not positive, or either is not finite.

    Example:
        >>> import numpy as np
        >>> from walras.network import QuadraticCPU
        >>> cost = QuadraticCPU(center=2.0, scale=0.5)
        >>> cost.value(np.array([2.0, 3.0])), cost.slope(np.array([2.0, 3.0]))
        (array([0., 1.]), array([0., 2.]))
    """

    center: Parameter
    scale: Parameter

    def __post_init__(self) -> None:
        _check(self, "center")
        _check(self, "scale", above=0.0)

    def value(self, x: Floats) -> Floats:
        """The cost (x - center)^2 / (2 scale).

        Args:
            x: Shares, one or (centres,).

        Returns:
            The costs, one for each share.
        """
        return (x - self.center) ** 2 / (2.0 * self.scale)

    def slope(self, x: Floats) -> Floats:
        """The marginal cost (x - center) / scale.

        Args:
            x: Shares, one or (centres,).

        Returns:
            The marginal costs, one for each share.
        """
        return (x - self.center) / self.scale

    def curvature(self, x: Floats) -> Floats:
        """The second derivative 1 / scale.

        Args:
            x: Shares, one or (centres,).

        Returns:
            The second derivatives, one for each share.
        """
        return np.zeros_like(x) + 1.0 / self.scale

    def at_slope(self, price: Floats) -> Floats:
        """The share whose marginal cost is ``price``.

        Args:
            price: Marginal costs, one or (centres,).

        Returns:
            center + scale price, one for each price.
        """
        return self.center + self.scale * price


@dataclass(frozen=True)
class ThroughputCPU:
    """The time of an epoch, to a power: (work / (rate x^efficiency))^power.

    Attributes:
        work: Samples of an epoch, > 0; one or (centres,).
        rate: Samples a second with a share of 1, > 0; one or (centres,).
        efficiency: Exponent of the throughput curve, > 0; 1 scales perfectly.
        power: 1 counts seconds; higher powers approach the slowest centre's time.

    Raises:
        InputError: A parameter is not a positive, finite number.

    Example:
        >>> import numpy as np
        >>> from walras.network import ThroughputCPU
        >>> cost = ThroughputCPU(work=1200.0, rate=100.0)
        >>> cost.seconds(np.array([1.0, 2.0]))
        array([12.,  6.])
    """

    work: Parameter
    rate: Parameter
    efficiency: Parameter = 1.0
    power: Parameter = 1.0

    def __post_init__(self) -> None:
        for name in ("work", "rate", "efficiency", "power"):
            _check(self, name, above=0.0)

    @classmethod
    def measured(
        cls, work: float, shares: npt.ArrayLike, rates: npt.ArrayLike, power: float = 1.0
    ) -> ThroughputCPU:
        """Fit the curve through measured throughputs: a straight line in logarithms.

        Args:
            work: Samples of an epoch.
            shares: (k,) shares at which the throughput was measured, k >= 2.
            rates: (k,) samples a second at these shares.
            power: The power of the cost.

        Returns:
            The cost with the fitted rate and efficiency.

        Raises:
            InputError: Fewer than two different shares, numbers that are not positive, or a
                throughput that falls with the share.
        """
        x, y = checks.numeric(shares, "shares"), checks.numeric(rates, "rates")
        checks.within(x, "shares", above=0.0)
        checks.within(y, "rates", above=0.0)
        if x.ndim != 1 or x.shape != y.shape or len(np.unique(x)) < 2:
            raise InputError(
                f"have the shapes {x.shape} and {y.shape}",
                where="shares and rates",
                allowed="two or more different shares, one rate each",
                remedy="measure more",
            )
        efficiency, offset = np.polyfit(np.log(x), np.log(y), 1)
        return cls(work, math.exp(float(offset)), float(efficiency), power)

    def seconds(self, x: Floats) -> Floats:
        """The time of an epoch with a share.

        Args:
            x: Shares, one or (centres,).

        Returns:
            Seconds, one for each share.
        """
        return self.work / (self.rate * x**self.efficiency)

    def value(self, x: Floats) -> Floats:
        """The cost: seconds to the power.

        Args:
            x: Shares, one or (centres,).

        Returns:
            The costs, one for each share.
        """
        return self.seconds(x) ** self.power

    def slope(self, x: Floats) -> Floats:
        """The marginal cost, which is negative: more share, less time.

        Args:
            x: Shares, one or (centres,).

        Returns:
            The marginal costs, one for each share.
        """
        return -self._exponent * self.value(x) / x

    def curvature(self, x: Floats) -> Floats:
        """The second derivative e (e + 1) value / x^2, e = efficiency x power.

        Args:
            x: Shares, one or (centres,).

        Returns:
            The second derivatives, one for each share.
        """
        return self._exponent * (self._exponent + 1.0) * self.value(x) / x**2

    def at_slope(self, price: Floats) -> Floats:
        """The share whose marginal cost is ``price``; infinite if there is none.

        Args:
            price: Marginal costs, one or (centres,).

        Returns:
            The shares, one for each price.
        """
        e, least = self._exponent, (self.work / self.rate) ** self.power
        size = np.maximum(-price, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray((e * least / size) ** (1.0 / (e + 1.0)))

    @property
    def _exponent(self) -> Parameter:
        return self.efficiency * self.power


@dataclass(frozen=True)
class CallableCPU:
    """Any convex, differentiable function of a share.

    Attributes:
        function: The cost of one share: from a float to a float.
        derivative: The marginal cost, likewise; central differences when left out.

    Example:
        >>> import numpy as np
        >>> from walras.network import CallableCPU
        >>> cost = CallableCPU(lambda x: x**4)
        >>> cost.slope(np.array([1.0, 2.0])).round(4)
        array([ 4., 32.])
    """

    function: Callable[[float], float]
    derivative: Callable[[float], float] | None = None

    def value(self, x: Floats) -> Floats:
        """The cost function(x).

        Args:
            x: Shares, one or (k,).

        Returns:
            The costs, one for each share.
        """
        return np.array([self.function(float(v)) for v in np.atleast_1d(x)]).reshape(np.shape(x))

    def slope(self, x: Floats) -> Floats:
        """The marginal cost: derivative(x), or (f(x + h) - f(x - h)) / 2 h.

        Args:
            x: Shares, one or (k,).

        Returns:
            The marginal costs, one for each share.
        """
        if self.derivative is None:
            # cube root of eps: truncation and rounding errors are equal
            h = 6e-6 * np.maximum(np.abs(x), 1e-3)
            return (self.value(x + h) - self.value(x - h)) / (2.0 * h)
        each = [self.derivative(float(v)) for v in np.atleast_1d(x)]
        return np.array(each).reshape(np.shape(x))

    def curvature(self, x: Floats) -> Floats:
        """The second derivative: the slope's central difference.

        Args:
            x: Shares, one or (k,).

        Returns:
            The second derivatives, one for each share.
        """
        h = 1e-4 * np.maximum(np.abs(x), 1e-3)
        return (self.slope(x + h) - self.slope(x - h)) / (2.0 * h)


@dataclass(frozen=True, eq=False)
class CPUCosts:
    """The costs of all centres; each kind is evaluated in one call.

    Attributes:
        groups: The centres of each cost (with arrays as parameters).
        centres: How many there are.
    """

    groups: tuple[tuple[Longs, CPUCost], ...]
    centres: int

    @classmethod
    def of(cls, costs: Sequence[CPUCost | Callable[[float], float]]) -> CPUCosts:
        """Stack the centres' costs; plain functions become :class:`CallableCPU`.

        Raises:
            InputError: There are no costs, or one is not a cost.
        """
        if not len(costs):
            raise InputError(
                "is empty", where="cpu", allowed="one cost a centre", remedy="give each its cost"
            )
        made = [_as_cost(cost, k) for k, cost in enumerate(costs)]
        groups: list[tuple[Longs, CPUCost]] = []
        for kind in (QuadraticCPU, ThroughputCPU):
            own = np.array([k for k, cost in enumerate(made) if type(cost) is kind], np.int64)
            if len(own):
                columns = {
                    f.name: np.array([getattr(made[k], f.name) for k in own.tolist()], np.float64)
                    for f in fields(kind)
                }
                groups.append((own, kind(**columns)))
        stacked = (QuadraticCPU, ThroughputCPU)
        groups += [
            (np.array([k]), cost) for k, cost in enumerate(made) if type(cost) not in stacked
        ]
        return cls(tuple(groups), len(made))

    @property
    def quadratic(self) -> QuadraticCPU | None:
        """The single cost of all centres if all are quadratic."""
        first = self.groups[0][1]
        return first if len(self.groups) == 1 and isinstance(first, QuadraticCPU) else None

    def value(self, x: Floats) -> Floats:
        """(centres,) costs at shares ``x``."""
        return self._each(x, "value")

    def slope(self, x: Floats) -> Floats:
        """(centres,) marginal costs."""
        return self._each(x, "slope")

    def curvature(self, x: Floats) -> Floats:
        """(centres,) second derivatives."""
        return self._each(x, "curvature")

    def seconds(self, x: Floats) -> Floats:
        """(centres,) time of an epoch at shares ``x``; NaN for costs without a time.

        It is infinite for a share of 0.
        """
        found = np.full(self.centres, np.nan)
        for own, cost in self.groups:
            if isinstance(cost, ThroughputCPU):
                with np.errstate(divide="ignore"):
                    found[own] = cost.seconds(np.maximum(x[own], 0.0))
        return found

    def _each(self, x: Floats, name: str) -> Floats:
        if len(self.groups) == 1 and len(self.groups[0][0]) == self.centres:
            return np.asarray(getattr(self.groups[0][1], name)(x))
        found = np.empty(self.centres)
        for own, cost in self.groups:
            found[own] = getattr(cost, name)(x[own])
        return found


def _as_cost(cost: CPUCost | Callable[[float], float], centre: int) -> CPUCost:
    what = f"is the class {cost.__name__}" if isinstance(cost, type) else ""
    if not what and all(hasattr(cost, name) for name in ("value", "slope", "curvature")):
        return cost  # type: ignore[return-value]
    if not what and callable(cost):
        return CallableCPU(cost)
    raise InputError(
        what or f"is a {type(cost).__name__}",
        where=f"cpu[{centre}]",
        allowed="QuadraticCPU, ThroughputCPU, CallableCPU or a function of the share",
        remedy="state the centre's cost as one of these",
    )


def _check(cost: object, name: str, above: float | None = None) -> None:
    """Refuse a parameter that is not finite, or not above a limit."""
    where = f"{type(cost).__name__}.{name}"
    array = checks.numeric(getattr(cost, name), where)
    checks.within(array, where, above=above, remedy="correct the cost of that centre")
