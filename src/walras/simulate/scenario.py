"""Runs as TOML files: a trace, a cluster, a policy and the rules of the rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from walras import checks
from walras.errors import InputError
from walras.files import read_toml
from walras.simulate.cluster import Cluster
from walras.simulate.formats.imported import Imported
from walras.simulate.formats.load import format_of, import_trace
from walras.simulate.formats.nodes import load_cluster
from walras.simulate.formats.registry import FORMATS
from walras.simulate.gavel_trace import gavel_trace
from walras.simulate.placed import Slots, TaskTrace, draw_tasks, tables
from walras.simulate.time_shared.failures import Failures
from walras.simulate.trace import Trace

EXAMPLE = """\
[trace]               # or: file = "jobs.swf", format = "swf", columns = {queue = "kind"}
rate = 2.0            # jobs an hour, drawn as Gavel's
jobs = 5001
seed = 0
multiple = false      # whether jobs take several workers

[cluster]
v100 = 36
p100 = 36
k80 = 36

[policy]
name = "las"          # or "my_policy.py:policy"
by_speed = true

[run]
round_seconds = 360
between_decisions = 1920
seed = 0
measured = [4000, 5000]
"""

_GAVEL = {"v100": 36, "p100": 36, "k80": 36}
_FILE = ("file", "format", "columns", "types", "speeds")
DRAW = ("rate", "jobs", "seed", "multiple", "sharing", "synthetic")
_KINDS = ("time_shared", "placed")
_RUN = (
    "round_seconds",
    "between_decisions",
    "restart_seconds",
    "failures",
    "seed",
    "measured",
    "whole_steps",
)


@dataclass(frozen=True)
class Scenario:
    """What a run is made from.

    Attributes:
        trace: ``{"file": path}`` with ``format``, ``columns``, ``types`` and ``speeds`` as in
            :func:`walras.simulate.import_trace`, or the arguments of
            :func:`walras.simulate.gavel_trace`.
        cluster: Type -> number of workers; or ``{"file": path}`` with ``format`` as in
            :func:`walras.simulate.load_cluster`.
        policy: ``{"name": ...}`` with the policy's options.
        run: Arguments of :func:`walras.simulate.run`; ``measured`` is (first, end) or None, and
            ``failures`` a table of the fields of :class:`walras.simulate.Failures`.
        world: ``kind``: ``time_shared``, or ``placed`` for tasks on clusters with slots. Then a
            trace that is drawn has the arguments of :func:`walras.simulate.draw_tasks`, the cluster
            is of slots, and the world has rules and fields of :class:`walras.simulate.Slots`.

    Example:
        >>> import tomllib
        >>> from walras.simulate.scenario import EXAMPLE, scenario
        >>> scenario(tomllib.loads(EXAMPLE)).policy
        {'name': 'las', 'by_speed': True}
    """

    trace: Mapping[str, Any] = field(default_factory=dict)
    cluster: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    world: Mapping[str, Any] = field(default_factory=dict)

    @property
    def placed(self) -> bool:
        """Whether tasks are placed on clusters with slots."""
        return bool(self.world.get("kind") == "placed")

    def with_given(self, **given: Mapping[str, Any]) -> Scenario:
        """The scenario with entries of its tables replaced.

        Args:
            given: ``trace``, ``cluster``, ``policy``, ``run`` or ``world``: entries to put in
                place. A trace from a file takes the place of a drawn one, and another way round; a
                policy of another name drops the options, a cluster is taken whole, and a world of
                another kind drops all that was stated for the one before.

        Returns:
            The new scenario.

        Raises:
            InputError: A key is unknown.
        """
        kind = self.world.get("kind", _KINDS[0])
        same = given.get("world", {}).get("kind", kind) == kind
        made = dict(vars(self)) if same else {name: {} for name in vars(self)}
        for name, table in given.items():
            if not table:
                continue
            old = dict(made[name])
            if name == "trace" and ("file" in table or ("file" in old and set(table) & set(DRAW))):
                old = {}
            if name == "policy" and table.get("name", old.get("name")) != old.get("name"):
                old = {}
            made[name] = dict(table) if name == "cluster" else old | dict(table)
        return scenario(made)

    def draw_tasks(self) -> TaskTrace:
        """The tasks of a world that is ``placed``, where they are drawn.

        Raises:
            InputError: A number is out of range, or an option cannot be used.
        """
        return draw_tasks(**self.trace, clusters=self.make_slots().names)

    def make_slots(self) -> Slots:
        """The clusters with slots of a world that is ``placed``.

        Raises:
            InputError: A number is out of range, or an option cannot be used.
        """
        slots = tables.slots_of(self.world, self.cluster)
        if slots.weights or slots.quotas:
            tables.check_tenants(slots, self._tenants())
        return slots

    def _tenants(self) -> list[str]:
        """Tenants of the tasks: those of a file have one, ``all``; others are numbered."""
        if "file" in self.trace:
            return ["all"]
        count = checks.whole(self.trace.get("tenants", 1), "scenario.trace.tenants", 1)
        return [f"tenant {t}" for t in range(min(count, 10_000_000))]

    def import_trace(self) -> Imported:
        """The trace, read from its file for the cluster if one is stated, or drawn; bad rows are
        listed.

        Raises:
            DataError: The file cannot be used.
            InputError: A number is out of range, or an option of the trace cannot be used.
        """
        if "file" not in self.trace:
            drawn = gavel_trace(**self.trace)
            return Imported(drawn, np.arange(1, len(drawn) + 1))
        options = {name: self.trace[name] for name in self.trace if name != "file"}
        cluster = self.make_cluster() if self.cluster else None
        return import_trace(self.trace["file"], **options, cluster=cluster)

    def load_trace(self) -> Trace:
        """The trace, of which every row of the file must be good.

        Raises:
            DataError: The file cannot be used, or a row of it.
            InputError: A number is out of range, or an option of the trace cannot be used.
        """
        return self.import_trace().strict()

    def make_cluster(self) -> Cluster:
        """The cluster.

        Raises:
            InputError: There is no cluster, or a number of workers cannot be used.
            DataError: The list of machines cannot be used.
        """
        if not self.cluster:
            raise InputError(
                "is not given",
                where="cluster",
                allowed="type -> number of workers",
                remedy="write --cluster cpu=128, or a table [cluster]",
            )
        if "file" in self.cluster:
            return load_cluster(**{{"file": "path"}.get(k, k): v for k, v in self.cluster.items()})
        return Cluster(self.cluster)

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of :func:`walras.simulate.run` by name."""
        made = dict(self.run)
        if made.get("measured") is not None:
            made["measured"] = slice(*made["measured"])
        if "failures" in made:
            made["failures"] = Failures(**made["failures"])
        return made


