"""DeDe's figures 4 and 5 beside the kept rounds of ``dede``, as a table and as a page."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from benchmarks.simulate import dede

PUBLISHED: Mapping[str, Mapping[str, str]] = {
    "max-min": {
        dede.WARM: ".94 in 3 s, .99 in 10 s",
        "POP-4": "as DeDe, in 1.6 times its seconds",
        "POP-16": ".90 in 3.1 s",
        "exact": "1 in 156 s",
        dede.GREEDY: ".43 in 1.4 s",
    },
    "proportional": {
        dede.WARM: "over 1 in 100 s",
        "POP-4": "as DeDe, in 3,053 s",
        "POP-16": "as DeDe, in 682 s",
        "POP-64": ".31",
        "exact": "1, not optimal after 5 hours",
    },
}
"""Objective -> method -> what figures 4 and 5 say of it, on 64 cores."""

_TITLES = {"max-min": "Max-min (figure 4)", "proportional": "Proportional fairness (figure 5)"}


def of(kept: pd.DataFrame, objective: str) -> pd.DataFrame:
    """The rows of an objective by method, in the order of the methods."""
    own = kept[kept["objective"] == objective].set_index("method")
    return own.reindex([dede.OURS, *dede.METHODS]).dropna(subset=["rounds"])


def shown(frame: pd.DataFrame, objective: str) -> pd.DataFrame:
    """What the paper prints beside what was measured; ± is the standard deviation over rounds.

    Args:
        frame: Rows of :func:`benchmarks.simulate.dede.rows` by method.
        objective: Their objective.
    """
    rows = [row for _, row in frame.iterrows()]
    return pd.DataFrame(
        {
            "method": frame.index,
            "published": [PUBLISHED[objective].get(str(name), "") for name in frame.index],
            "rounds": [int(row["rounds"]) for row in rows],
            "quality": [_within(row, "quality", ".4f") for row in rows],
            "worst quality": [round(float(row["worst quality"]), 4) for row in rows],
            "CPU s": [_within(row, "core s", ".2g") for row in rows],
            "DeDe* or POP's seconds": [round(float(row["ideal s"]), 3) for row in rows],
        }
    )


def _within(row: pd.Series, name: str, digits: str) -> str:
    """Mean and standard deviation, which one round has not; nothing where it was not counted."""
    mean, spread = float(row[name]), float(row.get(f"{name} sd", np.nan))
    known = [f"{value:{digits}}" for value in (mean, spread) if not np.isnan(value)]
    return " ± ".join(known)


def page(kept: pd.DataFrame) -> str:
    """Both objectives in Markdown."""
    parts = []
    for objective, title in _TITLES.items():
        table = shown(of(kept, objective), objective)
        lines = [list(table.columns), ["---"] * len(table.columns)]
        lines += table.astype(object).where(table.notna(), "").astype(str).to_numpy().tolist()
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        parts.append(f"**{title}**\n\n{body}\n")
    return "\n".join(parts)
