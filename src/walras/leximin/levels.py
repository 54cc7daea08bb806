"""The result of leximin: its levels, and the allocation of the last one."""

from __future__ import annotations

from dataclasses import dataclass

from walras.checks import read_only
from walras.iterate import Iterate
from walras.types import Bools, Floats


@dataclass(frozen=True, eq=False)
class Level:
    """One level of a leximin solution.

    Attributes:
        value: t* of the level.
        bound: Certified upper bound on it, given the levels below.
        gap: Relative distance between value and bound.
        frozen: (family rows,) True on the rows frozen at this level.
        prices: (rows,) prices of the level, given the levels below.
    """

    value: float
    bound: float
    gap: float
    frozen: Bools
    prices: Floats

    def __post_init__(self) -> None:
        for name in ("frozen", "prices"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class LeximinResult:
    """All levels and the last level's allocation.

    Attributes:
        iterate: The last level's point, with the first level's prices.
        levels: In order.
        finished: Whether all levels were found, or as many as were asked for.
    """

    iterate: Iterate
    levels: tuple[Level, ...]
    finished: bool = True
