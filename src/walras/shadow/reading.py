"""Read a scheduler's log, whichever wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pandas as pd

from walras import checks
from walras.shadow.formats import kueue, slurm, table
from walras.shadow.jobs import JobLog, checked

Scheduler = Literal["slurm", "kueue", "csv"]
SCHEDULERS = ("slurm", "kueue", "csv")


def read_jobs(
    path: str | Path | pd.DataFrame,
    scheduler: Scheduler | None = None,
    *,
    cluster: str = "Partition",
    slots: str | None = None,
) -> JobLog:
    r"""Read the jobs of a scheduler's own log.

    Args:
        path: The file; or a frame with the columns of a CSV log: ``submit``, ``start``, ``end``
            (seconds, or ISO 8601), ``cluster``, ``outcome``, and where there are any ``name``,
            ``user``, ``slots`` and features.
        scheduler: ``slurm`` (text of ``sacct -P``, or its JSON), ``kueue`` (workloads and events as
            JSON) or ``csv``; by the file's ending and first letters if None.
        cluster: Of Slurm, the field that names where a job ran.
        slots: Of Slurm, the field that says how many slots it took; the CPUs if None.

    Returns:
        The jobs that ran and ended, with counts of the others and the reasons.

    Raises:
        DataError: The file cannot be read, lacks a column, or has no usable job.
        InputError: There is no such scheduler.

    Example:
        >>> from pathlib import Path
        >>> import walras as wl
        >>> line = "JobID|JobName|User|Partition|State|Submit|Start|End|AllocCPUS"
        >>> day = "2026-03-02T"
        >>> row = f"7|train|ann|gpu|COMPLETED|{day}09:00:00|{day}09:01:00|{day}10:01:00|4"
        >>> _ = Path("jobs.txt").write_text(f"{line}\n{row}\n")
        >>> log = wl.shadow.read_jobs("jobs.txt", "slurm")
        >>> log.name, log.seconds.tolist(), log.slots.tolist()
        (('ann:4 slots',), [3600.0], [4])
    """
    if isinstance(path, pd.DataFrame):
        return checked(table.of_frame(path, "the frame"))
    path = Path(checks.of_kind(path, (str, Path), "path", "a path", remedy="give a file's path"))
    if scheduler is not None:
        checks.one_of(scheduler, "scheduler", SCHEDULERS)
    chosen = scheduler or _guessed(path)
    if chosen == "slurm":
        return checked(slurm.read(path, cluster=cluster, slots=slots))
    return checked(kueue.read(path) if chosen == "kueue" else table.read(path))


def _guessed(path: Path) -> str:
    """The scheduler by the ending and the first letters; what is wrong shows in reading."""
    if path.suffix.lower() == ".csv":
        return "csv"
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError:
        return "csv"
    if head.lstrip()[:1] in (b"{", b"["):
        return "slurm" if b'"jobs"' in head or b"slurm" in head.lower() else "kueue"
    first = head.partition(b"\n")[0]
    return "slurm" if b"State" in first and b"Submit" in first else "csv"
