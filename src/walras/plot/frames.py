"""Tidy tables for the figures: one observation a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from walras.progress import History
from walras.types import Floats


def allocation_frame(
    x: Floats, resource_names: Sequence[str], demand_names: Sequence[str]
) -> pd.DataFrame:
    """Columns ``resource``, ``demand``, ``share`` (of the round's time); one row a pair.

    Args:
        x: (resources, demands) shares of time.
        resource_names: (resources,) labels.
        demand_names: (demands,) labels.

    Returns:
        The frame.

    Example:
        >>> import numpy as np
        >>> from walras import plot
        >>> frame = plot.allocation_frame(np.array([[0.5, 1.0]]), ["a100"], ["lab", "web"])
        >>> print(frame.to_string(index=False))
        resource demand  share
            a100    lab    0.5
            a100    web    1.0
    """
    return pd.DataFrame(
        {
            "resource": np.repeat(list(resource_names), x.shape[1]),
            "demand": np.tile(list(demand_names), x.shape[0]),
            "share": x.ravel(),
        }
    )


def throughput_frame(throughput: Mapping[str, Floats]) -> pd.DataFrame:
    """Columns ``policy``, ``throughput``; one row a job and policy.

    Args:
        throughput: (jobs,) throughput of each job, by policy.

    Returns:
        The frame.

    Example:
        >>> import numpy as np
        >>> from walras import plot
        >>> plot.throughput_frame({"fair": np.array([1.0, 2.0])}).shape
        (2, 2)
    """
    return pd.concat(
        [pd.DataFrame({"policy": name, "throughput": y}) for name, y in throughput.items()],
        ignore_index=True,
    )


def price_frame(price: Mapping[str, Floats], resource_names: Sequence[str]) -> pd.DataFrame:
    """Columns ``policy``, ``resource``, ``price`` (of one unit more of the resource).

    Args:
        price: (resources,) prices, by policy.
        resource_names: (resources,) labels.

    Returns:
        The frame.

    Example:
        >>> import numpy as np
        >>> from walras import plot
        >>> print(plot.price_frame({"fair": np.array([0.3])}, ["a100"]).to_string(index=False))
        policy resource  price
          fair     a100    0.3
    """
    return pd.concat(
        [
            pd.DataFrame({"policy": name, "resource": list(resource_names), "price": p})
            for name, p in price.items()
        ],
        ignore_index=True,
    )


def history_frame(histories: Mapping[str, History]) -> pd.DataFrame:
    """Columns ``policy`` and the fields of a history's steps; one row a step.

    Args:
        histories: The history of each solve, by policy.

    Returns:
        The frame.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> s = wl.solve(cs.max_min([[2.0, 1.0]], [1, 1], [1]), engine="interior")
        >>> "policy" in wl.plot.history_frame({"fair": s.history}).columns
        True
    """
    frames = [h.frame().assign(policy=name) for name, h in histories.items() if len(h)]
    if not frames:
        return pd.DataFrame(columns=["policy", "iteration", "elapsed", "value", "bound", "gap"])
    return pd.concat(frames, ignore_index=True)
