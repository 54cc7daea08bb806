"""Shares as whole numbers of quanta: a sum that no rounding can change.

A quantum is the distance from the budget to the next floating-point number, a power of two. The
budget is then a whole number of quanta below 2^53, every share between zero and the budget is one
too, and both are exact as floats. Transfers add integers to one end and take the same integers from
the other, so that the sum stays the budget bit for bit in whatever order hosts add.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from walras.errors import EngineError, InputError, WalrasError
from walras.network.types import Floats, Ints

MOST = 2**62  # quanta: one centre's and all that moves at a step together fit 64 bits


class AuditError(WalrasError):
    """Quanta that were lost or made: the run stops."""

    code = "WAL-1600"


class DivergedError(EngineError):
    """Numbers that grow without end: a step is too long."""


@dataclass(frozen=True)
class Quanta:
    """How shares are counted.

    Attributes:
        exponent: A quantum is 2 to this power, in the budget's unit.
        total: The budget in quanta.
    """

    exponent: int
    total: int

    @classmethod
    def of(cls, budget: float) -> Quanta:
        """The quanta of a budget.

        Raises:
            InputError: The budget is not a positive, finite number.
        """
        if not (math.isfinite(budget) and budget > 0.0):
            raise InputError(
                f"is {budget}", where="budget", allowed="a positive, finite number",
                remedy="give the CPU that all centres share",
            )  # fmt: skip
        exponent = math.frexp(float(np.spacing(budget)))[1] - 1
        return cls(exponent, int(math.ldexp(budget, -exponent)))

    @property
    def unit(self) -> float:
        """One quantum as a share."""
        return math.ldexp(1.0, self.exponent)

    def shares(self, quanta: Ints) -> Floats:
        """Quanta as shares; exact."""
        return np.asarray(quanta.astype(np.float64) * self.unit)

    def split(self, fractions: Floats) -> Ints:
        """Quanta in proportion to ``fractions`` (n,), all of them dealt out.

        Raises:
            InputError: A fraction is negative or not finite, or all are zero.
        """
        good = np.isfinite(fractions) & (fractions >= 0.0)
        if not good.all() or not fractions.sum() > 0.0:
            bad = int(np.argmin(good))
            raise InputError(
                f"is {fractions[bad]}", where=f"fractions[{bad}]",
                allowed="finite, at least 0, and not all 0", remedy="give a share to start from",
            )  # fmt: skip
        dealt: Ints = np.floor(self.total * (fractions / fractions.sum())).astype(np.int64)
        left = self.total - int(dealt.sum())
        # The few quanta that rounding left, one by one (or taken back), beginning with the largest.
        order = np.argsort(-fractions, kind="stable")
        dealt += left // len(dealt)
        dealt[order[: left % len(dealt)]] += 1
        return dealt


def counted(amount: Floats) -> Ints:
    """Whole numbers of quanta (given as floats) as integers, none of which has overflowed.

    Raises:
        DivergedError: One is not finite, or all together are ``MOST`` or more.
    """
    if not np.abs(amount).sum() < MOST:
        raise DivergedError(
            "move more quanta than can be counted", where="shares", allowed="below 2^62 a step",
            remedy="take safe steps (leave them out), or smaller ones",
        )  # fmt: skip
    return np.asarray(amount).astype(np.int64)


def countable(quanta: Ints) -> bool:
    """Whether each is below ``MOST``: another step's transfers can be added without overflow."""
    return bool(((quanta < MOST) & (quanta > -MOST)).all())


def audit(held: Iterable[int] | Ints, in_flight: Iterable[int] | Ints, total: int) -> int:
    """Quanta held and in flight over those there should be; exactly 0 while nothing is lost."""
    return _sum(held) + _sum(in_flight) - total


def _sum(quanta: Iterable[int] | Ints) -> int:
    """An exact sum: numpy's where 64 bits hold it, else Python's."""
    if isinstance(quanta, np.ndarray):
        largest = int(np.abs(quanta).max()) if quanta.size else 0
        if largest * quanta.size < 2**62:
            return int(quanta.sum())
        return sum(int(q) for q in quanta.ravel())
    return sum(quanta)
