"""Comparisons as TOML files: a scenario with several policies, seeds or rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from walras import checks
from walras.errors import InputError
from walras.files import read_toml
from walras.simulate.cluster import Cluster
from walras.simulate.gavel_trace import gavel_trace
from walras.simulate.placed import Slots, TaskTrace, draw_tasks
from walras.simulate.scenario import Scenario, located, located_policy, scenario
from walras.simulate.trace import Trace

EXAMPLE = """\
[trace]               # or: file = "jobs.trace"
rate = [2.0, 6.0]     # jobs an hour: one rate, or several
jobs = 300
multiple = false

[cluster]
v100 = 6
p100 = 6
k80 = 6

[[policy]]
name = "fifo"

[[policy]]
name = "las"
label = "max-min by speed"
by_speed = true

[[policy]]
name = "shortest_remaining_time"

[run]
seeds = [0, 1, 2]     # of the traces that are drawn, and of the simulator
round_seconds = 360
"""

EXAMPLE_PLACED = """\
[world]
kind = "placed"       # tasks on clusters with slots
min_success = 0.8     # floor under the mean chance of success of a round

[trace]               # or: file = "jobs.trace"; its types are clusters
rate = [180.0, 360.0] # tasks an hour: one rate, or several
tasks = 300
tenants = 2
error = 0.3           # of predictions: deviation of the logarithm of times

[cluster]             # slots of each
east = 12
west = 8

[[policy]]
name = "exchange"

[[policy]]
name = "fastest_cluster"

[[policy]]
name = "best_fit"

[[policy]]
name = "first_fit"

[run]
seeds = [0, 1, 2]     # of the tasks that are drawn, and of their runs
round_seconds = 30
"""

EXAMPLES = {"time_shared": EXAMPLE, "placed": EXAMPLE_PLACED}
"""Configurations to begin with, by the kind of their world."""


@dataclass(frozen=True)
class Study:
    """What a comparison is made from.

    Attributes:
        policies: Label -> ``{"name": ...}`` with the policy's options.
        traces: Label -> scenario with the trace; all have the same cluster and rules.
        seeds: The seeds.

    Example:
        >>> import tomllib
        >>> from walras.simulate.compare.study import EXAMPLE, study
        >>> found = study(tomllib.loads(EXAMPLE))
        >>> list(found.policies)
        ['fifo', 'max-min by speed', 'shortest_remaining_time']
        >>> list(found.traces), found.seeds
        (['2 jobs/h', '6 jobs/h'], (0, 1, 2))
    """

    policies: Mapping[str, Mapping[str, Any]]
    traces: Mapping[str, Scenario]
    seeds: tuple[int, ...]

    @property
    def placed(self) -> bool:
        """Whether tasks are placed on clusters with slots."""
        return self._first.placed

    def draws(self) -> dict[str, partial[Trace] | partial[TaskTrace]]:
        """Functions that draw a trace from a seed, by label, where traces are drawn."""
        return {label: self._draw(one) for label, one in self.traces.items()}

    def _draw(self, one: Scenario) -> partial[Trace] | partial[TaskTrace]:
        given = {k: v for k, v in one.trace.items() if k != "seed"}
        if self.placed:
            return partial(draw_tasks, **given, clusters=one.make_slots().names)
        return partial(gavel_trace, **given)

    @property
    def _first(self) -> Scenario:
        return next(iter(self.traces.values()))

    def make_cluster(self) -> Cluster | Slots:
        """The cluster, or the clusters with slots.

        Raises:
            InputError: A number of workers cannot be used.
            DataError: The list of machines cannot be used.
        """
        return self._first.make_slots() if self.placed else self._first.make_cluster()

    @property
    def world(self) -> Mapping[str, Any]:
        """What is stated of the kind of cluster and its rules."""
        return self._first.world

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of :func:`walras.simulate.run` by name."""
        return self._first.settings


def read_study(path: str | Path) -> Study:
    """Read a comparison from a TOML file.

    Args:
        path: The file.

    Returns:
        The study; files that it names are found from the folder of the TOML file.

    Raises:
        DataError: The file does not exist, or is not TOML.
        InputError: A key is unknown, or a value cannot be used.
    """
    tables = read_toml(path, "walras simulate compare --example prints one")
    found, folder = study(tables), Path(path).parent
    traces = {
        label: replace(one, trace=located(one.trace, folder), cluster=located(one.cluster, folder))
        for label, one in found.traces.items()
    }
    policies = {label: located_policy(one, folder) for label, one in found.policies.items()}
    return replace(found, traces=traces, policies=policies)


