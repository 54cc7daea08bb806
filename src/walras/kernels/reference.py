"""The kernels in plain NumPy, which define and test the compiled ones.

Columns are ordered by block; ``ptr`` gives each block's first column. No block is empty.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.types import Bools, Floats, Ints, Longs

COLD = 5.0  # distance behind the best, in heats, from which an entry gets nothing
_DEPENDENT = 1e-14


def block_sums(ptr: Longs, values: Floats) -> Floats:
    """Sum of ``values`` (n,) over each block, (blocks,)."""
    return np.add.reduceat(values, ptr[:-1]) if len(ptr) > 1 else np.zeros(0)


def orthogonalise(ptr: Longs, local: Floats, d: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Make the local rows of every block orthonormal in the metric of the Newton system.

    For block j with local rows U (slots x columns) the matrix ``U D U' + Theta`` is R'R with R
    upper triangular. Modified Gram-Schmidt on the columns of ``[D^1/2 U'; Theta^1/2]`` gives R and
    ``V = R^-T U`` without forming the product. It subtracts weighted means before it squares, so
    the factor stays accurate when a few columns dominate a block.

    Args:
        ptr: (blocks + 1,) first column of each block.
        local: (slots, n) U.
        d: (n,) D > 0.
        theta: (blocks, slots) Theta >= 0.

    Returns:
        R (blocks, slots, slots), with a diagonal of ``inf`` for dependent local rows (division by
        it leaves their price unchanged), and V (slots, n).
    """
    slots, blocks = local.shape[0], len(ptr) - 1
    width = np.diff(ptr)
    r = np.zeros((blocks, slots, slots))
    v = np.array(local, dtype=np.float64)
    # [j, a] is row a of Theta^1/2, which is being orthogonalised
    tail = np.zeros((blocks, slots, slots))
    for a in range(slots):
        tail[:, a, a] = np.sqrt(theta[:, a])
        whole = block_sums(ptr, d * v[a] * v[a]) + theta[:, a]
        for b in range(a):
            dot = block_sums(ptr, d * v[a] * v[b]) + np.sum(tail[:, a] * tail[:, b], axis=1)
            r[:, b, a] = dot
            v[a] -= np.repeat(dot, width) * v[b]
            tail[:, a] -= dot[:, None] * tail[:, b]
        square = block_sums(ptr, d * v[a] * v[a]) + np.sum(tail[:, a] ** 2, axis=1)
        norm = np.sqrt(square)
        norm[square <= (_DEPENDENT * _DEPENDENT) * whole] = np.inf
        r[:, a, a] = norm
        v[a] /= np.repeat(norm, width)
        tail[:, a] /= norm[:, None]
    return r, v


def forward(
    ptr: Longs, r: Floats, v: Floats, d: Floats, g: Floats, beta: Floats
) -> tuple[Floats, Floats]:
    """First half of a solve: eliminate the local rows from the right-hand sides.

    Args:
        ptr: (blocks + 1,) first column of each block.
        r: (blocks, slots, slots) R of :func:`orthogonalise`.
        v: (slots, n) V.
        d: (n,) D.
        g: (n,) right-hand side of the columns.
        beta: (blocks, slots) right-hand side of the local rows.

    Returns:
        ``top = V D g + R^-T beta`` (blocks, slots) and ``D (g - V'top)`` (n,), the columns at zero
        prices of the narrow rows.
    """
    top = np.array(beta)
    for a in range(v.shape[0]):
        for b in range(a):
            top[:, a] -= r[:, b, a] * top[:, b]
        top[:, a] /= r[:, a, a]
    for a in range(v.shape[0]):
        top[:, a] += block_sums(ptr, v[a] * d * g)
    return top, d * (g - _spread(ptr, v, top))


