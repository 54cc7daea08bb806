"""Gavel's traces and Shockwave's: one job a line, tab-separated, with speeds in another file.

The columns are job type, command, directory, steps argument, whether it needs data, steps, workers,
weight, SLO, arrival in seconds. Lines of nine columns have no directory, lines of eleven have a
mode of adaptation after the workers, and lines of twelve a duration before the arrival, too:
Shockwave's are so. A job with an SLO above 0 is to end by its arrival and so many times its
duration; where the line has none, its duration is that on a V100. Sources: the repositories of
Narayanan et al., OSDI 2020, and of Zheng et al., NSDI 2023.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from walras.data import load
from walras.data.gavel import GavelThroughputs, read_throughputs
from walras.data.store import search_path
from walras.errors import DataError
from walras.simulate.formats.raw import Raw, Refusal, text_of

COLUMNS = {
    "job type": "kind",
    "steps": "steps",
    "workers": "size",
    "weight": "weight",
    "SLO": "slo",
    "arrival": "arrival",
    "duration": "seconds",
}

# Number of columns -> places of job type, steps, workers, weight, SLO, arrival, duration.
_PLACES = {
    9: (0, 4, 5, 6, 7, 8),
    10: (0, 5, 6, 7, 8, 9),
    11: (0, 5, 6, 8, 9, 10),
    12: (0, 5, 6, 8, 9, 11, 10),
}
_SHOCKWAVE_SPEEDS = ("tacc_throughputs.json.gz", "tacc_throughputs.json")


def read(path: Path) -> Raw:
    """Read the lines.

    Raises:
        DataError: The file cannot be read.
    """
    rows: list[list[str]] = []
    numbers: list[int] = []
    refused: list[Refusal] = []
    for number, line in enumerate(text_of(path).splitlines(), 1):
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) not in _PLACES:
            allowed = ", ".join(map(str, _PLACES))
            refused.append(Refusal(number, "", f"has {len(cells)} columns, not {allowed}"))
            continue
        found = [cells[k].strip() for k in _PLACES[len(cells)]]
        rows.append(found + [""] * (len(COLUMNS) - len(found)))
        numbers.append(number)
    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
    return Raw(table, np.array(numbers, np.int64), tuple(refused))


def gavel_speeds(path: Path) -> GavelThroughputs:
    """The measured speeds of the set ``gavel``.

    Raises:
        DataError: They are not found.
    """
    del path
    return load("gavel")


def shockwave_speeds(path: Path) -> GavelThroughputs:
    """Shockwave's measured speeds, beside the trace or in a folder ``shockwave`` of data sets.

    Raises:
        DataError: They are not found, or cannot be read.
    """
    folders = [path.parent, *(folder / "shockwave" for folder in search_path())]
    for folder in folders:
        for name in _SHOCKWAVE_SPEEDS:
            if (folder / name).is_file():
                return read_throughputs(folder / name)
    raise DataError(
        f"has no speeds: there is no {_SHOCKWAVE_SPEEDS[1]}",
        where=str(path),
        allowed="the file beside the trace, or in a folder 'shockwave' of $WALRAS_DATA; .gz or not",
        remedy="take it from Shockwave's repository, or give speeds",
    )
