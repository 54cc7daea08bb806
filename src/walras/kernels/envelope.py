"""Bordered normal equations, factorised within their envelope.

Row i of the lower triangle is kept from its first entry on. A factor L D L' has no entry outside:
with rows that few columns join it is as sparse as the matrix, and with full rows it is dense. The
border makes the system quasidefinite; every order of its rows then has a factor (Vanderbei, SIAM J.
Optim. 1995). Source of envelopes: George and Liu, Computer Solution of Large Sparse Positive
Definite Systems, 1981, section 4.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from walras.kernels.parallel import jit
from walras.types import Floats, Ints, Longs

_LEAST = 1e-14  # pivot, relative to the diagonal: rounding


class BorderedNormal:
    """The system [A diag(d) A' + diag(e), l; l', -h] for many d and e > 0, l and h >= 0.

    Args:
        matrix: (R, C) A, by columns; entries that are there twice count twice.

    Example:
        >>> import numpy as np, scipy.sparse as sp
        >>> from walras.kernels.envelope import BorderedNormal
        >>> system = BorderedNormal(sp.csc_array(np.array([[1.0], [2.0]])))
        >>> system.factorise(np.array([1.0]), np.array([1.0, 1.0]), np.array([1.0, 0.0]))
        >>> system.solve(np.array([6.0, 7.0, 1.0])).round(12).tolist()
        [1.0, 1.0, 2.0]
    """

    def __init__(self, matrix: sp.csc_array) -> None:
        rows = matrix.shape[0]
        self._columns = matrix.indptr, matrix.indices, matrix.data
        self._first = np.arange(rows + 1)
        self._first[rows] = 0
        _reach(*self._columns[:2], self._first)
        width = np.arange(1, rows + 2) - self._first
        self._begin = np.concatenate([[0], np.cumsum(width)]) - np.append(self._first, 0)
        self._made = self._factor = np.zeros(self._begin[-1])

    def factorise(self, d: Floats, e: Floats, border: Floats, corner: float = 0.0) -> None:
        """Take d (C,), e (R,), l (R,) and h."""
        first, begin = self._first, self._begin
        self._made = np.zeros(begin[-1])
        _assemble(*self._columns, d, e, border, begin, self._made)
        self._made[-1] -= corner
        self._factor = self._made.copy()
        _factorise(first, begin, self._factor)

    def solve(self, right: Floats) -> Floats:
        """(R + 1,) the solution for a right-hand side, refined once."""
        found = right.copy()
        _solve(self._first, self._begin, self._factor, found)
        wrong = right.copy()
        _subtract(self._first, self._begin, self._made, found, wrong)
        _solve(self._first, self._begin, self._factor, wrong)
        return np.asarray(found + wrong)


class BoundedNewton:
    """The steps of an interior-point method whose columns are free but for rows that bound them.

    For rows A, a border c and bounds f > 0 of the columns the systems are

        A'y - f z = p,  c'y = q,  A x + c l - h y = r,  -f x - g z = s.

    Args:
        matrix: (R, C) A, by columns; entries that are there twice count twice.
        border: (R,) c >= 0.
        bounds: (C,) f.

    Example:
        >>> import numpy as np, scipy.sparse as sp
        >>> from walras.kernels.envelope import BoundedNewton
        >>> system = BoundedNewton(sp.csc_array(np.ones((1, 1))), np.ones(1), np.ones(1))
        >>> system.factorise(np.array([1.0, 2.0]))
        >>> xl, yz = system.solve(np.array([1.0, 3.0]), np.array([1.0, -1.0]))
        >>> xl.round(12).tolist(), yz.round(12).tolist()
        ([-3.0, 7.0], [3.0, 2.0])
    """

    def __init__(self, matrix: sp.csc_array, border: Floats, bounds: Floats) -> None:
        self._columns = matrix.indptr, matrix.indices, matrix.data
        self._normal = BorderedNormal(matrix)
        self._border, self._bounds = border, bounds

    def factorise(self, h: Floats) -> None:
        """Take (R + C,) h and g, > 0."""
        rows = len(self._border)
        self._h, self._reach = h, h[rows:] / self._bounds**2
        self._normal.factorise(self._reach, h[:rows], self._border)

    def solve(self, p: Floats, r: Floats) -> tuple[Floats, Floats]:
        """(C + 1,) x and l, and (R + C,) y and z, for (C + 1,) p and q and (R + C,) r and s."""
        x, y = np.zeros(len(p)), np.zeros(len(r))
        right = np.zeros(len(self._border) + 1)
        _onto_rows(*self._columns, self._bounds, self._h, self._reach, p, r, right)
        found = self._normal.solve(right)
        _back(*self._columns, self._bounds, self._h, self._reach, p, r, found, x, y)
        return x, y


@jit
def _reach(indptr: Ints, indices: Ints, first: Longs) -> None:
    """Find the first entry of each row: the first row that shares a column with it."""
    for c in range(len(indptr) - 1):
        column = indices[indptr[c] : indptr[c + 1]]
        if len(column):
            least = column.min()
            for r in column:
                first[r] = min(first[r], least)


@jit
def _assemble(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    d: Floats,
    e: Floats,
    border: Floats,
    begin: Longs,
    out: Floats,
) -> None:
    """Sum the products of entries that share a column; entry (i, j) is at ``begin[i] + j``."""
    for c in range(len(d)):
        for m in range(indptr[c], indptr[c + 1]):
            i, scaled = indices[m], d[c] * data[m]
            for k in range(indptr[c], indptr[c + 1]):
                if indices[k] <= i:
                    out[begin[i] + indices[k]] += scaled * data[k]
    rows = len(e)
    for i in range(rows):
        out[begin[i] + i] += e[i]
        out[begin[rows] + i] = border[i]


@jit
def _factorise(first: Longs, begin: Longs, a: Floats) -> None:
    """Replace rows by those of L, and the diagonal by D.

    With w_ij = l_ij d_j: w_ij = a_ij - Σ_{k<j} w_ik l_jk and d_i = a_ii - Σ_j w_ij l_ij. A pivot
    that is lost in rounding is set to the least that can be told from it.
    """
    last = len(first) - 1
    for i in range(last + 1):
        at = begin[i]
        for j in range(first[i], i):
            total, other = 0.0, begin[j]
            for k in range(max(first[i], first[j]), j):
                total += a[at + k] * a[other + k]
            a[at + j] -= total
        whole = a[at + i]
        for j in range(first[i], i):
            scaled = a[at + j] / a[begin[j] + j]
            a[at + i] -= a[at + j] * scaled
            a[at + j] = scaled
        if i < last:
            a[at + i] = max(a[at + i], _LEAST * whole)


@jit
def _solve(first: Longs, begin: Longs, factor: Floats, x: Floats) -> None:
    """Replace a right-hand side by its solution: L, then D, then L'."""
    for i in range(len(x)):
        total = 0.0
        for j in range(first[i], i):
            total += factor[begin[i] + j] * x[j]
        x[i] -= total
    for i in range(len(x)):
        x[i] /= factor[begin[i] + i]
    for i in range(len(x) - 1, -1, -1):
        for j in range(first[i], i):
            x[j] -= factor[begin[i] + j] * x[i]


