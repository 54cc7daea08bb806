"""Clusters in virtual time: traces of jobs, and what a policy makes of them round by round.

No solver is imported here: a policy is a function from a snapshot of a round to shares of time, or
to placements of tasks on clusters with slots, such as those of :mod:`walras.policies`.
"""

from __future__ import annotations

from walras.simulate.cluster import Cluster
from walras.simulate.compare import NO_POLICY, Comparison, UnkeptError, compare
from walras.simulate.finish_time import UNFAIR, finish_time_ratios
from walras.simulate.formats.imported import Imported
from walras.simulate.formats.load import import_trace, load_trace
from walras.simulate.formats.nodes import load_cluster
from walras.simulate.formats.raw import Refusal
from walras.simulate.formats.registry import FORMATS, Format
from walras.simulate.formats.write import export_run, save_trace
from walras.simulate.gavel_trace import gavel_trace
from walras.simulate.metrics import by_kind, summary
from walras.simulate.offered_load import OfferedLoad, check_load
from walras.simulate.placed import Outage, PlacedRun, Slots, TaskTrace, draw_tasks
from walras.simulate.result import STATES, Run
from walras.simulate.run import run
from walras.simulate.time_shared.failures import Failures
from walras.simulate.trace import Trace

__all__ = [
    "FORMATS",
    "NO_POLICY",
    "STATES",
    "UNFAIR",
    "Cluster",
    "Comparison",
    "Failures",
    "Format",
    "Imported",
    "OfferedLoad",
    "Outage",
    "PlacedRun",
    "Refusal",
    "Run",
    "Slots",
    "TaskTrace",
    "Trace",
    "UnkeptError",
    "by_kind",
    "check_load",
    "compare",
    "draw_tasks",
    "export_run",
    "finish_time_ratios",
    "gavel_trace",
    "import_trace",
    "load_cluster",
    "load_trace",
    "run",
    "save_trace",
    "summary",
]
