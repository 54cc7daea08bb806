"""Every job alone on its equal part of every type: what Gavel's finish-time ratios divide by."""

from __future__ import annotations

import numpy as np

from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy


def isolated() -> Policy:
    """The policy: with n jobs there, one of s workers has W_t / (n s) of its time on type t.

    In sum a job has at most all its time. No type comes before another.
    """

    def decide(snapshot: JobsSnapshot) -> Shares:
        part = snapshot.workers / max(len(snapshot), 1) / snapshot.size[:, None]
        part = part / np.maximum(part.sum(axis=1, keepdims=True), 1.0)
        return snapshot.shares(part * snapshot.fits, policy="isolated", blind=True)

    return decide
