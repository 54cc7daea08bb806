"""What the published table costs: processor seconds of the cells that have been measured."""

from __future__ import annotations

import pandas as pd

BAR = 30 * 60 * 2
"""Processor seconds of two cores in half an hour."""


def cost(frame: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """One row a trace and policy: its cells, what they cost, and what all of them would.

    A cell that is not measured is counted as the mean of its policy's measured ones, and a row
    without processor seconds by its seconds on the clock, of one process.

    Args:
        frame: Cells that were measured: ``trace``, ``policy``, ``seconds`` and perhaps ``cpu s``.
        published: All published cells: ``trace``, ``policy``.

    Returns:
        Columns ``trace``, ``policy``, ``cells``, ``measured``, ``cpu s`` (of the measured ones),
        ``a cell``, ``all cells``; NaN where none is measured.
    """
    seconds = frame.get("cpu s", pd.Series(index=frame.index, dtype=float))
    spent = frame.assign(spent=seconds.fillna(frame["seconds"]))
    by = ["trace", "policy"]
    found = published.groupby(by).size().to_frame("cells")
    found["measured"] = spent.groupby(by).size().reindex(found.index, fill_value=0)
    found["cpu s"] = spent.groupby(by)["spent"].sum().reindex(found.index)
    found["a cell"] = found["cpu s"] / found["measured"]
    found["all cells"] = found["a cell"] * found["cells"]
    return found.reset_index()


def verdict(frame: pd.DataFrame, published: pd.DataFrame) -> str:
    """The costs as text, with their sum beside the bar."""
    found = cost(frame, published)
    total, missing = found["all cells"].sum(), int((found["measured"] == 0).sum())
    whole = (
        f"All cells together: {total:,.0f} s of a core, {total / BAR:.2f} of the bar of 30 minutes "
        f"on two cores ({BAR} s); {missing} rows are without a measured cell"
    )
    return found.to_string(index=False, float_format="{:,.1f}".format) + "\n" + whole
