"""Shares as whole numbers of quanta, whose sum no rounding can change.

A quantum is the distance from the budget to the next floating-point number, a power of two. The
budget is then a whole number of quanta below 2^53, and so is every share between zero and the
budget; both are exact as floats. Transfers add integers at one end and subtract the same integers
at the other. So the sum equals the budget bit for bit, in whatever order hosts add.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from walras import checks
from walras.errors import EngineError, InputError, WalrasError
from walras.types import Floats, Longs

MOST = 2**62  # quanta: one centre's holdings and all moves of a step together fit 64 bits
_ROOM = 58  # binary digits of the largest share; a run may exceed it before it settles
_SLIPS = 2  # quanta for each centre by which bounds stated in decimals may miss the budget


class AuditError(WalrasError):
    """Quanta of the budget were lost or created: the run stops.

    This is always a defect of Walras: no fault of the network can cause it.

    Example:
        >>> import walras as wl
        >>> issubclass(wl.network.AuditError, wl.WalrasError), wl.network.AuditError.code
        (True, 'WAL-1600')
    """

    code = "WAL-1600"


class DivergedError(EngineError):
    """Numbers grow without limit: a step is too long."""


@dataclass(frozen=True)
class Quanta:
    """The unit in which shares are counted.

    Attributes:
        exponent: A quantum is 2 to this power, in the budget's unit.
        total: The budget in quanta.
    """

    exponent: int
    total: int

    @classmethod
    def of(cls, budget: float, largest: float = 0.0) -> Quanta:
        """The quanta of a budget.

        Args:
            budget: All CPU.
            largest: The largest possible share, of either sign. If it is many budgets, quanta are
                coarser.

        Raises:
            InputError: The budget is not a positive, finite number, or too small relative to the
                largest share to count both.
        """
        remedy = "give the CPU that all centres share"
        budget = checks.number(budget, "budget", above=0.0, remedy=remedy)
        exponent = math.frexp(float(np.spacing(budget)))[1] - 1
        total = int(math.ldexp(budget, -exponent))
        # Coarser by at most the budget's trailing zeros, so that a float holds each share. Above
        # 2^58 quanta a share, even coarser: the budget is then whole to the last digit of the
        # shares.
        beyond = math.frexp(max(budget, largest))[1] - exponent
        zeros = (total & -total).bit_length() - 1
        coarser = max(min(max(0, beyond - 53), zeros), beyond - _ROOM)
        total = (total + (1 << coarser >> 1)) >> coarser
        if not total:
            raise InputError(
                f"is {budget}, and shares may be {largest:g}",
                where="budget",
                allowed=f"at least {math.ldexp(1.0, exponent + coarser):g}: their last digit",
                remedy="boxes=(0, high) where no share is negative",
            )
        return cls(exponent + coarser, total)

    @property
    def unit(self) -> float:
        """One quantum as a share."""
        return math.ldexp(1.0, self.exponent)

    def shares(self, quanta: Longs) -> Floats:
        """Quanta as shares; exact."""
        return np.asarray(quanta.astype(np.float64) * self.unit)

    def within(self, low: Floats, high: Floats) -> tuple[Longs, Longs]:
        """Boxes in whole quanta, inside the stated ones; ``MOST`` stands for no bound.

        Decimal bounds may miss the budget by rounding: three times 0.1 is not 0.3. Bounds that
        exclude the budget by ``2 n`` quanta or less are moved so that they meet it.

        Args:
            low: (n,) least shares.
            high: (n,) largest shares.
        """
        least = self._whole(np.ceil(np.ldexp(low, -self.exponent)))
        most = np.maximum(least, self._whole(np.floor(np.ldexp(high, -self.exponent))))
        over, under = _sum(least) - self.total, self.total - _sum(most)
        slips = _SLIPS * len(least)
        if 0 < over <= slips:
            least = least - _dealt(over, len(least))
        if 0 < under <= slips:
            most = most + _dealt(under, len(most))
        return least, most

    @staticmethod
    def _whole(quanta: Floats) -> Longs:
        return np.asarray(np.clip(quanta, -float(MOST), float(MOST))).astype(np.int64)

    def split(self, fractions: Floats) -> Longs:
        """Split the budget in proportion to ``fractions`` (n,), without remainder.

        Raises:
            InputError: A fraction is negative or not finite, or all are zero.
        """
        remedy = "give a share to start from"
        checks.within(fractions, "fractions", 0.0, remedy=remedy)
        checks.number(fractions.sum(), "sum of fractions", above=0.0, remedy=remedy)
        dealt: Longs = np.floor(self.total * (fractions / fractions.sum())).astype(np.int64)
        # The few remaining quanta are given (or taken back) one by one, the largest fraction first.
        order = np.argsort(-fractions, kind="stable")
        dealt[order] += _dealt(self.total - int(dealt.sum()), len(dealt))
        return dealt

    def nearest(self, dealt: Longs, least: Longs, most: Longs) -> Longs:
        """The nearest split of the budget within boxes: ``clip(dealt + shift)``, without remainder.

        Args:
            dealt: (n,) quanta; their sum may differ from the budget.
            least: (n,) bounds below.
            most: (n,) bounds above; the budget lies between the sums of both.
        """

        def moved(shift: int) -> Longs:
            return np.clip(dealt + shift, least, most)

        # Find the largest integer shift that gives out no more than the budget, by halving.
        low, high = int((least - dealt).min()), int((most - dealt).max())
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (low, middle - 1) if _sum(moved(middle)) > self.total else (middle, high)
        found = moved(low)
        # One more shift is too much: the remaining quanta go to the first centres that it would
        # move.
        room = np.flatnonzero(moved(low + 1) > found)
        found[room[: self.total - _sum(found)]] += 1
        return found


def summed(quanta: Longs, owner: Longs, owners: int) -> Longs:
    """(owners,) exact sums of quanta by owner."""
    found = np.zeros(owners, np.int64)
    np.add.at(found, owner, quanta)
    return found


def portioned(wanted: Longs, giver: Longs, given: Longs) -> Longs:
    """The quanta that each demand gets when its giver gives in proportion.

    Args:
        wanted: (demands,) quanta, never negative.
        giver: (demands,) the giver of each demand.
        given: (n,) total that each giver gives, never negative.

    Returns:
        (demands,) the wanted quanta if all can be met; otherwise rounded down to what is given.
    """
    asked = summed(wanted, giver, len(given))
    part = given / np.maximum(asked, 1) * (1.0 - 2.0**-48)  # rounding never makes it too large
    return np.where((asked == given)[giver], wanted, counted(np.floor(wanted * part[giver])))


def even_parts(given: Longs, giver: Longs, turn: int) -> Longs:
    """(demands,) equal parts of what each giver gives; single remaining quanta take turns.

    Args:
        given: (n,) total that each giver gives, never negative; all of it, where it has a demand.
        giver: (demands,) the giver of each demand.
        turn: Number of the step, which says whose turn it is.
    """
    demands = np.bincount(giver, minlength=len(given))
    order = np.argsort(giver, kind="stable")
    place = np.empty(len(giver), np.int64)
    place[order] = np.arange(len(giver)) - (np.cumsum(demands) - demands)[giver[order]]
    each, more = np.divmod(given, np.maximum(demands, 1))
    return each[giver] + ((place + turn) % demands[giver] < more[giver])


def counted(amount: Floats) -> Longs:
    """Convert whole numbers of quanta from floats to integers, and refuse an overflow.

    Raises:
        DivergedError: One is not finite, or all together are ``MOST`` or more.
    """
    if not np.abs(amount).sum() < MOST:
        raise _too_large()
    return np.asarray(amount).astype(np.int64)


def counted_sum(quanta: Iterable[int]) -> int:
    """The sum of whole quanta, of either sign.

    Raises:
        DivergedError: It is ``MOST`` or more.
    """
    total = sum(quanta)
    if not abs(total) < MOST:
        raise _too_large()
    return total


def _too_large() -> DivergedError:
    return DivergedError(
        "the shares diverge: they are too large to count",
        where="shares",
        allowed="below 2^62 quanta a step",
        remedy="smaller steps",
    )


def countable(quanta: Longs) -> bool:
    """Whether each is below ``MOST``, so that another step's transfers cannot overflow."""
    return bool(((quanta < MOST) & (quanta > -MOST)).all())


def audit(held: Iterable[int] | Longs, in_flight: Iterable[int] | Longs, total: int) -> int:
    """Quanta held and in flight minus the total; exactly 0 while nothing is lost."""
    return _sum(held) + _sum(in_flight) - total


def _dealt(quanta: int, shares: int) -> Longs:
    """(shares,) integers that sum to ``quanta`` and differ by at most one."""
    each, more = divmod(quanta, shares)
    return np.asarray(each + (np.arange(shares) < more), np.int64)


def _sum(quanta: Iterable[int] | Longs) -> int:
    """An exact sum, by numpy if 64 bits suffice, else by Python."""
    if isinstance(quanta, np.ndarray):
        largest = int(np.abs(quanta).max()) if quanta.size else 0
        if largest * quanta.size < 2**62:
            return int(quanta.sum())
        return sum(int(q) for q in quanta.ravel())
    return sum(quanta)
