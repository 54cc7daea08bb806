"""A check whether a time limit ends before HiGHS or the first-order engine could begin."""

from __future__ import annotations

from walras.separable import Separable
from walras.settings import Settings

# Least seconds for each coefficient that the setups of HiGHS and the first-order engine take
# (912,000 entries: 1.0 and 1.2 s, on a core of an Intel Xeon at 2.3 GHz).
_COEFFICIENT_SECONDS = 0.5e-6
_NEGLIGIBLE_SETUP = 0.05  # seconds of setup up to which an engine always begins, whatever the limit
GRACE = 0.1  # seconds for a first point if the limit leaves no time


def is_too_short(problem: Separable, settings: Settings) -> bool:
    """Whether the time limit is shorter than the setup of HiGHS or the first-order engine."""
    setup = _COEFFICIENT_SECONDS * problem.rows.matrix.nnz
    limit = settings.time_limit
    return limit is not None and setup > _NEGLIGIBLE_SETUP and limit < setup
