"""Small problems by hand: entries and rows in words, assembled into a Separable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from walras.separable import Family, Rows, Separable, Side, Utility

INF = np.inf


@dataclass(frozen=True)
class Entry:
    """One entry of the allocation; -1 for an owner it has not."""

    resource: int
    demand: int
    cost: float = 0.0
    lower: float = 0.0
    upper: float = INF
    quadratic: float = 0.0


@dataclass(frozen=True)
class Row:
    """One row; its owner is what its entries have in common, a demand before a resource."""

    name: str
    terms: Mapping[int, float]
    lower: float = -INF
    upper: float = INF
    utility: Utility = Utility.NONE
    weight: float = 1.0
    parameter: float = 0.0
    scalars: Mapping[int, float] = field(default_factory=dict)
    side: Side | None = None


@dataclass(frozen=True)
class Scalar:
    """One shared scalar."""

    cost: float
    lower: float = -INF
    upper: float = INF


def state(
    entries: Sequence[Entry],
    rows: Sequence[Row],
    scalars: Sequence[Scalar] = (),
    *,
    maximize: bool = False,
    constant: float = 0.0,
    gap_scale: float | None = None,
    shape: tuple[int, int] | None = None,
) -> Separable:
    """Assemble; costs are the minimised ones, whatever ``maximize`` says."""
    resource = np.array([e.resource for e in entries], dtype=np.int32)
    demand = np.array([e.demand for e in entries], dtype=np.int32)
    m, n = shape or (int(resource.max()) + 1, int(demand.max()) + 1)

    def of(name: str) -> np.ndarray:
        return np.array([getattr(e, name) for e in entries], dtype=np.float64)

    return Separable(
        resource=resource,
        demand=demand,
        cost=of("cost"),
        quadratic=of("quadratic"),
        lower=of("lower"),
        upper=of("upper"),
        scalar_cost=np.array([s.cost for s in scalars], dtype=np.float64),
        scalar_lower=np.array([s.lower for s in scalars], dtype=np.float64),
        scalar_upper=np.array([s.upper for s in scalars], dtype=np.float64),
        rows=_rows(rows, resource, demand, len(scalars)),
        resource_names=[f"r{i}" for i in range(m)],
        demand_names=[f"d{j}" for j in range(n)],
        scalar_names=[f"t{k}" for k in range(len(scalars))],
        maximize=maximize,
        constant=constant,
        gap_scale=gap_scale,
    )


def _rows(rows: Sequence[Row], resource: np.ndarray, demand: np.ndarray, scalars: int) -> Rows:
    matrix = sp.lil_array((len(rows), len(resource)))
    shared = np.zeros((len(rows), scalars))
    side = np.full(len(rows), Side.COUPLED, dtype=np.int8)
    owner = np.full(len(rows), -1, dtype=np.int32)
    for k, row in enumerate(rows):
        for q, coefficient in row.terms.items():
            matrix[k, q] = coefficient
        for s, coefficient in row.scalars.items():
            shared[k, s] = coefficient
        side[k], owner[k] = _owner(row, resource, demand)

    def of(name: str) -> np.ndarray:
        return np.array([getattr(row, name) for row in rows], dtype=np.float64)

    return Rows(
        matrix=sp.csc_array(matrix),
        scalar_matrix=shared,
        lower=of("lower"),
        upper=of("upper"),
        side=side,
        owner=owner,
        utility=np.array([row.utility for row in rows], dtype=np.int8),
        weight=of("weight"),
        parameter=of("parameter"),
        families=tuple(
            Family(row.name.split("[")[0], k, k + 1, (row.name.split("[")[1].rstrip("]"),))
            for k, row in enumerate(rows)
        ),
    )


def _owner(row: Row, resource: np.ndarray, demand: np.ndarray) -> tuple[Side, int]:
    held = list(row.terms)
    for side, owners in ((Side.DEMAND, demand), (Side.RESOURCE, resource)):
        if held and row.side in (None, side):
            first = int(owners[held[0]])
            if first >= 0 and np.all(owners[held] == first):
                return side, first
    return Side.COUPLED, -1
