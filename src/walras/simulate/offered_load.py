"""Whether a cluster can keep up with a trace: the offered load, by type of workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy
import scipy.sparse as sp

from walras.errors import DataError
from walras.simulate.cluster import Cluster
from walras.simulate.trace import Trace
from walras.text import duration
from walras.types import Floats, Longs

_SLACK = 1e-9  # by which the second program may exceed the load of the first
_DIGITS = 12  # of ratios of work, by which jobs are grouped


@dataclass(frozen=True, eq=False)
class OfferedLoad:
    """The work that a trace brings, against what a cluster can do while it arrives.

    Jobs that run on several types are split among them so that the most loaded type is as little
    loaded as can be, whatever a policy does; of these splits, the one with the least worker-time.

    Attributes:
        types: (T,) types of the cluster.
        workers: (T,) workers of each type.
        jobs: (T,) jobs that can run on the type.
        only: (T,) worker-seconds of jobs that can run on no other type.
        work: (T,) worker-seconds that the split puts on the type.
        span: Seconds from the first arrival to the last.
        misfits: Names of jobs that can run on no type; they are left out.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.Trace.of(["a", "b", "c"], arrival=[0, 50, 100], steps=[90, 90, 90])
        >>> print(wl.simulate.check_load(trace, wl.simulate.Cluster({"type 0": 2})))
        offered load 135 % over 1.66667 min, above 100 %: no policy keeps up; queues grow
    """

    types: tuple[str, ...]
    workers: Longs
    jobs: Longs
    only: Floats
    work: Floats
    span: float
    misfits: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """Seconds for which the most loaded type works: no policy ends all jobs sooner."""
        return float((self.work / self.workers).max())

    @property
    def total(self) -> float:
        """Load of the most loaded type; infinite where all jobs arrive at once."""
        return self.seconds / self.span if self.span else float("inf")

    @property
    def saturated(self) -> bool:
        """Whether jobs arrive faster than any policy can run them; not where all arrive at once."""
        return self.span > 0.0 and self.total > 1.0

    def frame(self) -> pd.DataFrame:
        """One row a type.

        Returns:
            Columns ``type``, ``workers``, ``jobs`` that can run there, ``only here`` (load of jobs
            that can run on no other type), ``load`` (share of the worker-seconds from the first
            arrival to the last), and ``hours`` for which the type works.
        """
        capacity = self.workers * self.span
        with np.errstate(divide="ignore", invalid="ignore"):
            loads = {"only here": self.only / capacity, "load": self.work / capacity}
        columns = {"type": self.types, "workers": self.workers, "jobs": self.jobs}
        return pd.DataFrame(columns | loads | {"hours": self.work / self.workers / 3600})

    def __str__(self) -> str:
        if not self.span:
            return f"all jobs arrive at once: at least {duration(self.seconds)} of work"
        said = f"offered load {100 * self.total:.4g} % over {duration(self.span)}"
        return said + (", above 100 %: no policy keeps up; queues grow" if self.saturated else "")


def check_load(trace: Trace, cluster: Cluster) -> OfferedLoad:
    """How much of a cluster a trace needs: above 100 %, its queues grow under every policy.

    With a_jt the worker-seconds of job j on type t, W_t its workers and x_jt the share of the job's
    work that type t does, it solves min max_t Σ_j a_jt x_jt / W_t over Σ_t x_jt = 1, x >= 0. Jobs
    whose work has the same ratios between types are one column. The linear program is SciPy's.

    Args:
        trace: The jobs.
        cluster: The workers.

    Returns:
        The load by type.

    Raises:
        InputError: The trace knows no speeds on a type of the cluster.
        DataError: No job fits.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.gavel_trace(rate=2.0, jobs=500, synthetic=True)
        >>> load = wl.simulate.check_load(trace, wl.simulate.Cluster({"v100": 8, "k80": 8}))
        >>> load.saturated, load.frame()["type"].tolist()
        (True, ['v100', 'k80'])
    """
    fits = trace.fits(cluster)
    misfits = tuple(name for name, fit in zip(trace.name, fits, strict=True) if not fit)
    if not fits.any():
        raise DataError(f"no job fits in {cluster}", where="trace", allowed="at least one")
    jobs = trace.only(fits)
    with np.errstate(divide="ignore"):
        need = (jobs.size * jobs.steps)[:, None] / jobs.on(cluster)  # infinite where it cannot run
    able = np.isfinite(need)
    alone = able & (able.sum(axis=1, keepdims=True) == 1)
    return OfferedLoad(
        types=cluster.types,
        workers=cluster.workers,
        jobs=able.sum(axis=0),
        only=np.where(alone, need, 0.0).sum(axis=0),
        work=_split(need, cluster.workers.astype(np.float64)),
        span=jobs.span,
        misfits=misfits,
    )


def _split(need: Floats, workers: Floats) -> Floats:
    """(T,) worker-seconds on each type in the split of the least load, then of the least work."""
    least = need.min(axis=1)
    ratio, group = np.unique((need / least[:, None]).round(_DIGITS), axis=0, return_inverse=True)
    amount = np.bincount(group.ravel(), weights=least)  # of each group, on its fastest type
    g, t = np.nonzero(np.isfinite(ratio))
    scale = float((amount @ np.where(np.isfinite(ratio), ratio, 0.0)).max())
    cost = amount[g] * ratio[g, t] / scale
    n, k = len(g), len(amount)
    share: Any = sp.csr_array((np.ones(n), (g, np.arange(n))), (k, n))
    load: Any = sp.csr_array((cost / workers[t], (t, np.arange(n))), (len(workers), n))
    levels: Any = sp.hstack([load, sp.csr_array(-np.ones((len(workers), 1)))], format="csr")
    level = np.append(np.zeros(n), 1.0)
    whole: Any = sp.hstack([share, sp.csr_array((k, 1))], format="csr")
    ones, zeros = np.ones(k), np.zeros(len(workers))
    first: Any = scipy.optimize.linprog(level, A_ub=levels, b_ub=zeros, A_eq=whole, b_eq=ones)
    most = zeros + first.fun * (1.0 + _SLACK)
    second: Any = scipy.optimize.linprog(cost, A_ub=load, b_ub=most, A_eq=share, b_eq=ones)
    x = second.x if second.success else first.x[:n]
    return np.asarray(np.bincount(t, cost * x, len(workers)) * scale, np.float64)
