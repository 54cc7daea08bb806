"""Infeasible rounds: the limit that is too tight, and its least relaxation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from walras.domains.load_balancing.bound import Bound
from walras.domains.load_balancing.instance import Round
from walras.domains.load_balancing.program import SMALL, all_pairs, solve_pairs, without_costs
from walras.domains.load_balancing.relocation import MANY
from walras.domains.load_balancing.search import Effort, search
from walras.errors import InfeasibleError
from walras.settings import Settings

_SECONDS = 2.0  # seconds for each question to HiGHS
_DIGITS = 3  # digits of a least relaxation
_STEPS = 30
_CLOSE = 1e-6  # relative accuracy at which the bisection ends
_WIDEST = 64.0  # a band that suffices if any band does


def refuse_impossible(problem: Round) -> None:
    """Refuse a round that counting alone shows to be infeasible.

    Raises:
        InfeasibleError: Names the shard or the limit, and the least relaxation that suffices.
    """
    _refuse_bulky_shards(problem)
    _refuse_hot_shards(problem)
    _refuse_few_zones(problem)
    _refuse_little_memory(problem)


def refuse_unmet(problem: Round) -> None:
    """Refuse a round that HiGHS has proved infeasible.

    Raises:
        InfeasibleError: Names the least band and the least memory that suffice.
    """
    raise InfeasibleError(
        "no placement meets the band within the memory",
        where=f"band {problem.band:g}",
        allowed="limits that some placement meets",
        remedy=_relaxations(problem),
    )


def _refuse_bulky_shards(problem: Round) -> None:
    room = float(problem.memory[~problem.drain].max())
    j = int(np.argmax(problem.footprint))
    if problem.footprint[j] > room:
        raise InfeasibleError(
            f"takes {problem.footprint[j]:g}, the largest server has {room:g}",
            where=f"footprint of shard {problem.shard_names[j]}",
            allowed=f"at most {room:g}",
            remedy=f"give a server memory {problem.footprint[j]:g}, or split the shard",
        )


def _refuse_hot_shards(problem: Round) -> None:
    if problem.replicas is None:
        return
    open_ = np.sort(problem.upper[~problem.drain])[::-1]
    most = np.cumsum(open_)[np.minimum(problem.replicas, len(open_)) - 1]
    over = problem.load / most
    j = int(np.argmax(over))
    if problem.replicas.max() > len(open_):
        raise InfeasibleError(
            f"are {problem.replicas.max()}",
            where="replicas",
            allowed=f"at most {len(open_)}",
            remedy="one replica a server that does not drain",
        )
    if over[j] > 1.0 + 1e-9:
        band = problem.load[j] / (most[j] / (1.0 + problem.band)) - 1.0
        raise InfeasibleError(
            f"is {problem.load[j]:g}; its {problem.replicas[j]} replicas can carry {most[j]:g}",
            where=f"load of shard {problem.shard_names[j]}",
            allowed=f"at most {most[j]:g}",
            remedy=f"a band of {_rounded_up(band):g} at least, or "
            f"{int(np.ceil(over[j] * problem.replicas[j] - 1e-9))} replicas",
        )


def _refuse_few_zones(problem: Round) -> None:
    zones = len(np.unique(problem.zone[~problem.drain]))
    if zones < problem.spread:
        raise InfeasibleError(
            f"is {problem.spread}, but servers that do not drain stand in {zones} zones",
            where="spread",
            allowed=f"1 to {zones}",
            remedy=f"a spread of {zones}",
        )
    if problem.replicas is not None and problem.replicas.min() < problem.spread:
        j = int(np.argmin(problem.replicas))
        raise InfeasibleError(
            f"is {problem.replicas[j]}, fewer than the spread of {problem.spread}",
            where=f"replicas of shard {problem.shard_names[j]}",
            allowed=f"{problem.spread} or more",
            remedy=f"at least {problem.spread} replicas",
        )


def _refuse_little_memory(problem: Round) -> None:
    has = float(problem.memory[~problem.drain].sum())
    needs = float(problem.footprint @ problem.fewest)
    if needs > has * (1.0 + 1e-12):
        raise InfeasibleError(
            f"is {has:g} in all; the shards need {needs:g} "
            f"({problem.fewest.sum():,} replicas at least in this band)",
            where="memory",
            allowed=f"at least {needs:g} in all",
            remedy=_relaxations(problem),
        )


def _relaxations(problem: Round) -> str:
    """The least memory and the least band that suffice, each with the other unchanged."""
    if problem.servers * problem.shards > MANY:  # to search for them would take too long
        return "more memory, a wider band, or fewer replicas"
    ways = []
    same = np.ptp(problem.footprint) == 0.0
    unit = float(problem.footprint[0]) if same else 0.0
    room = float(problem.memory[~problem.drain].min())
    memory = _least(
        lambda v: problem.with_memory(np.maximum(problem.memory, v)),
        room,
        float(problem.footprint @ problem.fewest) + 2.0 * unit,
        unit,
    )
    if memory is not None:
        ways.append(f"memory of {memory:g} on every server")
    band = _least(problem.with_band, problem.band, max(_WIDEST, 4.0 * problem.band), 0.0)
    if band is not None:
        ways.append(f"a band of {band:g}")
    if not ways:
        return "more servers, or fewer shards"
    return "the least relaxation that would do: " + ", or ".join(ways)


def _least(
    relaxed: Callable[[float], Round], tight: float, widest: float, unit: float
) -> float | None:
    """The least number for which a placement was found; None if there is none.

    Args:
        relaxed: The round with that number.
        tight: A number that does not suffice.
        widest: A number that suffices, if any does.
        unit: Unit of the number; 0 for any number of three digits.
    """
    low = tight if unit <= 0.0 else float(np.floor(tight / unit + 1e-9)) * unit
    high = widest
    if not _is_met(relaxed(high)):
        return None
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if unit > 0.0:
            middle = float(np.ceil(middle / unit - 1e-9)) * unit
        if middle >= high or high - low <= _CLOSE * high:
            break
        if _is_met(relaxed(middle)):
            high = middle
        else:
            low = middle
    if unit > 0.0:
        return float(np.ceil(high / unit - 1e-9)) * unit
    # Bisection ends a little above the least number, so a round number just below is tried.
    between = _rounded_up(low)
    return between if between < high and _is_met(relaxed(between)) else _rounded_up(high)


def _is_met(problem: Round) -> bool:
    """Whether some placement is found; exact on small rounds."""
    if problem.footprint @ problem.fewest > problem.memory[~problem.drain].sum():
        return False
    if problem.is_plain and np.isfinite(search(problem, Effort(0, np.inf, 0)).cost):
        return True
    if problem.servers * problem.shards > SMALL:
        return False
    free = without_costs(problem)
    found = solve_pairs(free, all_pairs(free), Bound(0.0, (), ()), Settings(1.0, _SECONDS))
    return found.placed is not None


def _rounded_up(value: float) -> float:
    """The least number of three digits that is not below the value, up to rounding."""
    if value <= 0.0 or not np.isfinite(value):
        return value
    unit = 10.0 ** (np.floor(np.log10(value)) - _DIGITS + 1)
    return float(np.round(np.ceil(value / unit - 1e-6) * unit, 12))
