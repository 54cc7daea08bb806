"""The page of results that the documentation includes, written from the tables alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.experiments.study import Study
from benchmarks.tables import Tables


def write_page(studies: Sequence[Study], tables: Tables) -> Path:
    """Write the studies' page, the first one's, from whichever have a table."""
    text = "\n".join(_section(study, tables) for study in studies)
    return tables.write_page(text, studies[0].page)


def _section(study: Study, tables: Tables) -> str:
    head = f"### {study.title}\n\n{study.question}\n"
    frame = tables.read(study.name)
    if frame is None:
        return f"{head}\nNot measured yet.\n"
    where = f"On {frame['topology'].iloc[0]}, at most {frame['limit'].iloc[0]:g} s a solve."
    picture = tables.shown(study.title, study.name)
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