def read_scenario(path: str | Path) -> Scenario:
    """Read a scenario from a TOML file.

    Args:
        path: The file.

    Returns:
        The scenario; files that it names are found from the folder of the TOML file.

    Raises:
        DataError: The file does not exist, or is not TOML.
        InputError: A key is unknown, or a value cannot be used.
    """
    made = scenario(read_toml(path, "walras simulate example prints one"))
    folder = Path(path).parent
    return replace(
        made,
        trace=located(made.trace, folder),
        cluster=located(made.cluster, folder),
        policy=located_policy(made.policy, folder),
    )


def _lacks_types(trace: Mapping[str, Any]) -> bool:
    """Whether a trace says nothing of the cluster on which it can run: not Gavel's types."""
    if "file" not in trace or "speeds" in trace:
        return False
    form = FORMATS.get(trace.get("format") or format_of(Path(trace["file"])))
    return form is not None and form.speeds is None


def located(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A table whose files are found from a folder.

    Args:
        table: Of a trace or a cluster.
        folder: The folder.
    """
    files = {"file", "speeds"} if "file" in table else set()
    return {k: str(folder / v) if k in files else v for k, v in table.items()}


def located_policy(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The table of a policy whose files are found from a folder: its function's, or a policy's
    inside it, and predicted throughputs.

    Args:
        table: The policy's name and options.
        folder: The folder.
    """

    def of_file(key: str, value: object) -> bool:
        words = str(value).rpartition(":")
        return key == "throughputs" or (key in ("name", "policy") and words[0].endswith(".py"))

    return {
        k: str(folder / v) if isinstance(v, str) and of_file(k, v) else v for k, v in table.items()
    }


def scenario(given: Mapping[str, Any]) -> Scenario:
    """Make a scenario of tables; what is left out has the values of :data:`EXAMPLE`'s defaults.

    Args:
        given: As read from TOML.

    Returns:
        The scenario.

    Raises:
        InputError: A key is unknown, or a table is none.
    """
    checks.known_keys(given, ("world", "trace", "cluster", "policy", "run"), "scenario")
    for name, table in given.items():
        if not isinstance(table, Mapping):
            several = isinstance(table, list) and name == "policy"
            raise InputError(
                f"is {checks.shown(table)}",
                where=f"scenario.{name}",
                allowed="a table of values",
                remedy="use walras simulate compare for several policies, or write one [policy]"
                if several
                else f"write a table [{name}]; walras simulate example prints one",
            )
    world = dict(given.get("world", {}))
    placed = checks.one_of(world.get("kind", _KINDS[0]), "scenario.world.kind", _KINDS) == "placed"
    checks.known_keys(world, tables.WORLD if placed else ("kind",), "scenario.world")
    trace, settings = dict(given.get("trace", {})), dict(given.get("run", {}))
    drawn = tables.DRAW if placed else DRAW
    checks.known_keys(trace, _FILE if "file" in trace else drawn, "scenario.trace")
    for name in {"file", "format", "speeds"} & set(trace):
        checks.text(trace[name], f"scenario.trace.{name}")
    checks.known_keys(settings, tables.RUN if placed else _RUN, "scenario.run")
    measured = settings.get("measured")
    if measured is not None:
        pair = isinstance(measured, list | tuple) and len(measured) == 2
        if not pair or not all(type(k) is int and k >= 0 for k in measured):
            raise InputError(
                f"is {checks.shown(measured)}",
                where="scenario.run.measured",
                allowed="[first, end]: whole numbers from 0",
                remedy="leave it out to measure every job",
            )
    if "failures" in settings:
        table = checks.of_kind(settings["failures"], dict, "scenario.run.failures", "a table")
        checks.known_keys(table, tuple(Failures.__dataclass_fields__), "scenario.run.failures")
    cluster = dict(given.get("cluster", {}))
    if "file" in cluster and not placed:
        checks.known_keys(cluster, ("file", "format"), "scenario.cluster")
        checks.text(cluster["file"], "scenario.cluster.file")
    policy = {"name": "exchange" if placed else "fifo"} | dict(given.get("policy", {}))
    default = tables.CLUSTER if placed else {} if _lacks_types(trace) else _GAVEL
    return Scenario(trace, cluster or dict(default), policy, settings, world)
