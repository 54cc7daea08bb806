"""Rows of a scheduling problem, written directly into one compressed sparse column matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.domains.cluster_scheduling.cluster import Cluster
from walras.domains.cluster_scheduling.entries import Entries
from walras.domains.cluster_scheduling.quota import Limits
from walras.separable import Family, Rows, Separable, Side, Utility
from walras.types import Floats, Ints

# 32 bits if they suffice, else 64.
_Index = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, eq=False)
class Block:
    """A family of rows with at most one coefficient for each entry.

    Attributes:
        name: The family's name.
        labels: (rows,) labels.
        row: (entries,) row of each entry within the block, -1 if none.
        coefficient: Computes each entry's coefficient, (entries,) or one for all. It is called when
            the rows are written, so that only one such array exists at a time.
        upper: (rows,) upper bounds; the lower ones are infinite.
        side: (rows,) values of :class:`Side`.
        owner: (rows,) owning resource or demand, -1 if coupled.
        utility: The cost that the rows carry.
        weight: (rows,) weights of that cost, or one for all.
        parameter: Parameter of that cost.
        scalar: (rows,) coefficients of the shared scalar, or one for all; 0 if none.
    """

    name: str
    labels: Sequence[str]
    row: Ints
    coefficient: Callable[[], Floats | float]
    upper: Floats
    side: np.ndarray[tuple[int], np.dtype[np.int8]]
    owner: Ints
    utility: Utility = Utility.NONE
    weight: Floats | float = 1.0
    parameter: float = 0.0
    scalar: Floats | float = 0.0

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.upper)


def capacity(cluster: Cluster, entries: Entries) -> Block:
    """``sum_j size_ij x_ij <= capacity_i``: GPUs of each type, averaged over the round."""
    m = cluster.resources
    return Block(
        "capacity",
        cluster.resource_names,
        entries.resource,
        lambda: cluster.size[entries.resource, entries.demand],
        cluster.capacity,
        np.full(m, Side.RESOURCE, np.int8),
        np.arange(m, dtype=np.int32),
    )


def time(cluster: Cluster, entries: Entries) -> Block:
    """``sum_i x_ij <= 1``: shares of the round."""
    return _per_job("time", cluster, entries, lambda: 1.0, upper=np.ones(cluster.jobs))


def floor(cluster: Cluster, entries: Entries, least: Floats) -> Block:
    """``-sum_i throughput_ij x_ij <= -least_j``: no job is below its promised throughput."""
    return _per_job("floor", cluster, entries, lambda: -entries.throughput, upper=-least)


def shortfall(cluster: Cluster, entries: Entries, weight: Floats) -> Block:
    """``t - sum_i throughput_ij x_ij / weight_j <= 0``: no job is below the scalar t."""
    return _per_job(
        "throughput",
        cluster,
        entries,
        lambda: entries.throughput / (-weight)[entries.demand],
        upper=np.zeros(cluster.jobs),
        scalar=1.0,
    )


def rise(cluster: Cluster, entries: Entries, base: Floats, pace: Floats) -> Block:
    """``pace_j t - sum_i throughput_ij x_ij <= -base_j``: a job rises with t from its base."""
    return _per_job(
        "throughput", cluster, entries, lambda: -entries.throughput, upper=-base, scalar=pace
    )


def utility(cluster: Cluster, entries: Entries, kind: Utility, parameter: float) -> Block:
    """``y_j = sum_i throughput_ij x_ij`` with a concave utility of y_j."""
    return _per_job(
        "throughput",
        cluster,
        entries,
        lambda: entries.throughput,
        upper=np.full(cluster.jobs, np.inf),
        utility=kind,
        parameter=parameter,
    )


def _per_job(
    name: str,
    cluster: Cluster,
    entries: Entries,
    coefficient: Callable[[], Floats | float],
    *,
    upper: Floats,
    utility: Utility = Utility.NONE,
    parameter: float = 0.0,
    scalar: Floats | float = 0.0,
) -> Block:
    n = cluster.jobs
    weight = cluster.weight if utility != Utility.NONE else 1.0
    return Block(
        name,
        cluster.demand_names,
        entries.demand,
        coefficient,
        upper,
        np.full(n, Side.DEMAND, np.int8),
        np.arange(n, dtype=np.int32),
        utility,
        weight,
        parameter,
        scalar,
    )


def activity(problem: Separable, family: str, x: Floats) -> Floats:
    """(rows,) values of a family's rows at an allocation of (entries,) shares, scalars left out."""
    rows = next(each for each in problem.rows.families if each.name == family)
    return np.asarray(problem.rows.matrix[rows.start : rows.stop, :] @ x)


