"""The result of a comparison: one tidy table, and its summary over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from walras import saving
from walras.simulate.metrics import BY_CLASS, SECONDS, class_means, no_classes, summary
from walras.simulate.result import Run
from walras.status import Status
from walras.types import Floats, Longs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_POLICY = "no policy below"
"""Name of the row of bounds that hold for every policy."""

_COLUMNS = ("trace", "policy", "seed", "measure", "value", "unit")
_SHOWN = (
    "ended",
    "mean completion",
    "99 % completion",
    "makespan",
    "worst finish-time ratio",
    "treated unfairly",
    "fairness of rounds",
)


class Bounds(Protocol):
    """Bounds that no policy can beat, in seconds."""

    @property
    def mean_completion(self) -> float:
        """From arrival to end, on average."""

    @property
    def makespan(self) -> float:
        """From the first arrival to the last end."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Measures of policies, one entry a trace, policy, seed and measure.

    Attributes:
        trace: (K,) name of the trace.
        policy: (K,) name of the policy; :data:`NO_POLICY` for bounds.
        seed: (K,) seed.
        measure: (K,) name, as in :func:`walras.simulate.summary`; of jobs of several classes also
            ``mean completion of CLASS``.
        value: (K,) its value.
        unit: (K,) its unit.
        status: ``feasible``, or ``interrupted`` where runs are missing.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.Trace.of(["a", "b"], steps=[600, 1200])
        >>> cluster = wl.simulate.Cluster({"type 0": 1})
        >>> policies = {"fifo": wl.policies.fifo, "max-min": wl.policies.las}
        >>> found = wl.simulate.compare(trace, cluster, policies, processes=1, round_seconds=0)
        >>> (found.frame(["mean completion"])["mean completion"] * 3600).round(1).to_dict()
        {('trace', 'fifo'): 1200.0, ('trace', 'max-min'): 1500.0}
    """

    trace: tuple[str, ...]
    policy: tuple[str, ...]
    seed: Longs
    measure: tuple[str, ...]
    value: Floats
    unit: tuple[str, ...]
    status: Status = Status.FEASIBLE

    @classmethod
    def of_rows(cls, rows: Sequence[pd.DataFrame], status: Status) -> Comparison:
        """The comparison of tables with the columns of :attr:`table`.

        Args:
            rows: (tables,) the tables, which are put one below the other.
            status: ``interrupted`` where runs are missing.

        Returns:
            The comparison.
        """
        empty = pd.DataFrame({name: [] for name in _COLUMNS})
        table = pd.concat(rows, ignore_index=True) if rows else empty
        texts = {name: tuple(table[name].astype(str)) for name in _COLUMNS if name not in _NUMBERS}
        return cls(
            **texts,
            seed=table["seed"].to_numpy(np.int64),
            value=table["value"].to_numpy(np.float64),
            status=status,
        )

    @classmethod
    def of_runs(cls, runs: Mapping[str, Run], bounds: Bounds | None = None) -> Comparison:
        """The comparison of runs of one trace.

        Args:
            runs: Runs by the names that their rows get.
            bounds: What no policy can beat on their trace.

        Returns:
            The comparison.
        """
        source = next(iter(runs.values())).source if runs else "trace"
        rows = [rows_of(source, name, run.seed, run) for name, run in runs.items()]
        if bounds is not None:
            rows.append(rows_of_bounds(source, 0, bounds))
        return cls.of_rows(rows, Status.FEASIBLE)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The tidy table: ``trace``, ``policy``, ``seed``, ``measure``, ``value``, ``unit``."""
        return pd.DataFrame({name: getattr(self, name) for name in _COLUMNS})

    @property
    def complete(self) -> bool:
        """Whether no run is missing."""
        return self.status is not Status.INTERRUPTED

    def frame(self, measures: Sequence[str] | None = None, *, spread: bool = False) -> pd.DataFrame:
        """Means over seeds: one row a trace and policy, one column a measure.

        Args:
            measures: Which; those that people compare by if None, without those of which there is
                nothing to count.
            spread: Whether a column ``± measure`` follows each, with the standard deviation over
                seeds (NaN for one seed).

        Returns:
            The frame, in the units of :func:`walras.simulate.summary`.
        """
        wanted = list(_SHOWN if measures is None else measures)
        chosen = self.table[self.table["measure"].isin(wanted)]
        groups = chosen.groupby(["trace", "policy", "measure"], sort=False)["value"]
        made = pd.DataFrame({"": groups.mean(), "± ": groups.std()}).unstack("measure")
        columns = {
            f"{sign}{name}": made[sign, name]
            for name in wanted
            for sign in (("", "± ") if spread else ("",))
            if (sign, name) in made and (measures or made["", name].notna().any())
        }
        order = pd.MultiIndex.from_frame(chosen[["trace", "policy"]].drop_duplicates())
        return pd.DataFrame(columns).reindex(order)

    @property
    def timeless(self) -> Comparison:
        """The same without seconds of policies and of the simulator, which differ from one run to
        the next.
        """
        return self.of_rows([self.table[~self.table["measure"].isin(SECONDS)]], self.status)

    def by_class(self) -> pd.DataFrame:
        """Mean completion by class of jobs: means over seeds.

        Returns:
            One row a trace and class, one column a policy; hours, NaN where no job ended.

        Raises:
            InputError: Its jobs are of one class, or of more than 200.
        """
        rows = self.table[[name.startswith(BY_CLASS) for name in self.measure]]
        if rows.empty:
            raise no_classes()
        rows = rows.assign(**{"class": rows["measure"].str.removeprefix(BY_CLASS)})
        means = rows.groupby(["trace", "class", "policy"], sort=False)["value"].mean()
        return means.unstack("policy", sort=False)

    def plot(self, measures: Sequence[str] = ("mean completion", "makespan")) -> Figure:
        """Measures of the policies beside what no policy can beat; needs the extra ``plot``.

        Args:
            measures: One panel each.

        Returns:
            The figure.
        """
        # Imported here: plot is an optional extra.
        from walras.plot.policies import policies_compared  # noqa: PLC0415

        return policies_compared(self.table, measures)

    def save(self, path: str | Path) -> None:
        """Write it to one file, which :func:`walras.load` reads.

        It is written :attr:`timeless`: the same traces, policies and seeds give the same bytes.

        Args:
            path: The file, usually ``.npz``.

        Raises:
            DataError: The file cannot be written.
        """
        saving.save(self, path)

    def to_saved(self) -> Mapping[str, Any]:
        """Its parts by name, without the measures of the wall clock."""
        return saving.saved_fields(self.timeless)

    @classmethod
    def from_saved(cls, parts: Mapping[str, Any]) -> Comparison:
        """The comparison of these parts."""
        return cls(**parts)

    def __repr__(self) -> str:
        names = [name for name in dict.fromkeys(self.policy) if name != NO_POLICY]
        counts = f"{len(set(self.trace))} traces, {len(set(self.seed.tolist()))} seeds"
        return f"Comparison({self.status}: {len(names)} policies, {counts})"


_NUMBERS = ("seed", "value")


def rows_of(trace: str, policy: str, seed: int, run: Run) -> pd.DataFrame:
    """The rows of a run.

    Args:
        trace: Name of the trace.
        policy: Name of the policy.
        seed: The seed.
        run: The run.
    """
    rows = pd.concat([summary(run), class_means(run)], ignore_index=True)
    return rows.assign(trace=trace, policy=policy, seed=seed)


def rows_of_bounds(trace: str, seed: int, bounds: Bounds) -> pd.DataFrame:
    """The rows of bounds.

    Args:
        trace: Name of the trace.
        seed: The seed.
        bounds: The bounds, seconds.
    """
    values = {"mean completion": bounds.mean_completion, "makespan": bounds.makespan}
    made = {
        "measure": list(values),
        "value": [seconds / 3600 for seconds in values.values()],
        "unit": "h",
    }
    return pd.DataFrame(made).assign(trace=trace, policy=NO_POLICY, seed=seed)
