"""The page of the learning studies, from their tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.learning.studies import Study
from benchmarks.tables import Tables
from walras.learn.analysis import BASELINES, on_one_cluster, summary
from walras.plot import methods_by_setting, methods_by_size

_ACROSS = ("tasks_per_round", "min_success")
_SHOWN = ("hard_regret", "violations", "penalised_regret", "utilisation")


def write_page(studies: Sequence[Study], kept: Tables) -> Path:
    """Write ``page.md`` and the figures of the studies that have a table."""
    parts = []
    for study in studies:
        text = "Not measured yet."
        frame = kept.read(study.name)
        if frame is not None:
            good = frame[frame["error"].isna()]
            figure = methods_by_setting(good)
            across = next((c for c in _ACROSS if c in good and good[c].nunique() > 1), None)
            if across is not None:
                figure = methods_by_size(good, across)
            drawn = kept.picture(study.name)
            figure.savefig(drawn, dpi=130, facecolor="white", bbox_inches="tight")
            text = f"{tables(frame, study.baselines)}\n\n{kept.shown(study.title, study.name)}"
        parts.append(
            f"### {study.title}\n\n{study.question} "
            f"`python -m benchmarks.learning {study.name}`\n\n{text}\n"
        )
    return kept.write_page("\n".join(parts))


def tables(frame: pd.DataFrame, baselines: Sequence[str] = BASELINES) -> str:
    """The table of a study, or one for each floor that it was measured with."""
    if "min_success" not in frame:
        return table(frame, baselines)
    return "\n\n".join(
        f"Floor {floor:g}:\n\n{table(part, baselines)}"
        for floor, part in frame.groupby("min_success")
    )


def table(frame: pd.DataFrame, baselines: Sequence[str] = BASELINES) -> str:
    """One line a method: elastic regret with its ratio to the best baseline, then the rest."""
    good = frame[frame["error"].isna()]
    judged = summary(good, baselines=baselines)
    means = good.groupby("method", sort=False)[list(_SHOWN)].mean()
    alone = on_one_cluster(good)
    other = "better two-stage" if tuple(baselines) == BASELINES else "best single choice"
    lines = [
        f"| method | elastic regret | ÷ {other} | median cell | better / worse "
        "| hard regret | violations | penalised | utilisation | seconds |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for row in judged.itertuples():
        own = means.loc[str(row.method)]
        lines.append(
            f"| {row.method}{' †' * (row.method in alone)} | {row.mean:.4f} "
            f"| {row.ratio:.3f} [{row.low:.3f}, {row.high:.3f}] "
            f"| {row.median_cell:.3f} | {row.better} / {row.worse} of {row.cells} "
            f"| {own['hard_regret']:.4f} | {100 * own['violations']:.0f} % "
            f"| {own['penalised_regret']:.4f} | {100 * own['utilisation']:.1f} % "
            f"| {row.seconds:.2g} |"
        )
    cells = good.groupby(["setting", "train_tasks", "tasks_per_round"]).ngroups
    source = ", ".join(sorted(set(good["source"])))
    failed = len(frame) - len(good)
    ending = f"; {failed} failed" if failed else ""
    lines.append(
        f"\n{cells} cells x {good['seed'].nunique()} seeds ({source} data), means{ending}."
    )
    if alone:
        lines.append(
            "\n† All tasks of every round are on one cluster: its predictions are the same for "
            "every task, and so are the largest shares. These figures are of no placement."
        )
    return "\n".join(lines)
