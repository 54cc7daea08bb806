"""Compiled passes over a set of paths: hashes of paths, and their columns of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from walras.kernels.parallel import jit
from walras.types import Ints, Longs


@jit
def path_keys(pointer: Longs, source: Ints, last: Ints) -> Longs:
    """(paths,) 64-bit hash of each path's nodes: FNV-1a, word by word.

    Args:
        pointer: (paths + 1,) links of each path.
        source: Node that each link of each path leaves.
        last: (paths,) node where each path ends.
    """
    out = np.empty(len(last), dtype=np.int64)
    for p in range(len(last)):
        h = np.uint64(0xCBF29CE484222325)
        for a in range(pointer[p], pointer[p + 1]):
            h = (h ^ np.uint64(source[a])) * np.uint64(0x100000001B3)
        h = (h ^ np.uint64(last[p])) * np.uint64(0x100000001B3)
        out[p] = np.int64(h)
    return out


@jit
def path_columns(
    pointer: Longs,
    links: Ints,
    indptr: npt.NDArray[np.signedinteger[Any]],
    indices: npt.NDArray[np.signedinteger[Any]],
) -> None:
    """Fill row indices of a matrix with one column a path: the path's links in ascending order.

    Args:
        pointer: (paths + 1,) links of each path.
        links: Links of all paths.
        indptr: (paths + 1,) first index of each column; a column may have more rows than links.
        indices: Filled at the beginning of each column.
    """
    for p in range(len(pointer) - 1):
        begin = indptr[p]
        end = begin
        for a in range(pointer[p], pointer[p + 1]):
            e, k = links[a], end
            while k > begin and indices[k - 1] > e:
                indices[k] = indices[k - 1]
                k -= 1
            indices[k] = e
            end += 1
