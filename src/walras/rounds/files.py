"""Snapshots and decisions in files."""

from __future__ import annotations

from pathlib import Path

from walras.errors import DataError
from walras.rounds.canonical import kind_of
from walras.rounds.decision import Decision
from walras.rounds.snapshot import Snapshot


def load(path: str | Path) -> Snapshot | Decision:
    """Read a snapshot or a decision that ``save`` wrote.

    Args:
        path: The file.

    Returns:
        What it holds.

    Raises:
        DataError: The file is missing, damaged or of something else.

    Example:
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants, load
        >>> snapshot = Snapshot.of(Tasks.of(["a"]), Clusters.of(["east"]), Tenants.of(["lab"]))
        >>> snapshot.save("round.snapshot")
        >>> load("round.snapshot") == snapshot
        True
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise DataError(
            f"cannot be read: {error.strerror or error}",
            where=str(path),
            allowed="a file that save wrote",
            remedy="see that the path is right",
        ) from error
    kind = kind_of(data)
    if kind == "snapshot":
        return Snapshot.from_bytes(data)
    if kind == "decision":
        return Decision.from_bytes(data)
    raise DataError(
        "holds no snapshot and no decision",
        where=str(path),
        allowed="a file that Snapshot.save or Decision.save wrote",
        remedy="choose another file",
    )
