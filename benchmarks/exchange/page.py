"""The page of the exchange's figures, and the picture of a round's cost."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.tables import Tables

_SHOWN = {
    "submissions": "Durable submissions over HTTP",
    "start": "Start on an empty home",
    "recovery": "Ready again after kill -9 under load",
    "rounds": "Rounds, and what is served beside them",
    "simulation": "Deterministic simulation",
    "pages": "Pages in Chromium, a new browser profile each",
    "open-pages": "Reads beside pages that stay open",
    "demo": "A fresh clone: set-up, the page of its demo, results in the terminal",
    "soak": "Half an hour under load and faults",
}


def write_page(kept: Tables) -> None:
    """Write ``page.md`` and the picture, of the studies that have a table."""
    parts = []
    for study, title in _SHOWN.items():
        frame = kept.read(study)
        what = "exchange_soak" if study == "soak" else f"exchange {study}"
        command = f"`python -m benchmarks.{what}`"
        if frame is None:
            parts.append(f"### {title}\n\n{command}\n\nNot measured yet.\n")
            continue
        text = f"### {title}\n\n{command}\n\n{_table(frame)}\n"
        if study == "rounds":
            _draw(frame, kept)
            text += f"\n{kept.shown('Cost of a round against the tasks that wait', study)}\n"
        parts.append(text)
    kept.write_page("\n".join(parts))


def _table(frame: pd.DataFrame) -> str:
    names = [str(name).replace("_", " ") for name in frame.columns]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for row in frame.itertuples(index=False):
        lines.append("| " + " | ".join(_said(value) for value in row) + " |")
    return "\n".join(lines)


def _said(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _draw(frame: pd.DataFrame, kept: Tables) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    axes = figure.subplots()
    for kind, part in frame.groupby("database"):
        ordered = part.sort_values("pending")
        for step, style in (("whole", "-"), ("snapshot", ":")):
            label = f"{kind}, {step}"
            axes.plot(ordered["pending"], ordered[f"{step}_s"], style, marker="o", label=label)
    axes.set(xscale="log", yscale="log", xlabel="tasks that wait", ylabel="seconds of a round")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(kept.picture("rounds"), dpi=130, facecolor="white")
