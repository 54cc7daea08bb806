"""Upper bounds on what can be placed: a linear program over kinds of nodes, and its prices.

Nodes of one kind are pooled: their resources are added up, and their GPUs are filled by patterns,
multisets of requests that fit one GPU (Gilmore and Gomory, 1961). Pooling and fractions only add
room, so the optimum is at least that of any placement. For one node, with whole numbers, the same
program finds the pattern that is worth most at given prices, or a bound on its worth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.sparse as sp

from walras.domains.placement.instance import Kinds
from walras.kernels.packing.machines import WHOLE, Types, some
from walras.programs.highs import LinearProgram, solve_program
from walras.settings import Settings
from walras.types import Bools, Floats, Ints, Longs

_MOST_PATTERNS = 4000  # of one GPU; beyond, requests are rounded down to coarser shares
_GRIDS = (1, 5, 10, 20, 25, 50, 100, 125, 250, 500, 1000)  # thousandths of a GPU
_SAFE = 1e-9  # relative, added to bounds for rounding


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The program: maximise worth; the first rows are the types' numbers, if they are limited.

    Attributes:
        program: In HiGHS' form, which minimises.
        kind: (columns,) kind of the nodes of a column.
        type: (columns,) type of the items that it counts; -1 for a pattern of a GPU.
    """

    program: LinearProgram
    kind: Ints
    type: Ints


def demand_bound(
    types: Types, count: Longs, kinds: Kinds, fits: Bools
) -> tuple[float, Floats, Floats]:
    """Bound the worth of all that can be placed, and price the types.

    Args:
        types: Types of items.
        count: (types,) number of items.
        kinds: Kinds of nodes.
        fits: (kinds, types) whether an item fits an empty node.

    Returns:
        The bound; (types,) prices of the limits on the types' numbers; (kinds, types) numbers of
        items on nodes of each kind.
    """
    relaxed = _relaxation(types, count, kinds, fits, types.value)
    answer = solve_program(relaxed.program, Settings(threads=1))
    price = np.maximum(np.nan_to_num(answer.prices), 0.0)
    placed = np.zeros((len(kinds.count), len(count)))
    of = relaxed.type >= 0
    if answer.x is not None:
        placed[relaxed.kind[of], relaxed.type[of]] = answer.x[of]
    bound = min(dual_bound(relaxed.program, price), float(types.value @ (count * fits.any(axis=0))))
    return bound, price[: len(count)], placed


def dual_bound(program: LinearProgram, price: Floats) -> float:
    """The bound on a maximum that prices >= 0 of rows ``<=`` prove: weak duality, no solver."""
    reduced = -program.cost - program.matrix.T @ price
    bound = float(price @ program.row_upper) + float(program.upper @ np.maximum(reduced, 0.0))
    return bound * (1.0 + _SAFE) + _SAFE


def node_bound(
    types: Types, limit: Longs, kinds: Kinds, k: int, fits: Bools, worth: Floats
) -> tuple[float, Ints]:
    """The most that a node of kind k holds at given worths of items, and a pattern that has it.

    Args:
        types: Types of items.
        limit: (types,) number of items.
        kinds: Kinds of nodes.
        k: The kind.
        fits: (kinds, types) whether an item fits an empty node.
        worth: (types,) of an item.

    Returns:
        An upper bound on the worth, and (types,) numbers of items of a solution of the program,
        whose shares of GPUs may be rounded.
    """
    one = Kinds(
        some(kinds.machines, slice(k, k + 1)),
        np.zeros(1, dtype=np.int64),
        np.ones(1, dtype=np.int64),
    )
    paying = fits[k : k + 1] & (worth > 0)
    relaxed = _relaxation(types, limit, one, paying, worth, whole=True)
    pattern = np.zeros(len(limit), dtype=np.int32)
    if relaxed.program.matrix.shape[1] == 0:
        return 0.0, pattern
    answer = solve_program(relaxed.program, Settings(threads=1, tolerance=1e-6))
    if answer.x is None:
        return float(relaxed.program.upper @ np.maximum(-relaxed.program.cost, 0.0)), pattern
    of = relaxed.type >= 0
    np.add.at(pattern, relaxed.type[of], np.round(answer.x[of]).astype(np.int32))
    return -answer.bound * (1.0 + _SAFE) + _SAFE, pattern


