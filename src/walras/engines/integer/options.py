"""The options of the integer engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from walras.engines.options import OptionGroup, Options, number


@dataclass(frozen=True, repr=False)
class FeasibilityPump(OptionGroup):
    """The search for a first integer point: convex steps alternate with rounding.

    Attributes:
        time_share: Largest share of the time limit, 0 to 1.
        rounds: Largest number of rounds, 0 or more.
        tolerance: Relative gap of a convex step, 1e-12 to 1; a rough step is as good for rounding.
        flips: Share of the integer entries that may flip when the same point comes back, 0 to 1.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.Integer(pump=wl.engines.FeasibilityPump(rounds=10))
        Integer(pump=FeasibilityPump(rounds=10))
    """

    time_share: float = number(0.2, 0.0, 1.0)
    rounds: int = number(30, 0, 10**9, whole=True)
    tolerance: float = number(1e-3, 1e-12, 1.0)
    flips: float = number(0.2, 0.0, 1.0)


@dataclass(frozen=True, repr=False)
class AssignmentSearch(OptionGroup):
    """The search for assignments: prices, ejection chains, knapsacks, patterns, HiGHS on the rest.

    Shares are of the time limit. An *entry* is a pair of a task and an agent.

    Attributes:
        candidates: Entries for each task, those of least reduced cost, by which chains go, 1 or
            more.
        relaxed: The same for the linear relaxation that gives the prices, 1 or more.
        relaxed_share: Largest share for that relaxation, 0 to 1.
        chains: Chains of a round for each task, 1 or more.
        length: Largest number of holes of a chain, 2 or more.
        width: Partial chains of one length that are kept, 1 or more.
        cycle: Number of rounds in which the heat falls, 1 or more.
        patience: Number of rounds without a better assignment after which a thread goes on from the
            best of all threads, 1 or more.
        rounds: Number of rounds without a time limit, 1 or more.
        stale_rounds: The same without a better assignment, 1 or more.
        large: Number of entries above which there are only chains, 0 or more.
        small: Number of entries up to which HiGHS gets all useful ones, 0 or more.
        search_share: Share for prices and the first chains, 0 to 1.
        knapsack_share: Share for the bound by knapsacks, 0 to 1.
        pattern_share: Share of the time then left for programs over listed patterns, 0 to 1.
        first_patterns: Patterns of the first such program at most, 1 or more; each later one may
            have four times as many.
        most_patterns: Patterns of the last such program at most, 0 or more.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.Integer(assignment=wl.engines.AssignmentSearch(candidates=20))
        Integer(assignment=AssignmentSearch(candidates=20))
    """

    candidates: int = number(10, 1, 10**6, whole=True)
    relaxed: int = number(6, 1, 10**6, whole=True)
    relaxed_share: float = number(0.3, 0.0, 1.0)
    chains: int = number(2, 1, 10**6, whole=True)
    length: int = number(8, 2, 10**3, whole=True)
    width: int = number(32, 1, 10**6, whole=True)
    cycle: int = number(30, 1, 10**6, whole=True)
    patience: int = number(120, 1, 10**6, whole=True)
    rounds: int = number(400, 1, 10**6, whole=True)
    stale_rounds: int = number(120, 1, 10**6, whole=True)
    large: int = number(60_000, 0, 10**12, whole=True)
    small: int = number(1_000, 0, 10**12, whole=True)
    search_share: float = number(0.4, 0.0, 1.0)
    knapsack_share: float = number(0.12, 0.0, 1.0)
    pattern_share: float = number(0.6, 0.0, 1.0)
    first_patterns: int = number(2_000, 1, 10**6, whole=True)
    most_patterns: int = number(32_000, 0, 10**6, whole=True)


@dataclass(frozen=True, repr=False)
class IntegerOptions(Options):
    """Options of the searches, and shares of the time.

    :class:`walras.engines.Integer` documents each of them.

    Raises:
        InputError: An option is outside its range.
    """

    seed: int = number(0, 0, 2**63, whole=True)
    exact_entries: int = number(2_000, 0, 10**12, whole=True)
    exact_assignment_entries: int = number(200, 0, 10**12, whole=True)
    default_time_limit: float = number(60.0, 1e-3, 1e9)
    neighbourhood_share: float = number(0.3, 0.0, 1.0)
    pump: FeasibilityPump = field(default_factory=FeasibilityPump)
    assignment: AssignmentSearch = field(default_factory=AssignmentSearch)


DEFAULTS = IntegerOptions()
