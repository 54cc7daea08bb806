"""What ``walras learn compare`` writes: tables, figures, an HTML page and a record."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from walras import plot
from walras.files import write_csv, write_text
from walras.learn import summary
from walras.learn.analysis import BASELINES, on_one_cluster
from walras.learn.comparison import METRICS
from walras.learn.run_config import LOG
from walras.plot.files import save as save_figure
from walras.reports.tables import Table, show, to_json

_SHOWN = {"elastic_regret": "elastic", "hard_regret": "hard", "violations": "violated"}
NOTE = (
    "Regret is relative to the oracle that knows the truth. Elastic: of makespan + price x missing "
    "success, decoded for that; the others: decoded under the floor, which is missed in the share "
    "of rounds under violations. Ratios are to the better two-stage method of each cell, chosen on "
    "the judged rounds, with a bootstrap 95 % interval over seeds."
)
_FEW = 5  # seeds below which a bootstrap interval means little
_MEANS = "every metric, means over the cells"
_PAIRED = (
    "elastic regret beside the better two-stage method of each cell; better and worse: cells that "
    "differ at 5 % by paired t-tests over seeds, with Holm's correction"
)
OWN = "Times and chances of success are those of the log that was given."
COMPOSED = (
    "Times are measured; chances of success are composed from failure rates that other clusters "
    "measured, but for the shares of runs that reached their target in the zeus recipe."
)

SYNTHETIC = (
    "All numbers are synthetic: they are drawn from models fitted to the public measurements, "
    "which were not found here. walras data fetch gets them."
)


def summarised(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Ratios to the better two-stage, where the comparison has any two-stage method."""
    baselines = [name for name in BASELINES if name in set(frame["method"])]
    return summary(frame, baselines=baselines) if baselines else None


def shown(frame: pd.DataFrame, judged: pd.DataFrame | None, *, every: bool = False) -> Table:
    """Means by method, with the ratio; every metric in place of those that fit a terminal."""
    means = frame.groupby("method", sort=False)[list(METRICS)].mean()
    seconds = frame.groupby("method", sort=False)["seconds"].median()
    names = list(METRICS) if every else list(_SHOWN)
    columns = ["method", *(names if every else _SHOWN.values())]
    columns += [] if judged is None else ["ratio", "low", "high"]
    rows = []
    for name, own in means.iterrows():
        row: list[Any] = [str(name), *(float(own[metric]) for metric in names)]
        if judged is not None:
            line = judged[judged["method"] == name].iloc[0]
            row += [float(line[part]) for part in ("ratio", "low", "high")]
        rows.append((*row, float(seconds[str(name)])))
    title = f"{'synthetic data; ' * is_synthetic(frame)}means over {len(frame) // len(means)} cells"
    if judged is not None:
        title += "; ratio to the better two-stage, 95 %"
    return Table((*columns, "seconds"), rows, title, 3)


def warned(frame: pd.DataFrame) -> list[str]:
    """What must be known to read the numbers: methods whose placements are none."""
    return [
        f"{name} puts all tasks of every round on one cluster: its figures are of no placement"
        for name in on_one_cluster(frame)
    ]


def save(folder: Path, frame: pd.DataFrame, judged: pd.DataFrame | None) -> None:
    """Write rows.csv, summary.csv, the figures, report.html and run.json.

    Raises:
        DataError: The folder cannot be written to.
    """
    write_csv(folder / "rows.csv", frame)
    if judged is not None:
        write_csv(folder / "summary.csv", judged)
    record = {
        "walras": version("walras"),
        "python": platform.python_version(),
        "complete": bool(frame.attrs["complete"]),
        "rows": len(frame),
        "source": sorted(set(frame["source"])),
        "methods": json.loads((folder / "methods.json").read_text()),
    }
    write_text(folder / "run.json", to_json(record) + "\n")
    _report(folder, frame[frame["error"] == ""], judged)


def _report(folder: Path, frame: pd.DataFrame, judged: pd.DataFrame | None) -> None:
    drawn = {"figure4": plot.methods_by_setting(frame)}
    for name, across in (("figure5", "tasks_per_round"), ("sizes", "train_tasks")):
        if frame[across].nunique() > 1:
            drawn[name] = plot.methods_by_size(frame, across)
    for name, figure in drawn.items():
        save_figure(figure, folder / f"{name}.png", tight=True)
    found = shown(frame, judged)
    rows = [[show(cell, 4) for cell in row] for row in found.rows]
    captions = {
        "figure4": "Means over seeds in each setting; whiskers are one standard deviation.",
        "figure5": "By the number of tasks in a round.",
        "sizes": "By the number of tasks to train on.",
    }
    page = plot.Report(
        title="Predictors compared by the decisions that they feed"
        + ", on synthetic data" * is_synthetic(frame),
        lead=_lead(judged),
        sections=[
            plot.Section(
                "Methods",
                [NOTE, _origin(frame), *(f"{line}." for line in warned(frame))],
                [plot.Table(found.columns, rows, found.title), _metrics(frame), *_tests(judged)],
                [plot.Figure(figure, captions[name]) for name, figure in drawn.items()],
            )
        ],
        facts=[
            ("walras", version("walras")),
            ("metrics", ", ".join(METRICS)),
            ("source", ", ".join(sorted(set(frame["source"])))),
        ],
    )
    plot.write(page, folder / "report.html")


def _origin(frame: pd.DataFrame) -> str:
    """Where times and chances come from."""
    if is_synthetic(frame):
        return SYNTHETIC
    return OWN if set(frame["source"]) == {LOG} else COMPOSED


def is_synthetic(frame: pd.DataFrame) -> bool:
    """Whether some cells ran on a synthetic stand-in."""
    return "source" in frame and not set(frame["source"]) <= {LOG, "measured"}


def _metrics(frame: pd.DataFrame) -> plot.Table:
    """Every metric's mean by method."""
    means = frame.groupby("method", sort=False)[list(METRICS)].mean()
    rows = [[str(name), *(f"{value:.4g}" for value in own)] for name, own in means.iterrows()]
    return plot.Table(("method", *(name.replace("_", " ") for name in METRICS)), rows, _MEANS)


def _tests(judged: pd.DataFrame | None) -> list[plot.Table]:
    """What the paired tests say of every method, where there is a two-stage method."""
    if judged is None:
        return []
    rows = [
        [
            str(line.method),
            f"{line.ratio:.3f}",
            f"{line.low:.3f} to {line.high:.3f}",
            f"{line.median_cell:.3f}",
            str(line.better),
            str(line.worse),
            str(line.cells),
            str(line.seeds),
        ]
        for line in judged.itertuples()
    ]
    columns = ("method", "ratio", "95 %", "median cell", "better", "worse", "cells", "seeds")
    return [plot.Table(columns, rows, _PAIRED)]


def _lead(judged: pd.DataFrame | None) -> str:
    if judged is None:
        return "No two-stage method to compare with."
    seeds = int(judged["seeds"].min())
    if seeds < _FEW:
        return f"Seeds compared: {seeds}. Fewer than {_FEW} say nothing surely."
    best = judged.sort_values("ratio").iloc[0]
    if best["high"] < 1.0:
        return (
            f"{best['method']} has {best['ratio']:.3f} times the elastic regret of the better "
            f"two-stage method, 95 % interval {best['low']:.3f} to {best['high']:.3f}."
        )
    return "No method is surely better than the better two-stage method."
