"""A round under several policies: run them, and say what came out in tables and words."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walras.demo.stages import Callback, Stages
from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling.rounds import Round
from walras.reports.tables import Cell, Table
from walras.separable import Separable
from walras.solution import Solution
from walras.solving import solve
from walras.types import Floats

MAX_MIN, FAIR = "max-min", "proportional"
POP_MAX_MIN, POP_FAIR = "max-min by POP-4", "proportional by POP-4"
GREEDY, EQUAL = "greedy", "equal share"
TOLERANCE = 1e-6

LEGEND = (
    "min, median, mean: throughput relative to an equal share; log: mean logarithm of it, nat a "
    "job; used: % of all GPUs; viol.: largest violation of any rule; gap: certified, to the "
    "optimum of the policy's own objective; time: seconds, stating the problem included."
)
PROOF = (
    "The bounds are recomputed from the data and the prices alone, whatever the engine claims; "
    "every rule is checked on the allocation that is returned."
)


@dataclass(frozen=True, eq=False)
class Outcome:
    """One policy on one round.

    Attributes:
        policy: Its name.
        x: (resources, jobs) shares of time.
        judged: The independent evaluation, throughputs relative to an equal share.
        solution: What the solver returned; None for a baseline.
        seconds: Wall time, stating the problem included.
    """

    policy: str
    x: Floats
    judged: cs.Evaluation
    solution: Solution | None
    seconds: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """A round and all policies on it.

    Attributes:
        round: The round.
        outcomes: In the order in which they are shown; fewer when interrupted.
    """

    round: Round
    outcomes: tuple[Outcome, ...]

    def of(self, policy: str) -> Outcome | None:
        """The outcome of a policy, or None when it was not reached."""
        return next((o for o in self.outcomes if o.policy == policy), None)

    @property
    def exact(self) -> list[tuple[Outcome, Solution]]:
        """The policies that are solved to optimality, with their solutions."""
        found = (self.of(MAX_MIN), self.of(FAIR))
        return [(o, o.solution) for o in found if o is not None and o.solution is not None]


def warm_up(threads: int | None, on_progress: Callback) -> None:
    """Load the libraries and the kernels, compiled at the first run, so that no policy's time holds
    that: one small problem for every path that the rounds take.

    Args:
        threads: As for the solves to come.
        on_progress: Called after each step.
    """
    rng = np.random.default_rng(0)
    for types, jobs in ((3, 8), (60, 400)):  # whole, and by columns
        speeds = rng.lognormal(size=(types, jobs))
        for state in (cs.max_min, cs.proportional_fairness):
            problem = state(speeds, np.ones(jobs), np.full(types, jobs / types / 2))
            solve(problem, engine="interior", threads=threads, on_progress=on_progress)


def stage(round_: Round, policy: str) -> str:
    """Name of the stage in which a policy runs."""
    return f"{round_.title}: {policy}"


def compare(
    round_: Round,
    policies: list[str],
    threads: int | None,
    stages: Stages,
) -> Comparison:
    """Run policies on a round, one after the other, until done or interrupted.

    Args:
        round_: The round; its throughputs are taken relative to an equal share.
        policies: Names of this module.
        threads: Threads of each solve, or None for all cores.
        stages: Called before each policy; may ask to stop.
    """
    throughput = cs.normalise(round_.throughput, round_.size, round_.capacity, per="share")
    outcomes: list[Outcome] = []
    for policy in policies:
        if stages.stopped:
            break
        callback = stages.begin(stage(round_, policy))
        outcomes.append(_outcome(policy, round_, throughput, threads, callback))
    return Comparison(round_, tuple(outcomes))


def _outcome(
    policy: str, round_: Round, throughput: Floats, threads: int | None, on_progress: Callback
) -> Outcome:
    began = time.perf_counter()
    data = (throughput, round_.size, round_.capacity)
    solution = None
    if policy in (GREEDY, EQUAL):
        x = cs.greedy(*data) if policy == GREEDY else cs.equal_share(*data)
    else:
        state: Callable[..., Separable] = (
            cs.max_min if policy in (MAX_MIN, POP_MAX_MIN) else cs.proportional_fairness
        )
        problem = state(
            *data,
            resource_names=list(round_.throughput.index),
            demand_names=list(round_.throughput.columns),
        )
        solution = solve(
            problem,
            engine="pop" if policy in (POP_MAX_MIN, POP_FAIR) else "interior",
            tolerance=TOLERANCE,
            threads=threads,
            on_progress=on_progress,
        )
        x = solution.x
    seconds = time.perf_counter() - began
    return Outcome(policy, x, cs.evaluate(*data, x), solution, seconds)


def table(comparison: Comparison) -> Table:
    """Every figure of every policy."""
    rows = []
    for o in comparison.outcomes:
        judged, gap = o.judged, o.solution.gap if o.solution else None
        rows.append(
            (
                o.policy,
                judged.least,
                judged.median,
                judged.mean,
                judged.log_fairness,
                100 * judged.utilisation,
                judged.violation,
                gap,
                o.seconds,
            )
        )
    title = f"{comparison.round.title} ({comparison.round.source})"
    return Table(
        ("policy", "min", "median", "mean", "log", "used", "violation", "gap", "seconds"),
        rows,
        title,
    )


def shown(full: Table) -> Table:
    """The table with as many digits as people read; it fits 80 columns."""
    digits = (".3f", ".3f", ".3f", ".3f", ".1f", ".0e", ".0e", ".2f")
    rows: list[list[Cell]] = []
    for policy, *figures in full.rows:
        # POP's rows stand below those of the objective they share.
        name = "  by POP-4" if policy in (POP_MAX_MIN, POP_FAIR) else policy
        # Adding 0.0 turns -0.0 into 0.0.
        rounded = [
            float(f"{figure:{form}}") + 0.0 if isinstance(figure, float) else figure
            for figure, form in zip(figures, digits, strict=True)
        ]
        rows.append([name, *rounded])
    columns = ("policy", "min", "median", "mean", "log", "used", "viol.", "gap", "time")
    return Table(columns, rows, full.title)


def facts(comparison: Comparison) -> str:
    """The round in a few sentences."""
    r = comparison.round
    kinds = len(r.capacity)
    gpus = " + ".join(
        f"{c:g} {name}" for c, name in zip(r.capacity, r.throughput.index, strict=True)
    )
    cluster = gpus if kinds <= 4 else f"{r.capacity.sum():,.0f} GPUs of {kinds} types"
    left_out = f" ({r.left_out} of the trace's jobs have none and are left out)" * bool(r.left_out)
    return (
        f"{len(r.size):,} jobs ask for {r.size.sum():,.0f} GPUs and share {cluster}. Throughputs: "
        f"{r.source}{left_out}. Throughput 1 is what a job gets alone with an equal share."
    )


def certificates(comparison: Comparison) -> list[str]:
    """What the certificates prove, in words."""
    out = []
    for o, s in comparison.exact:
        found = f"Found in {duration(s.timings.total)} by engine {s.engine}."
        if o.policy == MAX_MIN:
            out.append(
                f"Max-min: every job gets at least {o.judged.least:.6f} times its equal share, "
                f"and no allocation gives all jobs more than {s.bound:.6f} (gap {s.gap:.0e}). "
                f"{found}"
            )
        else:
            out.append(
                f"Proportional fairness: no allocation has a mean log throughput over "
                f"{s.bound / len(o.judged.weight):.6f}; this one has "
                f"{o.judged.log_fairness:.6f} (gap {s.gap:.0e} nat a job). {found}"
            )
    return out


def duration(seconds: float) -> str:
    """Seconds, or milliseconds when short."""
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1000 * seconds:.0f} ms"
