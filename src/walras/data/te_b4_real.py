"""The 36 real traffic matrices that Teal and DeDe release, on the 12 nodes of B4."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from walras.data.dataset import Source
from walras.data.formats.pickles import load_plain
from walras.data.store import read_amounts
from walras.short_repr import short_repr
from walras.types import Floats

NAME = "te_b4_real"
FILE = "b4_real_tm.npy"
SHAPE = (36, 12, 12)


@short_repr
@dataclass(frozen=True, eq=False)
class B4Traffic:
    """Traffic between the nodes of B4 over time.

    Attributes:
        demand: (times, nodes, nodes) from row to column, in the unit of B4's capacities.
        source: Whether the numbers are measured or synthetic.
        origin: Where they come from, in words.

    Example:
        >>> import walras as wl
        >>> found = wl.data.load("te_b4_real", synthetic=True)
        >>> found.demand.shape[1:], str(found.source)
        ((12, 12), 'synthetic stand-in')
    """

    demand: Floats
    source: Source
    origin: str

    def __post_init__(self) -> None:
        self.demand.setflags(write=False)


def read(folder: Path) -> B4Traffic:
    """Read the matrices.

    Raises:
        DataError: The file is not what it should be.
    """
    return B4Traffic(read_amounts(NAME, folder / FILE, SHAPE), "measured", str(folder))


def derive(contents: Sequence[bytes]) -> bytes:
    """One array of the pickled matrices, in their order; values are not changed.

    Raises:
        DataError: A pickle holds anything but arrays.
    """
    demand = np.stack([np.asarray(load_plain(raw, NAME), dtype=np.float64) for raw in contents])
    out = io.BytesIO()
    np.save(out, demand)
    return out.getvalue()
