"""Pre-computed edge-disjoint paths of B4 and UsCarrier, as the peers use them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from walras.data.dataset import Source
from walras.data.formats.pickles import load_plain
from walras.data.store import unreadable
from walras.errors import DataError
from walras.types import Ints, Longs

NAME = "te_paths"
NETWORKS = ("B4", "UsCarrier")
FILES = tuple(f"{name}_paths.npz" for name in NETWORKS)


@dataclass(frozen=True, eq=False)
class PathSet:
    """Paths of one network.

    Attributes:
        nodes: Nodes of all paths, one after the other.
        offset: (paths + 1,) path p visits ``nodes[offset[p]:offset[p + 1]]``.
    """

    nodes: Ints
    offset: Longs

    def __post_init__(self) -> None:
        self.nodes.setflags(write=False)
        self.offset.setflags(write=False)


@dataclass(frozen=True, eq=False)
class ReleasedPaths:
    """Path sets by the name of their network.

    Attributes:
        paths: The sets.
        source: Whether they are the released ones or found in a synthetic network.
        origin: Where they come from, in words.

    Example:
        >>> from walras.data import lookup
        >>> lookup("te_paths").name  # load("te_paths") gives ReleasedPaths
        'te_paths'
    """

    paths: Mapping[str, PathSet]
    source: Source
    origin: str


def read(folder: Path) -> ReleasedPaths:
    """Read both path sets.

    Raises:
        DataError: A file is not what it should be.
    """
    found = {}
    for name, file in zip(NETWORKS, FILES, strict=True):
        path = folder / file
        try:
            with np.load(path, allow_pickle=False) as stored:
                nodes, offset = stored["nodes"].astype(np.int32), stored["offset"].astype(np.int64)
        except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise unreadable(NAME, path, error) from error
        if offset[0] != 0 or offset[-1] != len(nodes) or np.any(np.diff(offset) < 2):
            raise unreadable(NAME, path, "the offsets do not divide the nodes into paths")
        found[name] = PathSet(nodes, offset)
    return ReleasedPaths(found, "measured", str(folder))


def derive(contents: Sequence[bytes]) -> bytes:
    """Arrays of one pickled dictionary from pairs to lists of nodes; order is kept.

    Raises:
        DataError: The pickle holds anything else.
    """
    given = load_plain(contents[0], NAME)
    try:
        ends = [(s, t) for (s, t), paths in given.items() for _ in paths]
        walks = [list(path) for paths in given.values() for path in paths]
    except (AttributeError, TypeError, ValueError) as error:
        raise DataError(
            f"a pickle is no dictionary of paths: {error}",
            where=NAME,
            allowed="pairs of nodes to lists of lists of nodes",
            remedy="try another mirror",
        ) from error
    source, target = np.array(ends, dtype=np.int16).reshape(-1, 2).T
    out = io.BytesIO()
    np.savez_compressed(
        out,
        src=np.ascontiguousarray(source),
        dst=np.ascontiguousarray(target),
        offset=np.cumsum([0, *(len(walk) for walk in walks)]).astype(np.int32),
        nodes=np.array([node for walk in walks for node in walk], dtype=np.int16),
    )
    return out.getvalue()
