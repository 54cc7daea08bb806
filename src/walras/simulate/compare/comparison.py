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
from walras.text import counted
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
        missing: Trace, policy and seed of each run that is missing.

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
    missing: tuple[tuple[str, str, int], ...] = ()

    @classmethod
    def of_rows(
        cls,
        rows: Sequence[pd.DataFrame],
        status: Status,
        missing: Sequence[tuple[str, str, int]] = (),
    ) -> Comparison:
        """The comparison of tables with the columns of :attr:`table`.

        Args:
            rows: (tables,) the tables, which are put one below the other.
            status: ``interrupted`` where runs are missing.
            missing: Trace, policy and seed of each run that is missing.

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
            missing=tuple(missing),
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
        if bounds is not None:  # of the trace alone, whatever the seed
            seeds = dict.fromkeys(run.seed for run in runs.values())
            rows.extend(rows_of_bounds(source, seed, bounds) for seed in seeds)
        return cls.of_rows(rows, Status.FEASIBLE)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The tidy table: ``trace``, ``policy``, ``seed``, ``measure``, ``value``, ``unit``."""
        return pd.DataFrame({name: getattr(self, name) for name in _COLUMNS})

    @property
    def complete(self) -> bool:
        """Whether no run is missing."""
        return self.status is not Status.INTERRUPTED

    @property
    def seeds(self) -> list[int]:
        """The seeds, those of missing runs too."""
        return sorted({*self.seed.tolist(), *(seed for *_, seed in self.missing)})

    @property
    def traces(self) -> list[str]:
        """Names of the traces, those of missing runs too."""
        return list(dict.fromkeys([*self.trace, *(trace for trace, *_ in self.missing)]))

    @property
    def runs(self) -> int:
        """How many runs it has; a bound counts as one."""
        return len(set(zip(self.trace, self.policy, self.seed.tolist(), strict=True)))

    def frame(self, measures: Sequence[str] | None = None, *, spread: bool = False) -> pd.DataFrame:
        """Means over seeds: one row a trace and policy, one column a measure.

        They are over the same seeds for every row of a trace and column: those of which each row
        with any value has one (see :meth:`notes`). Where rows have no seed in common, each is over
        its own.

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
        groups = _over_same_seeds(chosen).groupby(["trace", "policy", "measure"], sort=False)[
            "value"
        ]
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
        rows = self.table[~self.table["measure"].isin(SECONDS)]
        return self.of_rows([rows], self.status, self.missing)

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
        keys = ["trace", "class", "policy"]
        means = _over_same_seeds(rows).groupby(keys, sort=False)["value"].mean()
        return means.unstack("policy", sort=False)

    def notes(self, measures: Sequence[str] | None = None) -> dict[str, str]:
        """Over how many seeds the means are of :meth:`frame`, where not over all.

        Args:
            measures: Which; those of :meth:`frame` if None.

        Returns:
            Measure -> words such as ``2 of 3 seeds``.
        """
        wanted = _SHOWN if measures is None else measures
        used = _over_same_seeds(self.table[self.table["measure"].isin(wanted)]).dropna()
        counts = used.groupby(["measure", "trace", "policy"], sort=False)["seed"].nunique()
        asked = len(self.seeds)
        return {
            str(name): f"{low if low == high else f'{low} to {high}'} of {asked} seeds"
            for name, low, high in counts.groupby("measure").agg(["min", "max"]).itertuples()
            if low < asked
        }

    def refused(self, *by: str) -> pd.Series:
        """Share of the decisions that were refused, where any was. None of these is carried out, so
        that the times are not the policy's own.

        Args:
            by: ``trace``, ``policy`` or both.

        Returns:
            The shares, above 0.
        """
        keys = list(by or ("policy",))
        names = ["refused decisions", "decisions"]
        rows = self.table[self.table["measure"].isin(names)]
        sums = rows.pivot_table("value", keys, "measure", "sum", sort=False).reindex(columns=names)
        share = sums[names[0]] / sums[names[1]]
        return share[share > 0.0]

    @property
    def labels(self) -> dict[str, str]:
        """Policies whose decisions were refused -> in how many."""
        return {str(name): refused_label(share) for name, share in self.refused().items()}

    def plot(self, measures: Sequence[str] = ("mean completion", "makespan")) -> Figure:
        """Measures of the policies beside what no policy can beat; needs the extra ``plot``.

        Args:
            measures: One panel each.

        Returns:
            The figure.
        """
        # Imported here: plot is an optional extra.
        from walras.plot.policies import policies_compared  # noqa: PLC0415

        said = self.notes(measures)
        if len(set(self.trace)) == 1 < len(self.traces):  # bars do not say their trace
            said = {
                name: ", ".join([*self.trace[:1], *filter(None, [said.get(name)])])
                for name in measures
            }
        return policies_compared(_over_same_seeds(self.table), measures, notes=self.labels | said)

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
        counts = (
            counted(len(names), "policy", "policies"),
            counted(len(self.traces), "trace"),
            counted(len(self.seeds), "seed"),
        )
        return f"Comparison({self.status}: {', '.join(counts)})"


_NUMBERS = ("seed", "value")


def refused_label(share: float) -> str:
    """The share of refused decisions in words; all and none are said only of all and none.

    Args:
        share: The share, above 0.
    """
    return f"{100 if share == 1.0 else min(max(100 * share, 0.1), 99.9):.3g} % refused"


def _over_same_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """The table with NaN where not every policy that has any value of the trace and measure has one
    with the seed; where no seed is such, as it is.
    """
    known = table[table["value"].notna()]
    keys = ["trace", "measure"]
    policies = known.groupby(keys)["policy"].transform("nunique")
    shared = known.groupby([*keys, "seed"])["policy"].transform("nunique") == policies
    some = shared.groupby([known[name] for name in keys]).transform("any")
    kept = known.index[shared | ~some]
    return table.assign(value=table["value"].where(table.index.isin(kept)))


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
