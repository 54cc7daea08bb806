"""Clusters from lists of machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from walras import checks
from walras.errors import DataError
from walras.simulate.cluster import Cluster
from walras.simulate.formats import alibaba, openb, table
from walras.simulate.formats.raw import Raw, Refusal


@dataclass(frozen=True)
class _Nodes:
    """A list of machines: its reader, the columns of type and workers, and workers a unit."""

    read: Callable[[Path], Raw]
    type: str
    workers: str
    unit: int = 1


NODES: Mapping[str, _Nodes] = {
    "table": _Nodes(table.read, "type", "workers"),
    "openb": _Nodes(table.read, "model", "gpu", openb.THOUSANDTHS),
    "alibaba": _Nodes(alibaba.read_machines, "gpu_type", "cap_gpu", openb.THOUSANDTHS),
}
"""Formats of lists of machines by name."""


def load_cluster(path: str | Path, format: str = "table") -> Cluster:
    r"""Read a cluster from a list of machines.

    Args:
        path: The file. Of ``table``, columns ``type`` and ``workers``; of ``openb``, the list of
            nodes; of ``alibaba``, ``pai_machine_spec.csv``. In the last two, where jobs share GPUs,
            a worker is a thousandth of a GPU.
        format: One of these.

    Returns:
        The cluster; machines without workers are left out.

    Raises:
        InputError: There is no such format.
        DataError: The file cannot be read, lacks a column, or a number of workers cannot be used.

    Example:
        >>> from pathlib import Path
        >>> import walras as wl
        >>> _ = Path("nodes.csv").write_text("type,workers\nv100,8\nk80,4\nv100,8\n")
        >>> wl.simulate.load_cluster("nodes.csv")
        Cluster(16 v100, 4 k80)
    """
    chosen = NODES[checks.one_of(format, "format", NODES, "format of machines")]
    raw = chosen.read(Path(path))
    for column in (chosen.type, chosen.workers):
        if column not in raw.table:
            raise _cannot(path, f"has no column '{column}'", f"{chosen.type} and {chosen.workers}")
    workers = raw.number(chosen.workers)
    bad = ~(workers >= 0.0) | (workers != np.floor(workers)) | (workers > 2**31)
    refused = [*raw.refused]
    for j in np.flatnonzero(bad):
        said = f"is {raw.table[chosen.workers][j]!r}"
        refused.append(Refusal(int(raw.row[j]), chosen.workers, said, raw.unit))
    if refused:
        raise _cannot(path, str(refused[0]), "whole numbers of workers, 0 or more")
    counts: dict[str, int] = {}
    for name, count in zip(raw.table[chosen.type], workers.tolist(), strict=True):
        if count:
            counts[str(name)] = counts.get(str(name), 0) + int(count) * chosen.unit
    if not counts:
        raise _cannot(path, "has no machine with workers", "at least one")
    return Cluster(counts)


def _cannot(path: str | Path, what: str, allowed: str) -> DataError:
    return DataError(what, where=str(path), allowed=allowed, remedy="correct the file")
