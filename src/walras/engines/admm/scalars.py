"""Shared scalars without sharing: as entries without owner, or as one copy for each demand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from walras.separable import Rows, Separable, Side
from walras.types import Floats, Ints


def lifted(problem: Separable) -> Separable:
    """Turn scalars into entries without owner, behind the others; their rows couple."""
    rows, s = problem.rows, problem.scalars
    held = np.any(rows.scalar_matrix != 0, axis=1)
    matrix = sp.csc_array(sp.hstack([rows.matrix, sp.csc_array(rows.scalar_matrix)]))
    nobody, none = np.full(s, -1, np.int32), np.zeros(0)
    coupled = replace(
        rows,
        scalar_matrix=np.zeros((rows.count, 0)),
        side=np.where(held, Side.COUPLED, rows.side).astype(np.int8),
        owner=np.where(held, -1, rows.owner).astype(np.int32),
    )
    alone = replace(
        problem,
        scalar_cost=none,
        scalar_lower=none,
        scalar_upper=none,
        scalar_names=(),
        rows=coupled,
    )
    return _with_entries(
        alone,
        nobody,
        nobody,
        problem.scalar_cost,
        problem.scalar_lower,
        problem.scalar_upper,
        replace(coupled, matrix=matrix),
    )


def copied(problem: Separable, owner: Ints) -> Separable:
    """Give each owner with rows of the only scalar t its own copy t_j, with t_j - t = 0.

    Args:
        problem: A problem with one scalar, which is only in rows of single owners.
        owner: (entries,) owners of the entries, demands or resources.
    """
    rows, column = problem.rows, problem.rows.scalar_matrix[:, 0]
    held = np.flatnonzero(column)
    owners, place = np.unique(rows.owner[held], return_inverse=True)
    many, count = len(owners), problem.entries
    mine = sp.csc_array((column[held], (held, place)), shape=(rows.count, many))
    links = sp.csc_array(sp.hstack([sp.csc_array((many, count)), sp.eye_array(many)]))
    whole = sp.csc_array(sp.hstack([rows.matrix, mine]))
    alone = replace(rows, matrix=whole, scalar_matrix=np.zeros((rows.count, 1)))
    other = np.full(many, -1, np.int32)
    pair = (other, owners) if owner is problem.demand else (owners, other)
    low, high = problem.scalar_lower[0], problem.scalar_upper[0]
    zeros = np.zeros(many)
    grown = alone.followed_by(links, np.full((many, 1), -1.0), (zeros, zeros), "copies")
    return _with_entries(
        problem,
        pair[0].astype(np.int32),
        pair[1].astype(np.int32),
        zeros,
        np.full(many, low),
        np.full(many, high),
        grown,
    )


def _with_entries(
    problem: Separable,
    resource: Ints,
    demand: Ints,
    cost: Floats,
    lower: Floats,
    upper: Floats,
    rows: Rows,
) -> Separable:
    """The problem with more entries behind the others."""
    return replace(
        problem,
        resource=np.append(problem.resource, resource).astype(np.int32),
        demand=np.append(problem.demand, demand).astype(np.int32),
        cost=np.append(problem.cost, cost),
        quadratic=np.append(problem.quadratic, np.zeros(len(cost))),
        lower=np.append(problem.lower, lower),
        upper=np.append(problem.upper, upper),
        integer=None,
        rows=rows,
    )