def backward(
    ptr: Longs,
    r: Floats,
    v: Floats,
    d: Floats,
    g: Floats,
    top: Floats,
    charge: Floats,
) -> tuple[Floats, Floats]:
    """Second half of a solve: columns and local prices from the narrow rows' prices.

    Args:
        ptr: (blocks + 1,) first column of each block.
        r: (blocks, slots, slots) R.
        v: (slots, n) V.
        d: (n,) D.
        g: (n,) right-hand side of the columns.
        top: (blocks, slots) of :func:`forward`.
        charge: (n,) charge of the narrow rows' prices p on each column, N'p.

    Returns:
        ``x = D (g - N'p - V'q)`` (n,) and ``R^-1 q`` (blocks, slots), ``q = top - V D N'p``.
    """
    q = np.array(top)
    for a in range(v.shape[0]):
        q[:, a] -= block_sums(ptr, v[a] * d * charge)
    x = d * (g - charge - _spread(ptr, v, q))
    for a in reversed(range(v.shape[0])):
        for b in range(a + 1, v.shape[0]):
            q[:, a] -= r[:, a, b] * q[:, b]
        q[:, a] /= r[:, a, a]
    return x, q


def _spread(ptr: Longs, v: Floats, q: Floats) -> Floats:
    """V'q on columns, (n,)."""
    width = np.diff(ptr)
    return sum((v[a] * np.repeat(q[:, a], width) for a in range(v.shape[0])), np.zeros(v.shape[1]))


def schur(ptr: Longs, d: Floats, v: Floats, narrow: sp.csc_array, threads: int = 1) -> Floats:
    """The Schur complement ``N D N' - sum_j (N D V')_j (N D V')_j'`` on the narrow rows.

    Args:
        ptr: (blocks + 1,) first column of each block.
        d: (n,) D.
        v: (slots, n) V of :func:`orthogonalise`.
        narrow: N, CSC (narrow rows, n).
        threads: Ignored here.

    Returns:
        (narrow, narrow) symmetric; callers read its lower triangle.
    """
    weighted = narrow @ sp.diags_array(d)
    out = np.asarray((weighted @ narrow.T).toarray())
    for j in range(len(ptr) - 1):
        w = np.asarray(weighted[:, ptr[j] : ptr[j + 1]] @ v[:, ptr[j] : ptr[j + 1]].T)
        out -= w @ w.T
    return out


def cheapest(ptr: Longs, score: Floats, active: Bools, limit: float, most: int) -> Longs:
    """Up to ``most`` inactive columns a block with a score below ``limit``, the lowest first.

    Args:
        ptr: (blocks + 1,) first column of each block; blocks may be empty.
        score: (n,) scores; lower is better.
        active: (n,) True on columns that are not returned.
        limit: Only scores strictly below it count.
        most: Largest number of columns for each block.

    Returns:
        Column numbers, ascending.
    """
    chosen = []
    for j in range(len(ptr) - 1):
        columns = np.arange(ptr[j], ptr[j + 1])
        columns = columns[~active[columns] & (score[columns] < limit)]
        order = np.lexsort((columns, score[columns]))[:most]
        chosen.append(columns[order])
    return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, dtype=np.int64)


def wanted(
    ptr: Longs,
    row: Ints,
    benefit: Floats,
    use: Floats,
    budget: Floats,
    price: Floats,
    heat: float,
) -> tuple[Floats, Floats, Floats]:
    """The wants of blocks with a budget each, at prices of the rows.

    An entry of charge q, in budgets, is as bad as ``min(q, 1) + max(log q, 0)`` less its benefit,
    and ``min(1, 1/q)`` of it is wanted.

    Args:
        ptr: (blocks + 1,) first entry of each block; none is empty.
        row: (n,) row of each entry.
        benefit: (n,) logarithm of the benefit of an entry in full, -inf for none.
        use: (n,) use of its row by an entry in full.
        budget: (blocks,) budget of each block.
        price: (rows,) prices.
        heat: Entries worse than the best by this amount get 1/e of its part; entries worse by
            ``COLD`` times this amount get nothing.

    Returns:
        (n,) how bad each entry is for its block, (rows,) the wanted use of each row, and its
        decrease with the logarithm of the row's price.
    """
    owner = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    charge = use * price[row] / budget[owner]
    score = np.minimum(charge, 1.0) + np.log(np.maximum(charge, 1.0)) - benefit
    least = np.minimum.reduceat(score, ptr[:-1])[owner]
    near = score < least + COLD * heat
    part = np.where(near, np.exp((least - score) / heat), 0.0)
    part /= np.add.reduceat(part, ptr[:-1])[owner]
    used = part * use / np.maximum(charge, 1.0)
    fall = used * (np.minimum(charge, 1.0) * (1.0 - part) / heat + (charge >= 1.0))
    load: Floats = np.bincount(row, used, len(price)).astype(np.float64)
    return score, load, np.bincount(row, fall, len(price)).astype(np.float64)