def study(tables: Mapping[str, Any]) -> Study:
    """Make a study of tables, as read from TOML.

    Args:
        tables: ``world``, ``trace``, ``cluster`` and ``run`` as of a scenario, whose ``trace.rate``
            may be a list and whose ``run`` may have ``seeds``; ``policy``, a table or a list of
            them, each with a ``label`` where it wants one.

    Returns:
        The study.

    Raises:
        InputError: A key is unknown, a value cannot be used, or two settings say the same.
    """
    for name in ("run", "trace", "world"):
        if not isinstance(tables.get(name, {}), Mapping):
            raise InputError(
                f"is {checks.shown(tables[name])}", where=f"study.{name}", allowed="a table"
            )
    run, trace = dict(tables.get("run", {})), dict(tables.get("trace", {}))
    _refuse_seeds(run, trace)
    seeds = run.pop("seeds", [run.pop("seed", 0)])
    if not isinstance(seeds, list) or not seeds:
        raise InputError(
            f"is {checks.shown(seeds)}",
            where="study.run.seeds",
            allowed="a list of whole numbers",
            remedy="write seeds = [0, 1, 2]",
        )
    rates = trace.get("rate", [])
    what = "task" if tables.get("world", {}).get("kind") == "placed" else "job"
    several = isinstance(rates, list) and rates
    traces = _by_rate(trace, rates, what) if several else {"trace": trace}
    rest = {name: table for name, table in tables.items() if name not in ("policy", "trace", "run")}
    made = {
        label: scenario({**rest, "trace": table, "run": run}) for label, table in traces.items()
    }
    policies = _policies(tables.get("policy", next(iter(made.values())).policy))
    whole = [checks.whole(seed, f"study.run.seeds[{k}]") for k, seed in enumerate(seeds)]
    return Study(policies, made, tuple(whole))


def _refuse_seeds(run: Mapping[str, Any], trace: Mapping[str, Any]) -> None:
    """Refuse a seed that nothing would use."""
    for table, name, given in (("run", "seed", "seeds" in run), ("trace", "seed", True)):
        if given and name in {"run": run, "trace": trace}[table]:
            raise InputError(
                "is given, and traces are drawn with the seeds of the comparison",
                where=f"study.{table}.{name}",
                allowed="run.seeds, a list of whole numbers",
                remedy="leave it out, and write seeds = [0, 1, 2] below [run]",
            )


def _by_rate(trace: Mapping[str, Any], rates: list[Any], what: str) -> dict[str, dict[str, Any]]:
    """Label -> table of a trace, one each rate of jobs or tasks (``what``, the word for one)."""
    found: dict[str, dict[str, Any]] = {}
    for k, given in enumerate(rates):
        where = f"study.trace.rate[{k}]"
        rate = checks.number(given, where, above=0.0)
        label = f"{rate:g} {what if rate == 1.0 else what + 's'}/h"
        if label in found:
            raise InputError(
                f"is {rate:g}, as one before",
                where=where,
                allowed="rates that differ in the first six digits",
                remedy="state each once",
            )
        found[label] = dict(trace) | {"rate": rate}
    return found


def _policies(given: object) -> dict[str, dict[str, Any]]:
    """Label -> table of a policy."""
    listed = given if isinstance(given, list) else [given]
    found: dict[str, dict[str, Any]] = {}
    for k, table in enumerate(listed):
        where = f"study.policy[{k}]"
        if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
            raise InputError(
                f"is {checks.shown(table)}",
                where=where,
                allowed="a table with the policy's name",
                remedy='write [[policy]] and name = "fifo" below it',
            )
        own = dict(table)
        options = ", ".join(f"{n}={v}" for n, v in own.items() if n not in ("name", "label"))
        label = own.pop("label", own["name"] + (f" ({options})" if options else ""))
        checks.text(label, f"{where}.label", blank=False)
        if label in found:
            raise InputError(
                f"is {label!r}, as that of another policy",
                where=f"{where}.label",
                allowed="labels that differ",
                remedy="give each policy a label of its own",
            )
        found[label] = own
    return found
