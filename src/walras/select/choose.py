"""Which engine a problem goes to: the one that is expected to end first.

What engines cost is learned from timed runs (:mod:`.costs`); which of them can do a problem at all
is a matter of rules.

The first-order engine is a candidate for tolerances of 1e-3 and more, where no shared scalar stands
in narrow rows, and not for leximin: beyond the first level, rows that must keep what they have cost
it many times the iterations. It gives up its copies (``collapse``) where they would not fit into
memory, and never for speed: on UsCarrier's flows an iteration without copies costs 0.7 of one with
them, but 1 % takes 2 to 4 times as many, at all demand levels (docs/explanation/first_order.md).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np

from walras.engines.admm import ADMM
from walras.engines.base import Engine
from walras.engines.exact.engine import Exact, is_linear
from walras.engines.integer.engine import Integer
from walras.engines.interior import Interior
from walras.engines.prices import Prices
from walras.select.cost_model import left_over, narrow_rows, predicted
from walras.select.registry import AUTO, engine_of
from walras.separable import Separable, Side
from walras.separable.stated_later import stated_later

_ADMM_TOLERANCE = 1e-3
_COPY_BYTES, _ENTRY_BYTES = 36.0, 120.0  # that the first-order engine holds
_MEMORY_SHARE = 0.5  # of the machine's memory, which the copies may fill
_NARROW_LIMIT = 12_000
_INTERIOR_ENTRY = 2e-6  # seconds an entry, about, where the rows are not stated yet
_MANY, _MANY_EACH = 20_000, 1_000  # demands, and demands a resource, from which prices are few
_EXACT_LIMIT = 3_000_000  # nonzeros from which neither HiGHS nor Clarabel ends


@dataclass(frozen=True)
class Choice:
    """An engine and why.

    Attributes:
        engine: The engine.
        reason: In words.
        seconds: Predicted seconds of each engine that could do it, by its name.
    """

    engine: Engine
    reason: str
    seconds: dict[str, float]

    @property
    def name(self) -> str:
        """The name of the engine."""
        return self.engine.name


def choose(
    problem: Separable,
    engine: str | Engine = AUTO,
    tolerance: float = 1e-6,
    *,
    levels: bool = False,
) -> Choice:
    """The engine for a problem.

    Args:
        problem: What is to be solved.
        engine: ``auto``, or an engine or its name, which is then taken.
        tolerance: Gap that is asked for; first-order iterations are for a few digits.
        levels: Whether it is the first of the levels of leximin; others follow that are as large.

    Raises:
        InputError: There is no such engine.
    """
    if engine == AUTO:
        return _fitted(_quickest(problem, tolerance, levels=levels), problem)
    return _fitted(Choice(engine_of(engine), "asked for", {}), problem)


def _fitted(choice: Choice, problem: Separable) -> Choice:
    """The choice, without copies where the first-order engine's would not fit into memory."""
    engine = choice.engine
    if not isinstance(engine, ADMM) or engine.mode != "hard" or engine.collapse is not None:
        return choice
    need = _COPY_BYTES * problem.rows.matrix.nnz + _ENTRY_BYTES * problem.entries
    have = memory()
    if need <= _MEMORY_SHARE * have:
        return choice
    words = f"without copies, with which it takes {need / 2**30:.1f} of {have / 2**30:.1f} GiB"
    collapsed = replace(engine, collapse=True)
    return replace(choice, engine=collapsed, reason=f"{choice.reason}; {words}")


def memory() -> float:
    """Bytes of memory of this machine; ``inf`` where it does not say."""
    names = getattr(os, "sysconf_names", {})  # no such thing on Windows
    if "SC_PHYS_PAGES" not in names or "SC_PAGE_SIZE" not in names:
        return float("inf")
    return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))


def _quickest(problem: Separable, tolerance: float, *, levels: bool) -> Choice:
    """The engine of the least predicted seconds, of those that can do it."""
    if problem.integer is not None and np.any(problem.integer):
        whole = int(np.sum(problem.integer))
        searched = Integer()
        if whole > searched.exact_entries and is_linear(problem):
            return Choice(searched, f"{whole} entries are whole", {})
        return Choice(Exact(), "some entries are integer", {})
    if not levels and stated_later(problem) is not None:
        seconds = {Interior.name: _INTERIOR_ENTRY * problem.entries}
        return Choice(Prices(), _few_prices(problem), seconds)
    refused = Interior().accepts(problem)
    if refused is not None:
        return Choice(Exact(), refused, {})
    if not levels and _has_few_prices(problem):
        seconds = {Interior.name: predicted(problem, "interior", tolerance)}
        return Choice(Prices(), _few_prices(problem), seconds)
    narrow = narrow_rows(problem)
    if narrow > _NARROW_LIMIT:
        large = problem.rows.matrix.nnz > _EXACT_LIMIT
        engine: Engine = ADMM() if large else Exact()
        return Choice(engine, f"the narrow side has {narrow} rows", {})
    able = [Interior.name, Exact.name]
    if tolerance >= _ADMM_TOLERANCE and not levels and not _narrow_scalar(problem):
        able.append(ADMM.name)
    seconds = {name: predicted(problem, name, tolerance) for name in able}
    best, second = sorted(seconds, key=lambda name: seconds[name])[:2]
    words = f"predicted {seconds[best]:.2g} s, against {seconds[second]:.2g} s of {second}"
    return Choice(engine_of(best), words, seconds)


def _few_prices(problem: Separable) -> str:
    resources, demands = problem.shape
    return f"{resources} resources have prices, and {demands} demands choose at them"


def _has_few_prices(problem: Separable) -> bool:
    """Whether passes over all demands are few beside the demands that set the prices."""
    m, n = problem.shape
    is_many = n >= _MANY and n >= _MANY_EACH * m
    return is_many and Prices().accepts(problem) is None


def _narrow_scalar(problem: Separable) -> bool:
    """Whether a shared scalar stands in narrow rows, such as the links' of a utilisation.

    First-order iterations then have not proved a per cent on hard instances in the time of many
    interior points.
    """
    demands, resources = (left_over(problem, side) for side in (Side.DEMAND, Side.RESOURCE))
    wide = Side.DEMAND if demands <= resources else Side.RESOURCE
    held = np.any(problem.rows.scalar_matrix != 0, axis=1)
    return bool(np.any(problem.rows.side[held] != wide))
