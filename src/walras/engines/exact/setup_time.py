"""Limits that end before an engine can begin: what is to be had in a look at the data."""

from __future__ import annotations

from walras.separable import Separable
from walras.settings import Settings

# Seconds a coefficient that HiGHS' and the first-order engine's setup surely take (912,000 entries:
# 1.0 and 1.2 s, on a core of an Intel Xeon at 2.3 GHz).
_A_COEFFICIENT = 0.5e-6
_LONG = 0.05  # seconds of setup up to which an engine begins in any case
GRACE = 0.1  # seconds that a first point gets where a limit left none


def is_too_short(problem: Separable, settings: Settings) -> bool:
    """Whether the time is over before HiGHS or the first-order engine would begin."""
    setup = _A_COEFFICIENT * problem.rows.matrix.nnz
    limit = settings.time_limit
    return limit is not None and setup > _LONG and limit < setup