def quotas(cluster: Cluster, entries: Entries, limits: Limits) -> list[Block]:
    """``sum_(j in group) sum_i size_ij x_ij <= limit``: one block for each depth of nesting."""
    blocks = []
    for depth, group in enumerate(limits.level):
        here = np.unique(group[group >= 0])
        position = np.full(len(limits.names) + 1, -1, dtype=np.int32)
        position[here] = np.arange(len(here), dtype=np.int32)
        first = np.full(len(here), -1, dtype=np.int32)
        jobs = np.flatnonzero(group >= 0).astype(np.int32)
        first[position[group[jobs]]] = jobs
        alone = limits.members[here] == 1  # the quota of a single job is that job's own row
        blocks.append(
            Block(
                "quota" if depth == 0 else f"quota, depth {depth + 1}",
                [limits.names[g] for g in here],
                position[group][entries.demand],
                lambda: cluster.size[entries.resource, entries.demand],
                limits.limit[here],
                np.where(alone, Side.DEMAND, Side.COUPLED).astype(np.int8),
                np.where(alone, first, -1).astype(np.int32),
            )
        )
    return blocks


def assemble(blocks: Sequence[Block], entries: int) -> Rows:
    """Stack blocks into rows; their coefficients are interleaved column by column.

    Args:
        blocks: The families, in the order of their rows.
        entries: Number of entries.
    """
    starts = np.cumsum([0, *(block.count for block in blocks)])
    scalars = any(np.any(block.scalar) for block in blocks)

    def column(values: Sequence[object], kind: type[np.generic]) -> npt.NDArray[Any]:
        parts = [
            np.broadcast_to(np.asarray(value, dtype=kind), block.count)
            for value, block in zip(values, blocks, strict=True)
        ]
        return np.concatenate(parts)

    upper = np.concatenate([block.upper for block in blocks])
    e = column([block.scalar for block in blocks], np.float64)
    return Rows(
        matrix=_interleaved(blocks, starts, entries),
        scalar_matrix=e.reshape(-1, 1) if scalars else np.zeros((len(upper), 0)),
        lower=np.full(len(upper), -np.inf),
        upper=upper,
        side=np.concatenate([block.side for block in blocks]),
        owner=np.concatenate([block.owner for block in blocks]),
        utility=column([block.utility for block in blocks], np.int8),
        weight=column([block.weight for block in blocks], np.float64),
        parameter=column([block.parameter for block in blocks], np.float64),
        families=tuple(
            Family(block.name, int(a), int(b), block.labels)
            for block, a, b in zip(blocks, starts, starts[1:], strict=False)
        ),
    )


def _interleaved(blocks: Sequence[Block], starts: Ints, entries: int) -> sp.csc_array:
    kind: type[np.int32 | np.int64] = np.int32 if len(blocks) * entries < 2**31 else np.int64
    fill = _strided if all(block.row.min() >= 0 for block in blocks) else _counted
    columns: Any = fill(blocks, starts, entries, kind)
    matrix = sp.csc_array(columns, shape=(int(starts[-1]), entries))
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def _strided(
    blocks: Sequence[Block], starts: Ints, entries: int, kind: type[np.int32 | np.int64]
) -> tuple[Floats, _Index, _Index]:
    """Interleave blocks when every column has one coefficient in each block."""
    each = len(blocks)
    data = np.empty(each * entries)
    indices = np.empty(each * entries, dtype=kind)
    for k, block in enumerate(blocks):
        data[k::each] = block.coefficient()
        np.add(block.row, starts[k], out=indices[k::each], casting="unsafe")
    return data, indices, np.arange(0, each * entries + 1, each, dtype=kind)


def _counted(
    blocks: Sequence[Block], starts: Ints, entries: int, kind: type[np.int32 | np.int64]
) -> tuple[Floats, _Index, _Index]:
    """Interleave blocks when some blocks leave some columns out."""
    counts = np.zeros(entries, dtype=np.int64)
    for block in blocks:
        counts += block.row >= 0
    pointer = np.zeros(entries + 1, dtype=kind)
    np.cumsum(counts, out=pointer[1:])
    data = np.empty(int(pointer[-1]))
    indices = np.empty(int(pointer[-1]), dtype=kind)
    at = pointer[:-1].astype(np.int64)
    for k, block in enumerate(blocks):
        has = block.row >= 0
        data[at[has]] = np.broadcast_to(block.coefficient(), entries)[has]
        indices[at[has]] = block.row[has] + starts[k]
        at += has
    return data, indices, pointer