@jit
def _subtract(first: Longs, begin: Longs, a: Floats, x: Floats, out: Floats) -> None:
    """Subtract the symmetric matrix times x."""
    for i in range(len(x)):
        total = a[begin[i] + i] * x[i]
        for j in range(first[i], i):
            total += a[begin[i] + j] * x[j]
            out[j] -= a[begin[i] + j] * x[i]
        out[i] -= total


@jit
def _onto_rows(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    bounds: Floats,
    h: Floats,
    reach: Floats,
    p: Floats,
    r: Floats,
    out: Floats,
) -> None:
    """The right-hand side of the rows, where columns and bounds are eliminated."""
    rows = len(out) - 1
    for i in range(rows):
        out[i] = -r[i]
    out[rows] = p[len(reach)]
    for c in range(len(reach)):
        left = reach[c] * (p[c] - bounds[c] * r[rows + c] / h[rows + c])
        for m in range(indptr[c], indptr[c + 1]):
            out[indices[m]] += data[m] * left


@jit
def _back(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    bounds: Floats,
    h: Floats,
    reach: Floats,
    p: Floats,
    r: Floats,
    found: Floats,
    x: Floats,
    y: Floats,
) -> None:
    """Columns and prices of the bounds from those of the rows."""
    rows = len(found) - 1
    for i in range(rows):
        y[i] = found[i]
    x[len(reach)] = -found[rows]
    for c in range(len(reach)):
        beside = r[rows + c] / h[rows + c]
        left = p[c] - bounds[c] * beside
        for m in range(indptr[c], indptr[c + 1]):
            left -= data[m] * found[indices[m]]
        x[c] = reach[c] * left
        y[rows + c] = -bounds[c] / h[rows + c] * x[c] - beside
