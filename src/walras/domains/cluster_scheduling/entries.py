"""The entries of a scheduling problem: one for each pair, or two if moving GPUs has a price."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from walras import checks
from walras.domains.cluster_scheduling import matrices
from walras.domains.cluster_scheduling.cluster import Cluster
from walras.domains.cluster_scheduling.matrices import Matrix
from walras.errors import InputError
from walras.types import Floats, Ints

_ROUNDING = 1e-6  # amount by which a share of time may exceed one


@dataclass(frozen=True, eq=False)
class Entries:
    """Columns of the problem, ordered job by job.

    Attributes:
        throughput: (entries,) speed.
        resource: (entries,) owning resource.
        demand: (entries,) owning job.
        cost: (entries,) price of churn, to be minimised.
        upper: (entries,) upper bound.
        constant: Cost of churn when all previous shares are given up.
    """

    throughput: Floats
    resource: Ints
    demand: Ints
    cost: Floats
    upper: Floats
    constant: float


def of_cluster(cluster: Cluster) -> Entries:
    """One entry for each pair, with x >= 0 only, since a job's time row implies x <= 1."""
    free, upper = constant(0.0, cluster.pairs), constant(np.inf, cluster.pairs)
    return Entries(cluster.throughput, cluster.resource, cluster.demand, free, upper, 0.0)


def constant(value: float, count: int) -> Floats:
    """(count,) one number repeated, without an array of that size."""
    return np.broadcast_to(value, count)


def with_churn(cluster: Cluster, previous: Matrix, churn: float, *, whole: bool = False) -> Entries:
    """Entries whose cost is ``churn * sum_ij size_ij |x_ij - previous_ij|``.

    A pair that ran before becomes two entries whose sum is x. The kept part, up to the previous
    share, saves the cost of giving it up; the added part pays for itself:

        k s |x - x0| = k s x0 + min{-k s a + k s b : a + b = x, 0 <= a <= x0, b >= 0}.

    If x is 0 or 1, one entry suffices: ``|x - x0| = x0 + (1 - 2 x0) x``.

    Args:
        cluster: The instance.
        previous: (resources, jobs) shares of time before. A labelled frame is matched by label;
            departed jobs and types are left out, and new ones start at 0.
        churn: Price k >= 0 of a GPU given or taken; a move between types is both.
        whole: Whether shares must be 0 or 1.

    Raises:
        InputError: ``previous`` or ``churn`` is not usable.
    """
    words, remedy = " per GPU", "state it in units of the objective"
    churn = checks.number(churn, "churn", 0.0, words=words, remedy=remedy)
    share, unlisted = _shares(cluster, previous)
    price = churn * cluster.size[cluster.resource, cluster.demand]
    paid = float(share @ price) + churn * unlisted
    if whole:
        plain = of_cluster(cluster)
        return replace(plain, cost=price * (1.0 - 2.0 * share), constant=paid)
    twice = np.where(share > 0, 2, 1)
    pair = np.repeat(np.arange(cluster.pairs), twice)
    kept = np.zeros(len(pair), dtype=np.bool_)
    kept[np.cumsum(twice)[share > 0] - 2] = True
    return Entries(
        throughput=cluster.throughput[pair],
        resource=cluster.resource[pair],
        demand=cluster.demand[pair],
        cost=np.where(kept, -price[pair], price[pair]),
        upper=np.where(kept, share[pair], np.inf),
        constant=paid,
    )


def _shares(cluster: Cluster, previous: Matrix) -> tuple[Floats, float]:
    """Previous share of each runnable pair, and GPUs held on pairs that no longer can run."""
    before = _in_order(cluster, previous)
    row, column, value = before.row, before.col, before.data

    def where(at: tuple[int, ...]) -> str:
        i, j = int(row[at[0]]), int(column[at[0]])
        return f"previous[{cluster.resource_names[i]}, {cluster.demand_names[j]}]"

    checks.within(value, where, 0.0, 1.0 + _ROUNDING, remedy="give shares of time, not GPUs")
    m = cluster.resources
    pairs = cluster.demand.astype(np.int64) * m + cluster.resource
    wanted = column.astype(np.int64) * m + row
    at = np.minimum(np.searchsorted(pairs, wanted), cluster.pairs - 1)
    listed = pairs[at] == wanted
    share = np.zeros(cluster.pairs)
    np.add.at(share, at[listed], value[listed])
    return share, float(value[~listed] @ cluster.size[row, column][~listed])


def _check_some_known(
    at: npt.NDArray[np.signedinteger], names: tuple[str, ...], side: str, where: str
) -> None:
    if len(at) and np.all(at < 0):
        raise InputError(
            f"none is a {side} of throughput; the first is '{names[0]}'",
            where=where,
            allowed=f"labels of which some are {side}s of throughput",
            remedy="give throughput and previous the same labels, or leave previous out",
        )


def _in_order(cluster: Cluster, previous: Matrix) -> sp.coo_array:
    """The previous shares by position in the present cluster; departed labels are left out."""
    shape = (cluster.resources, cluster.jobs)
    if isinstance(previous, pd.DataFrame):
        rows = matrices.labels(previous.index, "rows of previous") or ()
        columns = matrices.labels(previous.columns, "columns of previous") or ()
        row = pd.Index(cluster.resource_names).get_indexer(pd.Index(rows))
        column = pd.Index(cluster.demand_names).get_indexer(pd.Index(columns))
        _check_some_known(row, rows, "resource", "rows of previous")
        _check_some_known(column, columns, "job", "columns of previous")
        known = checks.numeric(previous, "previous")[np.ix_(row >= 0, column >= 0)]
        i, j = np.nonzero(known)
        return sp.coo_array((known[i, j], (row[row >= 0][i], column[column >= 0][j])), shape=shape)
    if isinstance(previous, matrices.SPARSE):
        sparse = matrices.compressed(previous, "previous")
        matrices.shaped(sparse, shape, "previous", "as throughput")
        return sparse.tocoo()
    dense = checks.numeric(previous, "previous")
    matrices.shaped(dense, shape, "previous", "as throughput")
    return sp.coo_array(dense)
