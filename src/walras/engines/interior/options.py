"""The options of the interior engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from walras.engines.options import OptionGroup, Options, number


@dataclass(frozen=True, repr=False)
class ColumnGeneration(OptionGroup):
    """When the interior engine works on a few entries a block, and on how many.

    An optimal allocation uses a few entries a block. Each round solves for some entries, prices all
    others, and adds those that pay. A *block* is what one demand (or one resource) owns.

    Attributes:
        least_entries: Problems with at most so many entries are solved at once, since rounds would
            cost more than they save. 0 or more.
        entries_per_block: Mean entries a block above which rounds pay. 0 or more.
        first: Entries a block and score in the first round, 1 or more. There are two scores: the
            benefit of an entry, and its benefit over the scarcity of its resource.
        first_in_market: Entries a block in the first round of a market, where rough prices choose
            them. 1 or more.
        first_from_start: Entries a block and score in the first round of a warm start, 1 or more.
        first_of_new_demand: Entries of a new demand and score in that round, 1 or more.
        added: Entries a block that a later round adds at most, 1 or more.
        added_early: For each entry that pays, so many may come in that nearly pay, 0 or more. They
            save rounds while prices still move; a warm start adds none.
        first_gap: Relative gap of the first round, 0 to 1: its prices need not be accurate.
        tightening: Gap of the next round as a share of the one just certified, 0 to 1.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.Interior(columns=wl.engines.ColumnGeneration(first=4))
        Interior(columns=ColumnGeneration(first=4))
    """

    least_entries: int = number(4000, 0, 10**12, whole=True)
    entries_per_block: float = number(24.0, 0.0, 1e12)
    first: int = number(8, 1, 10**6, whole=True)
    first_in_market: int = number(5, 1, 10**6, whole=True)
    first_from_start: int = number(5, 1, 10**6, whole=True)
    first_of_new_demand: int = number(6, 1, 10**6, whole=True)
    added: int = number(6, 1, 10**6, whole=True)
    added_early: int = number(3, 0, 10**6, whole=True)
    first_gap: float = number(0.3, 1e-12, 1.0)
    tightening: float = number(0.05, 1e-6, 1.0)


@dataclass(frozen=True, repr=False)
class BlockGeneration(OptionGroup):
    """When the interior engine leaves out blocks whose choice is sure, such as flows on paths.

    Attributes:
        least_blocks: Problems with fewer open blocks keep all of them, 0 or more.
        blocks_per_capacity: Open blocks for each capacity from which leaving some out pays, 0 or
            more: an optimum splits hardly more blocks than there are capacities.
        first_share: Share of all limits that the blocks of the first round have together, 0 to 1.
        first_gap: Relative gap of the first round, after which sure blocks leave, 0 to 1.
        first_margin: Lead of a choice over the next one, as a share of a typical charge, from which
            it is sure at the prices of the first round. 0 or more.
        margin: The same lead at the prices of later rounds, which are more accurate. 0 or more.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.Interior(blocks=wl.engines.BlockGeneration(least_blocks=500))
        Interior(blocks=BlockGeneration(least_blocks=500))
    """

    least_blocks: int = number(2000, 0, 10**12, whole=True)
    blocks_per_capacity: float = number(20.0, 0.0, 1e12)
    first_share: float = number(0.99, 0.0, 1.0)
    first_gap: float = number(0.1, 1e-12, 1.0)
    first_margin: float = number(0.1, 0.0, 1e6)
    margin: float = number(0.02, 0.0, 1e6)


@dataclass(frozen=True, repr=False)
class WarmStart(OptionGroup):
    """How the interior engine uses a start.

    Attributes:
        new_demands: Share of the demands that may be new, 0 to 1. With more of them a cold start
            takes about as long, and the start is left out.
        iterations: Iterations of a warm start before the engine starts cold instead, 1 or more.
        gap: Relative gap of the central path's point from which it begins, 0 to 1. Less is nearer
            to the start, and harder to leave where more has changed than that. By blocks it is at
            least 0.3.
        gap_of_new: The gap is at least this multiple of the share of new demands, 0 or more; but at
            most 0.3, from where nothing is left of the start.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import walras as wl
        >>> wl.engines.Interior(warm=wl.engines.WarmStart(gap=0.01))
        Interior(warm=WarmStart(gap=0.01))
    """

    new_demands: float = number(0.3, 0.0, 1.0)
    iterations: int = number(30, 1, 10**9, whole=True)
    gap: float = number(0.1, 1e-12, 1.0)
    gap_of_new: float = number(1.5, 0.0, 1e6)


@dataclass(frozen=True, repr=False)
class InteriorOptions(Options):
    """Step lengths, rounds and starts of the interior engine.

    :class:`walras.engines.Interior` documents each of them.

    Raises:
        InputError: An option is outside its range.
    """

    step_fraction: float = number(0.9995, 0.5, 1.0 - 1e-9)
    short_step_fraction: float = number(0.98, 0.5, 1.0 - 1e-9)
    correctors: int = number(4, 0, 100, whole=True)
    gap_share: float = number(0.3, 1e-6, 1.0)
    stalled_iterations: int = number(8, 1, 10**6, whole=True)
    rounds: int = number(40, 0, 10**6, whole=True)
    columns: ColumnGeneration = field(default_factory=ColumnGeneration)
    blocks: BlockGeneration = field(default_factory=BlockGeneration)
    warm: WarmStart = field(default_factory=WarmStart)


DEFAULTS = InteriorOptions()
