"""Finish-time fairness of a run: how long a job took, by how long it had taken on its own part."""

from __future__ import annotations

import numpy as np

from walras.errors import InputError
from walras.simulate.result import Run
from walras.types import Floats

UNFAIR = 1.05
"""A job with a larger ratio is treated unfairly; source: the tables of Zheng et al., NSDI 2023."""


def finish_time_ratios(run: Run, alone: str | Run = "there") -> Floats:
    """Finish-time fairness ρ of each job: completion time by time alone on a part of the cluster.

    There are three ways to count the time alone, all of published simulators:

    - ``"there"``: on 1/n of every type, where n is the mean number of jobs in the cluster while the
      job is there (Themis; Mahajan et al., NSDI 2020). A job of s workers has W_t / (n s) of its
      time on type t, and at most all its time in sum (Narayanan et al., OSDI 2020).
    - ``"trace"``: max(1, N / W) times the time on its fastest type, with N jobs in the trace and W
      workers (so in the figures of Zheng et al., NSDI 2023).
    - A run of the same trace with equal parts for all jobs: its completion times (so in the figures
      of Narayanan et al., OSDI 2020).

    Args:
        run: The run.
        alone: ``"there"``, ``"trace"`` or the run to compare with.

    Returns:
        (N,) ratios; NaN where a job did not end, in either run.

    Raises:
        InputError: ``alone`` is something else, or a run of other jobs.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.Trace.of(["a", "b"], steps=[600, 600])
        >>> cluster = wl.simulate.Cluster({"type 0": 1})
        >>> run = wl.simulate.run(trace, cluster, wl.policies.fifo(), round_seconds=0)
        >>> wl.simulate.finish_time_ratios(run, "trace").tolist()
        [0.5, 1.0]
    """
    completion = run.ended - run.arrival
    if isinstance(alone, Run):
        if alone.name != run.name:
            raise InputError(
                "is a run of other jobs",
                where="alone",
                allowed="a run of the same trace",
                remedy="run the same trace with equal parts",
            )
        return np.asarray(completion / (alone.ended - alone.arrival))
    if alone == "trace":
        crowd = max(1.0, len(run.name) / float(run.workers.sum()))
        return np.asarray(completion / (crowd * run.fastest))
    if alone != "there":
        raise InputError(
            f"is {alone!r}",
            where="alone",
            allowed="'there', 'trace' or a run",
            remedy="leave it out for the mean number of jobs that are there",
        )
    return np.asarray(completion * _rate(run, _crowd(run)))


def _crowd(run: Run) -> Floats:
    """(N,) mean number of jobs in the cluster from a job's arrival to its end."""
    if not len(run.round_at):
        return np.ones(len(run.name))
    edges = np.append(run.round_at, max(run.end, float(run.round_at[-1])))
    jobs = np.concatenate([[0.0], np.cumsum(run.active * np.diff(edges))])
    ended = np.nan_to_num(run.ended, nan=run.end)
    seconds = np.maximum(ended - run.arrival, np.finfo(float).tiny)
    there = np.interp(ended, edges, jobs) - np.interp(run.arrival, edges, jobs)
    return np.asarray(np.maximum(there / seconds, 1.0))


def _rate(run: Run, crowd: Floats) -> Floats:
    """(N,) share of its steps that a job does in a second on its part of every type."""
    part = run.workers[None, :] / crowd[:, None] / run.size[:, None]
    part /= np.maximum(part.sum(axis=1, keepdims=True), 1.0)
    return np.asarray((part / run.alone).sum(axis=1))
