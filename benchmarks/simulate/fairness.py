"""Gavel's published finish-time ratios, cell by cell, beside ours.

A cell is the mean, over jobs 4000 to 4999, of a job's completion time by its completion time in a
run of the same stream where every job has an equal part of every type (``isolated``). The cells are
printed to two decimals: half of the last digit is 0.5 to 0.7 % of most cells.

The cells that have been measured are in ``benchmarks/results``, and ``records`` sums them up. Where
jobs have no more time than they need, these ratios are those of the mean completion times in
``gavel``, and deviate for the same reasons.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from benchmarks.simulate import gavel
from walras.simulate import Run

SHAPES = {"single": "continuous-single FTF", "multiple": "continuous-multiple FTF"}


@cache
def alone(shape: str, rate: float) -> Run:
    """The run with equal parts."""
    return gavel.simulate(gavel.Cell(shape, "isolated", rate, np.nan))


def mean_ratio(cell: gavel.Cell, done: Run) -> float:
    """The mean ratio of the measured jobs; they are the same however long both streams go on."""
    return float((done.completion / alone(cell.shape, cell.rate).completion).mean())


measure = partial(gavel.measure, of=mean_ratio)
"""Published, ours, deviation of a cell, and what the run took."""