def _relaxation(
    types: Types, limit: Longs, kinds: Kinds, fits: Bools, worth: Floats, *, whole: bool = False
) -> Relaxation:
    grid, sizes = _sizes(types, kinds.machines.device)
    asked = _asked(types, grid, sizes)
    parts = [
        _of_kind(types, limit, kinds, k, chosen, worth, sizes, asked, whole)
        for k, chosen in enumerate(np.flatnonzero(fit & (limit > 0)) for fit in fits)
    ]
    type_of = np.concatenate([p.type for p in parts])
    kind_of = np.repeat(np.arange(len(parts)), [len(p.type) for p in parts]).astype(np.int32)
    matrix = sp.block_diag([p.matrix for p in parts], format="csr")
    upper = np.concatenate([p.row_upper for p in parts])
    if not whole:  # rows of the types' numbers; of one node their bounds are the columns' own
        of = np.flatnonzero(type_of >= 0)
        shape = (len(limit), len(type_of))
        matrix = sp.vstack(
            [sp.csr_array((np.ones(len(of)), (type_of[of], of)), shape=shape), matrix]
        )
        upper = np.concatenate([limit, upper])
    program = LinearProgram(
        cost=-np.concatenate([p.worth for p in parts]),
        lower=np.zeros(len(type_of)),
        upper=np.concatenate([p.upper for p in parts]),
        matrix=sp.csc_array(matrix),
        row_lower=np.full(len(upper), -np.inf),
        row_upper=upper.astype(np.float64),
        integer=np.ones(len(type_of), dtype=np.bool_) if whole else None,
    )
    return Relaxation(program, kind_of, type_of)


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows and columns of the nodes of one kind."""

    matrix: sp.csr_array
    row_upper: Floats
    upper: Floats
    worth: Floats
    type: Ints


def _of_kind(
    types: Types,
    limit: Longs,
    kinds: Kinds,
    k: int,
    chosen: Longs,
    worth: Floats,
    sizes: tuple[int, ...],
    asked: sp.csr_array,
    whole: bool,
) -> _Part:
    """Rows: resources, groups, GPUs of each level, requests of each size.

    The program over all kinds limits the types' numbers by rows. Limits on its columns as well
    would take a share of the rows' prices. The program of one node has no such rows, and limits its
    columns.
    """
    count, device = float(kinds.count[k]), kinds.machines.device[k]
    left = kinds.machines.left[k]
    most = np.full(len(chosen), np.inf)
    for need, there in zip(types.need[chosen].T, left, strict=True):
        asks = need > 0
        with np.errstate(over="ignore"):
            most[asks] = np.minimum(most[asks], np.floor(there / need[asks] * (1 + 1e-12)))
    grouped = np.diff(types.group_ptr)[chosen] > 0
    most = np.where(grouped, np.minimum(most, 1.0), most)
    upper = np.minimum(limit[chosen], most * count)
    if not whole:
        upper = np.where(np.isfinite(most), most * count, upper)
    levels, held = np.unique(device[device > 0], return_counts=True)
    fillings = [_patterns(sizes, int(level)) for level in levels]
    gpus = sum(len(f) for f in fillings)
    level_of = np.repeat(np.arange(len(levels)), [len(f) for f in fillings])
    shown = sp.csr_array((np.ones(gpus), (level_of, np.arange(gpus))), shape=(len(levels), gpus))
    filled = sp.csr_array(np.vstack([np.zeros((0, len(sizes))), *fillings]).T)
    groups = _group_rows(types, chosen)
    of_items = sp.vstack(
        [
            sp.csr_array(types.need[chosen].T),
            groups,
            sp.csr_array((len(levels), len(chosen))),
            sp.csr_array(asked[chosen].T),
        ]
    )
    above = sp.csr_array((len(left) + groups.shape[0], gpus))
    of_gpus = sp.vstack([above, shown, -filled])
    tops = [left * count, np.full(groups.shape[0], count), held * count, np.zeros(len(sizes))]
    return _Part(
        sp.csr_array(sp.hstack([of_items, of_gpus])),
        np.concatenate(tops),
        np.concatenate([upper, held[level_of] * count]),
        np.concatenate([worth[chosen], np.zeros(gpus)]),
        np.concatenate([chosen, np.full(gpus, -1)]).astype(np.int32),
    )


def _group_rows(types: Types, chosen: Longs) -> sp.csr_array:
    """(groups, chosen) how often an item is of a group; only groups of several types."""
    per = np.diff(types.group_ptr)[chosen]
    column = np.repeat(np.arange(len(chosen)), per)
    at = np.concatenate(
        [np.arange(types.group_ptr[j], types.group_ptr[j + 1]) for j in chosen.tolist()]
        + [np.zeros(0, dtype=np.int64)]
    )
    found, row = np.unique(types.group[at], return_inverse=True)
    return sp.csr_array((np.ones(len(row)), (row, column)), shape=(len(found), len(chosen)))


def _sizes(types: Types, device: Ints) -> tuple[int, tuple[int, ...]]:
    """A grid, and the distinct requests rounded down to it, of which there are few patterns."""
    levels = {int(v) for v in np.unique(device[device > 0])} or {WHOLE}
    for grid in _GRIDS:
        sizes = tuple(sorted(set((types.request // grid * grid).tolist()) - {0}, reverse=True))
        if sum(_number(sizes, level, _MOST_PATTERNS) for level in levels) <= _MOST_PATTERNS:
            return grid, sizes
    return _GRIDS[-1], (WHOLE,)


def _asked(types: Types, grid: int, sizes: tuple[int, ...]) -> sp.csr_array:
    """(types, sizes) requests of each size."""
    of = np.repeat(np.arange(len(types.value)), np.diff(types.ptr))
    rounded = types.request // grid * grid
    at = np.array([sizes.index(v) if v else -1 for v in rounded.tolist()], dtype=np.int64)
    kept = at >= 0
    shape = (len(types.value), len(sizes))
    return sp.csr_array((np.ones(int(kept.sum())), (of[kept], at[kept])), shape=shape)


@cache
def _number(sizes: tuple[int, ...], level: int, most: int) -> int:
    """Number of patterns, counted up to ``most``."""
    count = 0
    for _ in _each_pattern(sizes, level):
        count += 1
        if count > most:
            break
    return count


@cache
def _patterns(sizes: tuple[int, ...], level: int) -> Floats:
    """(patterns, sizes) the maximal multisets of sizes, largest first, that fit a level."""
    found = list(_each_pattern(sizes, level))
    return np.array(found, dtype=np.float64).reshape(len(found), len(sizes))


def _each_pattern(sizes: tuple[int, ...], level: int) -> Iterator[tuple[int, ...]]:
    counts = [0] * len(sizes)

    def rest(at: int, left: int) -> Iterator[tuple[int, ...]]:
        if at == len(sizes):
            if not sizes or left < sizes[-1]:
                yield tuple(counts)
            return
        for number in range(left // sizes[at], -1, -1):
            counts[at] = number
            yield from rest(at + 1, left - number * sizes[at])
        counts[at] = 0

    return rest(0, level)
