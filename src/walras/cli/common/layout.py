"""How the columns of a table stand on a terminal: no word is broken while it fits on a line.

A column may be as narrow as its widest word. Where even so not all columns stand side by side, the
table goes on below in further blocks, each with the columns that name the rows.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

_FRAME = 3  # characters beside a column: a blank on either side, and one between two
_UNBROKEN = 16  # characters of a cell that stays on one line: "20.46 ± 2.2" is one thing


@dataclass(frozen=True, eq=False)
class Column:
    """Texts of a column.

    Attributes:
        head: Its name.
        cells: One a row.
        whole: Whether no cell may be wrapped, as numbers and names of rows.
    """

    head: str
    cells: Sequence[str]
    whole: bool = False

    @cached_property
    def widest(self) -> int:
        """Characters of its longest text."""
        return max(map(_size, (self.head, *self.cells)))

    @cached_property
    def least(self) -> int:
        """Characters of what is not to be broken."""
        texts = [cell for cell in self.cells if self.whole or _size(cell) <= _UNBROKEN]
        words = (word for text in (self.head, *self.cells) for word in text.split())
        return max(map(_size, (*texts, *words)), default=0)


def blocks(columns: Sequence[Column], width: int) -> list[dict[int, int]]:
    """Which columns stand side by side, and how wide.

    Args:
        columns: The columns.
        width: Characters of a line.

    Returns:
        A mapping from a column's place to its width for each block. Where a column alone with those
        that name the rows is too wide for a line, its width is what is left of it.
    """
    room = width - 1
    if sum(column.widest + _FRAME for column in columns) <= room:
        return [{k: column.widest for k, column in enumerate(columns)}]
    keys = list(range(_keys(columns)))
    found: list[list[int]] = []
    taken, fixed = 0, sum(columns[k].least + _FRAME for k in keys)
    for k in range(len(keys), len(columns)):
        need = columns[k].least + _FRAME
        if not found or taken + need > room:
            found.append(list(keys))
            taken = fixed
        found[-1].append(k)
        taken += need
    return [_widths(columns, chosen, room) for chosen in found or [keys]]


def _keys(columns: Sequence[Column]) -> int:
    """How many of the first columns tell the rows apart: two at most, and not all."""
    for k in (1, 2):
        rows = list(zip(*(column.cells for column in columns[:k]), strict=True))
        if len(set(rows)) == len(rows) and k < len(columns):
            return k
    return min(1, len(columns) - 1)


def _widths(columns: Sequence[Column], chosen: Sequence[int], room: int) -> dict[int, int]:
    """The widths of columns side by side: the widest give way first, down to their least.

    So column k has max(l_k, min(w_k, L)) characters, with the largest level L at which all fit. If
    none is, words are broken: l_k is 1.
    """
    free = room - _FRAME * len(chosen)
    for broken in (False, True):
        for level in range(free, 0, -1):
            made = {
                k: max(1 if broken else columns[k].least, min(columns[k].widest, level))
                for k in chosen
            }
            if sum(made.values()) <= free:
                return made
    return dict.fromkeys(chosen, 1)


def _size(text: str) -> int:
    """Characters that a text takes on a terminal: wide ones, as Chinese, take two."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(mark) in "WF" else 1 for mark in text)
