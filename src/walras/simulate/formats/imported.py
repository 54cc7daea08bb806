"""A trace that was read from a file, and all that was not taken of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from walras.errors import DataError
from walras.simulate.cluster import Cluster
from walras.simulate.formats.raw import Refusal
from walras.simulate.trace import Trace
from walras.text import counted
from walras.types import Longs


@dataclass(frozen=True, eq=False)
class Imported:
    r"""A trace read from a file.

    Attributes:
        trace: The good rows, by arrival.
        row: (N,) number in the file of each job.
        refused: Rows that cannot be used, with field and reason.
        left_out: Reason -> rows that are no job to run, such as jobs that never started.
        notes: What else was done, such as sorting.
        unit: What the numbers of rows count: lines of a text, or jobs of a list.
        capacity: What the file says of its cluster; None if nothing.
        unused: Columns of a table that no field takes.

    Example:
        >>> from pathlib import Path
        >>> import walras as wl
        >>> rows = "name,arrival,seconds\na,0,60\nb,10,90\nc,20,soon\n"
        >>> _ = Path("jobs.csv").write_text(rows)
        >>> found = wl.simulate.import_trace("jobs.csv")
        >>> print(found.trace.name, *found.refused)
        ('a', 'b') line 4: seconds is 'soon', not a number above 0
    """

    trace: Trace
    row: Longs
    refused: tuple[Refusal, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unit: str = "line"
    capacity: Cluster | None = None
    unused: tuple[str, ...] = ()

    def strict(self) -> Trace:
        """The trace, of which every row must be good.

        Returns:
            The trace.

        Raises:
            DataError: A row was refused; the first is named, the others are counted.
        """
        if self.refused:
            raise _bad_rows(self.refused, len(self.row), self.trace.source)
        return self.trace

    def fitting(self, cluster: Cluster) -> Imported:
        """The jobs that can run on a cluster; the others are refused.

        Args:
            cluster: The cluster.

        Returns:
            The same, with fewer jobs and more refused rows.

        Raises:
            InputError: The trace knows no speeds on a type of the cluster.
            DataError: No job fits.
        """
        fits = self.trace.fits(cluster)
        if fits.all():
            return self
        if not fits.any():
            raise DataError(
                f"no job fits in {cluster}",
                where=self.trace.source,
                allowed=f"jobs of at most {cluster.workers.max()} workers, on {cluster.types}",
                remedy="take a larger cluster, or name its types as the trace does",
            )
        misfits = f"jobs that do not fit: {int((~fits).sum())}"
        refused = [self._misfit(int(j), cluster) for j in np.flatnonzero(~fits)]
        return replace(
            self,
            trace=replace(self.trace.only(fits), source=f"{self.trace.source}, {misfits}"),
            row=self.row[fits],
            refused=tuple(sorted((*self.refused, *refused), key=lambda found: found.row)),
        )

    def _misfit(self, j: int, cluster: Cluster) -> Refusal:
        trace = self.trace
        able = [t for t in cluster.types if trace.speed[j, trace.types.index(t)] > 0.0]
        if not able:
            reason = f"of job {trace.name[j]!r} has none of {', '.join(cluster.types)}"
            return Refusal(int(self.row[j]), "type", reason, self.unit)
        most = max(cluster.counts[t] for t in able)
        reason = f"is {trace.size[j]}, more than the {most} workers of {' and '.join(able)}"
        return Refusal(int(self.row[j]), "size", reason, self.unit)

    def frame(self) -> pd.DataFrame:
        """The refused rows of the file.

        Returns:
            Columns ``row``, ``field`` and ``reason``.
        """
        rows = [(found.row, found.field, found.reason) for found in self.refused]
        return pd.DataFrame(rows, columns=["row", "field", "reason"])

    def __repr__(self) -> str:
        out = sum(self.left_out.values())
        bad = counted(len(self.refused), "row")
        return f"Imported({self.trace!r}; {bad} refused, {out} left out)"


def refuse_mostly_bad(refused: tuple[Refusal, ...], good: int, where: str) -> None:
    """Refuse a file of which more rows are bad than good.

    Raises:
        DataError: So it is; the first bad row is named, the others are counted.
    """
    if len(refused) > good:
        raise _bad_rows(refused, good, where)
    if not good:
        raise _unusable("holds no job", where)


def _bad_rows(refused: tuple[Refusal, ...], good: int, where: str) -> DataError:
    count = f"{len(refused)} of {len(refused) + good} rows cannot be used"
    return _unusable(f"{refused[0]}; {count}", where)


def _unusable(what: str, where: str) -> DataError:
    """The error for a file whose rows cannot be used."""
    return DataError(
        what,
        where=where,
        allowed="one job a row, as the format has it",
        remedy="check the format and the map of columns, or correct the file",
    )