def reduced_costs(matrix: sp.csc_array, cost: Floats, prices: Floats) -> Floats:
    """(n,) reduced cost of each entry at prices of its rows, ``c + G'p``.

    Args:
        matrix: G, (rows, n).
        cost: c, (n,).
        prices: p, (rows,).
    """
    return np.asarray(cost + matrix.T @ prices)


def tallies(
    indices: Ints,
    cap: Ints,
    kind: npt.NDArray[np.int8],
    rows: int,
    kinds: int,
) -> tuple[Longs, Longs]:
    """Count the coefficients of each row, and the entries that each row caps, by kind.

    Args:
        indices: Rows of a CSC matrix' coefficients.
        cap: (n,) row that limits each entry, -1 if none does.
        kind: (n,) kind of each entry, below ``kinds``.
        rows: Number of rows.
        kinds: Number of kinds.

    Returns:
        (rows,) and (rows, kinds).
    """
    capped = np.zeros((rows, kinds), dtype=np.int64)
    held = cap >= 0
    np.add.at(capped, (cap[held], kind[held]), 1)
    return np.bincount(indices, minlength=rows), capped


def least_terms(matrix: sp.csc_array, reach: Floats) -> tuple[Floats, Floats]:
    """The smallest coefficient of each row, and the smallest ``|a_q| reach_q``; inf without any.

    Args:
        matrix: (rows, n), CSC; coefficients of zero do not count.
        reach: (n,) size of each entry, >= 0.

    Returns:
        (rows,) and (rows,).
    """
    size = np.abs(matrix.data)
    found = []
    for term in (size, size * np.repeat(reach, np.diff(matrix.indptr))):
        least = np.full(matrix.shape[0], np.inf)
        np.minimum.at(least, matrix.indices, np.where(term > 0, term, np.inf))
        found.append(least)
    return found[0], found[1]


def negative_rows(matrix: sp.csc_array) -> Bools:
    """(rows,) True on rows with a negative coefficient."""
    out = np.zeros(matrix.shape[0], dtype=np.bool_)
    out[matrix.indices[matrix.data < 0]] = True
    return out


def price_rise(
    row: Ints,
    coefficient: Floats,
    reduced: Floats,
    exempt: Bools,
    rows: int,
) -> Floats:
    """The least rise of each row's price after which no reduced cost of its entries is negative.

    Args:
        row: (n,) the row whose price may rise for the entry, -1 if none.
        coefficient: (n,) coefficient of the entry in that row, > 0.
        reduced: (n,) reduced costs.
        exempt: (n,) True where a negative reduced cost may stay.
        rows: Number of rows.

    Returns:
        (rows,) ``max(0, max_q -reduced/coefficient)`` over each row's entries.
    """
    out = np.zeros(rows)
    use = (row >= 0) & ~exempt & (reduced < 0)
    np.maximum.at(out, row[use], -reduced[use] / coefficient[use])
    return out


def first_rows(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    rank: npt.NDArray[np.int8],
) -> tuple[Ints, Floats]:
    """The row of best rank among the rows with a positive coefficient in each column.

    Args:
        indptr: of a CSC matrix with n columns.
        indices: its rows.
        data: its coefficients.
        rank: (rows,) ranks; lower is better, negative ranks are excluded.

    Returns:
        (n,) row of each column, -1 if there is none, and (n,) its coefficient, 1 if there is none.
    """
    n = len(indptr) - 1
    row, coefficient = np.full(n, -1, dtype=np.int32), np.ones(n)
    for q in range(n):
        for m in range(indptr[q], indptr[q + 1]):
            k = indices[m]
            wanted = rank[k] >= 0 and data[m] > 0
            if wanted and (row[q] < 0 or rank[k] < rank[row[q]]):
                row[q], coefficient[q] = k, data[m]
    return row, coefficient
