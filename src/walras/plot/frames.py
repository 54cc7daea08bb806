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
        histories: The diary of each solve, by policy.
    """
    frames = [h.frame().assign(policy=name) for name, h in histories.items() if len(h)]
    if not frames:
        return pd.DataFrame(columns=["policy", "iteration", "elapsed", "value", "bound", "gap"])
    return pd.concat(frames, ignore_index=True)
