"""Compiled kernels on single entries: their costs, and the rows that limit them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.kernels.parallel import jit, jit_in_order, map_entries, map_runs, span
from walras.kernels.reference import COLD
from walras.types import Bools, Floats, Ints, Longs


@jit
def _cheapest(
    first: int,
    last: int,
    ptr: Longs,
    score: Floats,
    active: Bools,
    limit: float,
    most: int,
    found: Longs,
    count: Longs,
) -> None:
    for j in range(first, last):
        kept = 0
        base = j * most
        for q in span(ptr, j):
            if active[q] or not score[q] < limit:
                continue
            if kept == most and not score[q] < score[found[base + most - 1]]:
                continue
            k = kept if kept < most else most - 1
            while k > 0 and score[found[base + k - 1]] > score[q]:
                found[base + k] = found[base + k - 1]
                k -= 1
            found[base + k] = q
            kept = min(kept + 1, most)
        count[j] = kept


def cheapest(
    ptr: Longs,
    score: Floats,
    active: Bools,
    limit: float,
    most: int,
    threads: int = 1,
) -> Longs:
    """Compiled :func:`walras.kernels.reference.cheapest`."""
    blocks = len(ptr) - 1
    found = np.full(blocks * most, -1, dtype=np.int64)
    count = np.zeros(blocks, dtype=np.int64)
    map_runs(
        threads,
        lambda a, b: _cheapest(a, b, ptr, score, active, limit, most, found, count),
        ptr,
    )
    kept = np.arange(most)[None, :] < count[:, None]
    return np.sort(found.reshape(blocks, most)[kept])


@jit
def _wanted(
    first: int,
    last: int,
    ptr: Longs,
    row: Ints,
    benefit: Floats,
    use: Floats,
    budget: Floats,
    price: Floats,
    heat: float,
    longest: int,
    score: Floats,
    load: Floats,
    slope: Floats,
) -> None:
    near, part = np.empty(longest, dtype=np.int64), np.empty(longest)
    for j in range(first, last):
        least = np.inf
        for q in span(ptr, j):
            charge = use[q] * price[row[q]] / budget[j]
            if charge > 1.0:
                charge = 1.0 + np.log(charge)
            score[q] = charge - benefit[q]
            least = min(least, score[q])
        count, total = 0, 0.0
        for q in span(ptr, j):
            if score[q] < least + COLD * heat:
                near[count], part[count] = q, np.exp((least - score[q]) / heat)
                total += part[count]
                count += 1
        for k in range(count):
            q, share = np.uint64(near[k]), part[k] / total
            charge = use[q] * price[row[q]] / budget[j]
            used = share * use[q] * min(1.0, 1.0 / charge)
            load[row[q]] += used
            slope[row[q]] += used * (min(charge, 1.0) * (1.0 - share) / heat + (charge >= 1.0))


def wanted(
    ptr: Longs,
    row: Ints,
    benefit: Floats,
    use: Floats,
    budget: Floats,
    price: Floats,
    heat: float,
    threads: int = 1,
) -> tuple[Floats, Floats, Floats]:
    """Compiled :func:`walras.kernels.reference.wanted`."""
    score, sums = np.empty(len(row)), {}
    longest = int(np.max(np.diff(ptr)))

    def of_some(first: int, last: int) -> None:
        sums[first] = np.zeros((2, len(price)))
        _wanted(
            first, last, ptr, row, benefit, use, budget, price, heat, longest, score, *sums[first]
        )

    map_runs(threads, of_some, ptr)
    load, slope = np.sum([sums[first] for first in sorted(sums)], axis=0)
    return score, load, slope


@jit_in_order
def _reduced_costs(
    first: int,
    last: int,
    indptr: Ints,
    indices: Ints,
    data: Floats,
    prices: Floats,
    out: Floats,
) -> None:
    m = np.uint64(indptr[first])  # unsigned, so that no index counts from the end
    for q in range(first, last):
        total = 0.0
        end = np.uint64(indptr[q + 1])
        while m < end:
            total += data[m] * prices[np.uint64(indices[m])]
            m += np.uint64(1)
        out[q] = total


def reduced_costs(matrix: sp.csc_array, cost: Floats, prices: Floats, threads: int = 1) -> Floats:
    """Compiled :func:`walras.kernels.reference.reduced_costs`."""
    out, columns = np.empty(len(cost)), (matrix.indptr, matrix.indices, matrix.data)

    def of_some(first: int, last: int) -> None:
        _reduced_costs(first, last, *columns, prices, out)
        out[first:last] += cost[first:last]

    map_entries(threads, of_some, len(cost))
    return out


@jit
def _price_rise(
    first: int,
    last: int,
    row: Ints,
    coefficient: Floats,
    reduced: Floats,
    exempt: Bools,
    out: Floats,
) -> None:
    for q in range(first, last):
        if row[q] >= 0 and reduced[q] < 0 and not exempt[q]:
            need = -reduced[q] / coefficient[q]
            if need > out[row[q]]:
                out[row[q]] = need


def price_rise(
    row: Ints,
    coefficient: Floats,
    reduced: Floats,
    exempt: Bools,
    rows: int,
    threads: int = 1,
) -> Floats:
    """Compiled :func:`walras.kernels.reference.price_rise`."""
    found: list[Floats] = []

    def of_some(first: int, last: int) -> None:
        out = np.zeros(rows)
        _price_rise(first, last, row, coefficient, reduced, exempt, out)
        found.append(out)

    map_entries(threads, of_some, len(row))
    return np.asarray(np.max(found, axis=0))


@jit
def _tallies(
    indices: Ints,
    cap: Ints,
    kind: npt.NDArray[np.int8],
    inside: Longs,
    capped: Longs,
) -> None:
    for m in range(len(indices)):
        inside[np.uint64(indices[m])] += 1
    for q in range(len(cap)):
        if cap[q] >= 0:
            capped[cap[q], kind[q]] += 1


def tallies(
    indices: Ints,
    cap: Ints,
    kind: npt.NDArray[np.int8],
    rows: int,
    kinds: int,
) -> tuple[Longs, Longs]:
    """Compiled :func:`walras.kernels.reference.tallies`."""
    inside, capped = np.zeros(rows, dtype=np.int64), np.zeros((rows, kinds), dtype=np.int64)
    _tallies(indices, cap, kind, inside, capped)
    return inside, capped


@jit
def _negative_rows(indices: Ints, data: Floats, out: Bools) -> None:
    for m in range(len(data)):
        if data[m] < 0:
            out[indices[m]] = True


def negative_rows(matrix: sp.csc_array) -> Bools:
    """Compiled :func:`walras.kernels.reference.negative_rows`."""
    out = np.zeros(matrix.shape[0], dtype=np.bool_)
    _negative_rows(matrix.indices, matrix.data, out)
    return out


@jit
def _least_terms(
    indptr: Ints, indices: Ints, data: Floats, reach: Floats, least: Floats, term: Floats
) -> None:
    for q in range(len(reach)):
        for m in span(indptr, q):
            k, size = indices[m], abs(data[m])
            if 0.0 < size < least[k]:
                least[k] = size
            if 0.0 < size * reach[q] < term[k]:
                term[k] = size * reach[q]


def least_terms(matrix: sp.csc_array, reach: Floats) -> tuple[Floats, Floats]:
    """Compiled :func:`walras.kernels.reference.least_terms`."""
    least, term = (np.full(matrix.shape[0], np.inf) for _ in range(2))
    _least_terms(matrix.indptr, matrix.indices, matrix.data, reach, least, term)
    return least, term


@jit
def _first_rows(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    rank: npt.NDArray[np.int8],
    row: Ints,
    coefficient: Floats,
) -> None:
    for q in range(len(row)):
        for m in span(indptr, q):
            k = indices[m]
            wanted = rank[k] >= 0 and data[m] > 0
            if wanted and (row[q] < 0 or rank[k] < rank[row[q]]):
                row[q] = k
                coefficient[q] = data[m]


def first_rows(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    rank: npt.NDArray[np.int8],
) -> tuple[Ints, Floats]:
    """Compiled :func:`walras.kernels.reference.first_rows`."""
    row = np.full(len(indptr) - 1, -1, dtype=np.int32)
    coefficient = np.ones(len(row))
    _first_rows(indptr, indices, data, rank, row, coefficient)
    return row, coefficient
