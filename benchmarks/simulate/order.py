"""The order of policies by their published cells, beside the order by ours.

Where a cluster is nearly full, mean completion times deviate; which policy is better is then the
check. At each load every two policies are compared whose published cells differ by more than 2 %.
The order is kept where ours differ in the same direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import pandas as pd

CLOSE = 0.02
"""Published cells that differ by at most this part of the larger one have no order."""


def order(frame: pd.DataFrame, least: Mapping[str, float]) -> pd.DataFrame:
    """One row a trace and load at which two policies or more have cells.

    Args:
        frame: Cells: ``trace``, ``policy``, ``rate``, ``published`` and ``ours``.
        least: Trace -> the least load at which the order is asked.

    Returns:
        Columns ``trace``, ``rate``, ``policies`` (their number), ``pairs``, ``kept`` (pairs whose
        order is the published one) and ``swapped`` (the others by name: the published better one,
        then the other).
    """
    high = frame[frame["rate"] >= frame["trace"].map(least) - 1e-9].dropna(subset="published")
    found = []
    for (trace, rate), cells in high.groupby(["trace", "rate"]):
        cells = cells.sort_values("published", kind="stable")
        listed = list(zip(*(cells[name] for name in ("policy", "published", "ours")), strict=True))
        apart = [
            (better, worse)
            for better, worse in combinations(listed, 2)
            if worse[1] - better[1] > CLOSE * worse[1]
        ]
        swapped = [f"{a[0]} / {b[0]}" for a, b in apart if not a[2] < b[2]]
        if apart:
            found.append(
                {
                    "trace": trace,
                    "rate": rate,
                    "policies": len(listed),
                    "pairs": len(apart),
                    "kept": len(apart) - len(swapped),
                    "swapped": ", ".join(swapped),
                }
            )
    return pd.DataFrame(found, columns=["trace", "rate", "policies", "pairs", "kept", "swapped"])


def verdict(frame: pd.DataFrame, least: Mapping[str, float]) -> str:
    """The orders as text, with their sum."""
    found = order(frame, least)
    if not len(found):
        return "Order of policies at high loads: no two policies have cells."
    whole = f"{found['kept'].sum()} of {found['pairs'].sum()} pairs"
    return f"Order of policies at high loads, as published: {whole}\n" + found.to_string(
        index=False, float_format="{:.1f}".format
    )
