"""Rows of a problem: constraints and utilities, who owns them, and what they are called."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras import checks
from walras.types import Bools, Floats, Ints


class Side(enum.IntEnum):
    """Which side of the allocation owns a row.

    Example:
        >>> from walras.separable import Side
        >>> [side.name for side in Side]
        ['RESOURCE', 'DEMAND', 'COUPLED']
    """

    RESOURCE = 0
    DEMAND = 1
    COUPLED = 2


class Utility(enum.IntEnum):
    """Convex cost f of a row's activity y, with weight w > 0 and a parameter a.

    ``NONE`` marks a constraint row. ``LOG`` and ``POWER`` are the negated utilities of
    alpha-fairness (Mo and Walrand 2000), both need y > 0.

    Example:
        >>> from walras.separable import Utility
        >>> Utility.LOG in list(Utility)
        True
    """

    NONE = 0
    LOG = 1  # f = -w log y
    POWER = 2  # f = -w y^(1-a) / (1-a),  a > 0, a != 1
    QUADRATIC = 3  # f = w/2 (y - a)^2
    CONVEX_POWER = 4  # f = w y^a,  a > 1, y >= 0
    ENTROPY = 5  # f = w y log y,  y >= 0


@dataclass(frozen=True)
class Family:
    """A run of consecutive rows that one user constraint gave rise to.

    Attributes:
        name: The user's word for it, such as ``capacity``.
        start: First row.
        stop: One past the last row.
        labels: One label a row; empty when the rows are numbered.
        plain: Whether the labels are the user's names themselves, without the family's before them.

    Example:
        >>> from walras.separable import Family
        >>> Family("capacity", 0, 2, ["v100", "t4"]).row_name(1)
        'capacity[t4]'
    """

    name: str
    start: int
    stop: int
    labels: Sequence[str] = ()
    plain: bool = False

    def row_name(self, row: int) -> str:
        """The name of a row, such as ``capacity[v100]``.

        Args:
            row: Number of the row among all rows of the problem.

        Returns:
            The name.
        """
        k = row - self.start
        label = str(self.labels[k] if len(self.labels) else k)
        return label if self.plain else f"{self.name}[{label}]"


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of a problem: coefficients, bounds, owners, utilities, names.

    Attributes:
        matrix: G, sparse CSC (rows, entries).
        scalar_matrix: E, dense (rows, scalars).
        lower: (rows,) ``-inf`` where absent; both bounds are infinite on utility rows.
        upper: (rows,) ``inf`` where absent.
        side: (rows,) values of :class:`Side`.
        owner: (rows,) index of the owning resource or demand, -1 on coupled rows.
        utility: (rows,) values of :class:`Utility`.
        weight: (rows,) weight w of a utility, > 0.
        parameter: (rows,) parameter a of a utility.
        families: the runs of rows and their names, covering all rows in order.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> problem = cs.max_min([[2.0, 1.0], [1.0, 2.0]], [1, 1], [1, 1])
        >>> problem.rows.count, [family.name for family in problem.rows.families]
        (6, ['capacity', 'time', 'throughput'])
        >>> problem.rows.name(0)
        'capacity[0]'
    """

    matrix: sp.csc_array
    scalar_matrix: Floats
    lower: Floats
    upper: Floats
    side: npt.NDArray[np.int8]
    owner: Ints
    utility: npt.NDArray[np.int8]
    weight: Floats
    parameter: Floats
    families: tuple[Family, ...]

    def __post_init__(self) -> None:
        check_sparse(self.matrix)
        # Indices of 32 bits where they fit: kernels are compiled for these, not for both.
        indices, indptr = self.matrix.indices, self.matrix.indptr
        if indices.dtype != np.int32 and max(len(indices), *self.matrix.shape) < 2**31:
            short = self.matrix.data, indices.astype(np.int32), indptr.astype(np.int32)
            object.__setattr__(self, "matrix", sp.csc_array(short, shape=self.matrix.shape))
        if not np.all(self.matrix.data):  # an entry is in a row by its coefficient there
            matrix = self.matrix.copy()
            matrix.eliminate_zeros()
            object.__setattr__(self, "matrix", matrix)

    def __repr__(self) -> str:
        families = ", ".join(f"{f.name} {f.stop - f.start}" for f in self.families)
        return f"Rows({self.count} rows, {self.matrix.nnz} nonzeros: {families:.60})"

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.lower)

    def followed_by(
        self,
        matrix: sp.csc_array,
        scalar_matrix: Floats,
        bounds: tuple[Floats, Floats],
        name: str,
        labels: Sequence[str] = (),
    ) -> Rows:
        """These rows, and constraints that couple behind them.

        Args:
            matrix: (more, entries).
            scalar_matrix: (more, scalars).
            bounds: Lower and upper, (more,) each.
            name: Of their family.
            labels: The user's whole names of them, if they have such.

        Returns:
            All rows.
        """
        more = len(bounds[0])
        return Rows(
            matrix=sp.csc_array(sp.vstack([self.matrix, matrix])),
            scalar_matrix=np.vstack([self.scalar_matrix, scalar_matrix]),
            lower=np.append(self.lower, bounds[0]),
            upper=np.append(self.upper, bounds[1]),
            side=np.append(self.side, np.full(more, Side.COUPLED, np.int8)),
            owner=np.append(self.owner, np.full(more, -1, np.int32)),
            utility=np.append(self.utility, np.full(more, Utility.NONE, np.int8)),
            weight=np.append(self.weight, np.ones(more)),
            parameter=np.append(self.parameter, np.zeros(more)),
            families=(
                *self.families,
                Family(name, self.count, self.count + more, labels, plain=len(labels) > 0),
            ),
        )

    @property
    def is_utility(self) -> Bools:
        """(rows,) True where the row carries a utility."""
        return np.not_equal(self.utility, Utility.NONE)

    def name(self, row: int) -> str:
        """The name of a row, such as ``capacity[v100]``.

        Args:
            row: The row's number.

        Returns:
            The name.
        """
        for family in self.families:
            if family.start <= row < family.stop:
                return family.row_name(row)
        return f"row[{row}]"


def bound_sizes(lower: Floats, upper: Floats) -> Floats:
    """(n,) the larger of two bounds in absolute value, where one that is infinite counts as 0.

    Args:
        lower: (n,) lower bounds.
        upper: (n,) upper bounds.
    """
    low, high = (np.where(np.isfinite(bound), np.abs(bound), 0.0) for bound in (lower, upper))
    return np.maximum(low, high)


def check_sparse(matrix: object) -> None:
    """Refuse what is no sparse matrix by columns.

    Raises:
        InputError: It is dense, or sparse in another form.
    """
    checks.of_kind(
        matrix,
        (sp.csc_array, sp.csc_matrix),
        "rows.matrix",
        "a scipy.sparse.csc_array",
        remedy="pass scipy.sparse.csc_array(matrix)",
    )
