"""Moves against time: every method of load balancing on the same rounds of the sequence.

The cells are those of :mod:`benchmarks.cases.load_balancing`, measured where they are missing, so
that a study that was cut short goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.balancing import BalanceSpec
from benchmarks.balancing_rounds import WARM_UP
from benchmarks.cases import load_balancing as case
from benchmarks.cell import Cell
from benchmarks.commands import measure_all
from benchmarks.experiments.figures import MARKERS, finish
from benchmarks.experiments.study import Setting, Study
from benchmarks.peers import METHODS
from benchmarks.store import Store
from walras.plot.style import SERIES, blank

SAME, OWN = "same placements", "own placements"


def moves(setting: Setting) -> pd.DataFrame:
    """Measure what is missing of the sequences and of the shared rounds, and read it all."""
    store = Store()
    cells = [cell for cell in case.cells() if cell.spec in (*case.SHARED, case.SEQUENCE)]
    measure_all(cells, store, fresh=False)
    return moves_frame(cells, store)


def moves_frame(cells: Sequence[Cell], store: Store) -> pd.DataFrame:
    """One row a measured cell.

    Returns:
        ``method``; ``start`` (the same placements for all, or each method's own); ``first`` and
        ``rounds``; mean moves a round above loads of 1e-6 (``moves``) and 1e-3 (``stricter``), NaN
        without a placement within the limits; ``bound``; ``seconds``, the median of a round.
    """
    rows = []
    for cell in cells:
        record, spec = store.read(cell), cell.spec
        if record is None or not isinstance(spec, BalanceSpec):
            continue
        placed = record.get("value") is not None and record["violation"] <= case.FEASIBLE
        own = spec.rounds > 1
        numbers = record.get("numbers", {})
        rows.append(
            {
                "method": METHODS[cell.method].label,
                "start": OWN if own else SAME,
                "first": WARM_UP if own else spec.first,
                "rounds": spec.rounds - WARM_UP if own else 1,
                "moves": record["value"] if placed else np.nan,
                "stricter": record["lowest"][0] if placed else np.nan,
                "bound": numbers.get("bound", np.nan),
                "seconds": numbers.get("round", record.get("total", cell.limit)),
            }
        )
    return pd.DataFrame(rows)


def draw_moves(frame: pd.DataFrame, path: Path) -> None:
    """Moves over seconds, both logarithmic: the shared rounds faint, their means, own sequences."""
    figure, (axes,) = blank(8.2, 4.2)
    for k, (method, own) in enumerate(frame.groupby("method", sort=False)):
        colour, marker = SERIES[k].stand_in, MARKERS[k]
        same, alone = (own[own["start"] == start].dropna(subset=["moves"]) for start in (SAME, OWN))
        if len(same):
            axes.scatter(
                same["seconds"],
                same["moves"],
                color=colour,
                marker=marker,
                s=14,
                alpha=0.35,
                linewidths=0,
            )
            axes.scatter(
                same["seconds"].median(),
                same["moves"].mean(),
                color=colour,
                marker=marker,
                s=70,
                label=f"{method}, {SAME}",
            )
        if len(alone):
            axes.scatter(
                alone["seconds"],
                alone["moves"],
                facecolors="none",
                edgecolors=colour,
                marker=marker,
                s=70,
                label=f"{method}, {OWN}",
            )
        if not len(same) and not len(alone):
            axes.axvline(
                own["seconds"].median(),
                color=colour,
                linestyle=":",
                label=f"{method}: no placement",
            )
    bound = frame[frame["start"] == SAME].groupby("first")["bound"].max().mean()
    axes.axhline(bound, color="0.4", linestyle="--", linewidth=1.0, label=f"proved least, {SAME}")
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1.0)  # some rounds need none
    axes.set_ylim(-0.1, 2.0 * frame["moves"].max())
    finish(figure, axes, path, "seconds a round (median)", "moves a round (mean)")


def table_moves(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a method and start: moves, bound and seconds a round, rounds without a placement."""
    rows = {}
    for (start, method), own in frame.groupby(["start", "method"], sort=False):
        rows[f"{method}, {start}"] = {
            "rounds": own["rounds"].sum(),
            "moves": own["moves"].mean(),
            "above 1e-3": own["stricter"].mean(),
            "bound": own["bound"].mean(),
            "seconds": own["seconds"].median(),
            "infeasible rounds": own["moves"].isna().sum(),
        }
    return pd.DataFrame(rows).T


STUDIES = (
    Study(
        "moves",
        "Moves against time",
        "Every method on the same rounds of the published sequence. *Same placements*: rounds "
        f"{', '.join(str(spec.first) for spec in case.SHARED)}, each method from the placement "
        "that Walras (idle replicas dropped) leaves of the rounds before. *Own placements*: rounds "
        "20 to 99, each method from what it left itself; the others would need hours.",
        moves,
        draw_moves,
        table_moves,
        topology="256x2048",
        estimate=1500.0,
        page="moves",
        limit=case.LIMIT,
    ),
)
