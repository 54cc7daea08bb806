"""The page of results that the documentation includes, written from the tables alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.experiments.study import Study


def write_page(studies: Sequence[Study], folder: Path) -> Path:
    """Write the studies' page, the first one's, from whichever have a table in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / f"{studies[0].page}.md"
    page.write_text("\n".join(_section(study, folder) for study in studies), encoding="utf-8")
    return page


def _section(study: Study, folder: Path) -> str:
    file = folder / f"{study.name}.csv"
    head = f"### {study.title}\n\n{study.question}\n"
    if not file.exists():
        return f"{head}\nNot measured yet.\n"
    frame = pd.read_csv(file)
    where = f"On {frame['topology'].iloc[0]}, at most {frame['limit'].iloc[0]:g} s a solve."
    picture = f"![{study.title}]({study.name}.png)"
    return f"{head}{where}\n\n{table(study.summary(frame))}\n{picture}\n"


def table(frame: pd.DataFrame) -> str:
    """A frame as a table in Markdown; what is not a number is left empty."""
    head = ["", *map(str, frame.columns)]
    rows = [
        [str(name), *map(_cell, own)] for name, own in zip(frame.index, frame.values, strict=True)
    ]
    lines = [head, ["---"] + ["--:"] * len(frame.columns), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _cell(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
