"""What ``walras learn compare`` writes: tables, figures, an HTML page and a record."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from walras.cli.output import Table, to_json
from walras.errors import DataError
from walras.learn import summary
from walras.learn.analysis import BASELINES
from walras.learn.comparison import METRICS

_SHOWN = ("elastic_regret", "hard_regret", "violations", "penalised_regret", "utilisation")
NOTE = (
    "Regret is relative to the oracle that knows the truth. Elastic: of makespan + price x missing "
    "success, decoded for that; the others: decoded under the floor, which is missed in the share "
    "of rounds under violations. Ratios are to the better two-stage method of each cell, chosen on "
    "the judged rounds, with a bootstrap 95 % interval over seeds."
)
COMPOSED = (
    "Times are measured; chances of success are composed from failure rates that other clusters "
    "measured, but for the shares of runs that reached their target in the zeus recipe."
)


def summarised(frame: pd.DataFrame) -> pd.DataFrame | None:
    """Ratios to the better two-stage, where the comparison has any two-stage method."""
    baselines = [name for name in BASELINES if name in set(frame["method"])]
    return summary(frame, baselines=baselines) if baselines else None


def shown(frame: pd.DataFrame, judged: pd.DataFrame | None) -> Table:
    """Means by method, with the ratio."""
    means = frame.groupby("method", sort=False)[list(_SHOWN)].mean()
    seconds = frame.groupby("method", sort=False)["seconds"].median()
    rows = []
    for name, own in means.iterrows():
        row: list[Any] = [str(name), *(float(value) for value in own)]
        if judged is not None:
            line = judged[judged["method"] == name].iloc[0]
            row.append(f"{line['ratio']:.3f} [{line['low']:.3f}, {line['high']:.3f}]")
        rows.append((*row, float(seconds[str(name)])))
    columns = ["method", "elastic", "hard", "violations", "penalised", "used"]
    columns += ["seconds"] if judged is None else ["ratio", "seconds"]
    return Table(tuple(columns), rows, f"means over {len(frame) // len(means)} cells")


def save(folder: Path, frame: pd.DataFrame, judged: pd.DataFrame | None) -> None:
    """Write rows.csv, summary.csv, the figures, report.html and run.json.

    Raises:
        DataError: The folder cannot be written to.
    """
    try:
        frame.to_csv(folder / "rows.csv", index=False)
        if judged is not None:
            judged.to_csv(folder / "summary.csv", index=False)
        record = {
            "walras": version("walras"), "python": platform.python_version(),
            "complete": bool(frame.attrs["complete"]), "rows": len(frame),
            "source": sorted(set(frame["source"])),
            "methods": json.loads((folder / "methods.json").read_text()),
        }  # fmt: skip
        (folder / "run.json").write_text(to_json(record) + "\n")
        _report(folder, frame[frame["error"] == ""], judged)
    except OSError as error:
        raise DataError(
            f"cannot be written to: {error.strerror}", where=str(folder),
            allowed="a folder you may write to", remedy="choose another --folder",
        ) from error  # fmt: skip


def _report(folder: Path, frame: pd.DataFrame, judged: pd.DataFrame | None) -> None:
    from walras import plot  # half a second, for those who draw

    drawn = {"figure4": plot.methods_by_setting(frame)}
    for name, across in (("figure5", "tasks_per_round"), ("sizes", "train_tasks")):
        if frame[across].nunique() > 1:
            drawn[name] = plot.methods_by_size(frame, across)
    for name, figure in drawn.items():
        figure.savefig(folder / f"{name}.png", dpi=150, facecolor="white", bbox_inches="tight")
    found = shown(frame, judged)
    rows = [[str(row[0]), *(v if isinstance(v, str) else f"{v:.4g}" for v in row[1:])]
            for row in found.rows]  # fmt: skip
    captions = {
        "figure4": "Means over seeds in each setting; whiskers are one standard deviation.",
        "figure5": "By the number of tasks in a round.",
        "sizes": "By the number of tasks to train on.",
    }
    page = plot.Report(
        title="Predictors compared by the decisions that they feed",
        lead=_lead(judged),
        sections=[
            plot.Section(
                "Methods", [NOTE, COMPOSED], [plot.Table(found.columns, rows, found.title)],
                [plot.Figure(figure, captions[name]) for name, figure in drawn.items()],
            )
        ],
        facts=[("walras", version("walras")), ("metrics", ", ".join(METRICS)),
               ("source", ", ".join(sorted(set(frame["source"]))))],
    )  # fmt: skip
    plot.write(page, folder / "report.html")


def _lead(judged: pd.DataFrame | None) -> str:
    if judged is None:
        return "No two-stage method to compare with."
    best = judged.sort_values("ratio").iloc[0]
    if best["high"] < 1.0:
        return (
            f"{best['method']} has {best['ratio']:.3f} times the elastic regret of the better "
            f"two-stage method, 95 % interval {best['low']:.3f} to {best['high']:.3f}."
        )
    return "No method is surely better than the better two-stage method."
