"""The 100 numbers that define the load-balancing rounds of POP and DeDe."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from walras.data.dataset import Source
from walras.data.formats.csv_table import read_csv
from walras.data.store import unreadable
from walras.errors import DataError
from walras.short_repr import short_repr
from walras.types import Floats

NAME = "lb_random"
FILE = "random_numbers.csv"
ROUNDS = 100
_COLUMNS = ("round", "u")


@short_repr
@dataclass(frozen=True, eq=False)
class RoundNumbers:
    """One number a round; the loads of round r fall as a power ``0.25 + 0.5 u_r`` of the rank.

    Attributes:
        numbers: (100,) u, in [0, 1).
        source: Whether the numbers are the published ones or synthetic.
        origin: Where they come from, in words.

    Example:
        >>> import walras as wl
        >>> found = wl.data.load("lb_random", synthetic=True)
        >>> found.numbers.shape
        (100,)
    """

    numbers: Floats
    source: Source
    origin: str

    def __post_init__(self) -> None:
        self.numbers.setflags(write=False)


def read(folder: Path) -> RoundNumbers:
    """Read the numbers.

    Raises:
        DataError: The file is not what it should be.
    """
    path = folder / FILE
    try:
        table = read_csv(path)
        numbers = table["u"].to_numpy(dtype=np.float64)
        rounds = table["round"].tolist()
    except (OSError, ValueError, KeyError) as error:
        raise unreadable(NAME, path, error) from error
    if rounds != list(range(ROUNDS)) or not np.all((numbers >= 0.0) & (numbers < 1.0)):
        reason = f"not {ROUNDS} rounds in order with numbers in [0, 1)"
        raise unreadable(NAME, path, reason)
    return RoundNumbers(numbers, "measured", str(folder))


def derive(contents: Sequence[bytes]) -> bytes:
    """The list ``randomNums`` of a Python file as a table; digits are not changed.

    Raises:
        DataError: There is no such list of numbers.
    """
    text = contents[0].decode("utf-8", errors="replace")
    found = re.search(r"^randomNums = (\[[^\]]*\])", text, re.MULTILINE)
    try:
        numbers = [float(u) for u in ast.literal_eval(found[1])] if found else []
    except (SyntaxError, ValueError, TypeError):
        numbers = []
    if not numbers:
        raise DataError(
            "holds no list randomNums of numbers",
            where=f"data set {NAME}",
            allowed="the file of the pinned commit",
            remedy="walras data fetch lb_random",
        )
    out = io.StringIO()
    table = pd.DataFrame({"round": range(len(numbers)), "u": numbers}, columns=list(_COLUMNS))
    table.to_csv(out, index=False, lineterminator="\n")
    return out.getvalue().encode()
