"""``walras demo``: a real scheduling round solved, compared, certified and shown."""

from __future__ import annotations

import hashlib
import platform
import sys
import time
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from walras.cli.errors import ExitCode, exit_code
from walras.cli.output import Format, OutputOption, Table, emit, to_json
from walras.cli.progress import Callback, Interruptible, Stages
from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling.rounds import Round, dede_like, gavel
from walras.errors import DataError, InputError
from walras.separable import Separable
from walras.solution import Solution
from walras.solving import solve

Floats = npt.NDArray[np.float64]

MAX_MIN, FAIR = "max-min", "proportional"
POP_MAX_MIN, POP_FAIR = "POP-4 max-min", "POP-4 prop."
GREEDY, EQUAL = "greedy", "equal share"
# Expected seconds of each stage of the small and the large round, for the time left.
_SMALL = {MAX_MIN: 1.0, FAIR: 0.5, POP_MAX_MIN: 0.5, POP_FAIR: 0.5, GREEDY: 0.1, EQUAL: 0.1}
_LARGE = {MAX_MIN: 3.0, FAIR: 3.0}
_TOLERANCE = 1e-6
_PACKAGES = ("walras", "numpy", "scipy", "numba", "highspy", "clarabel")


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
        throughput: (resources, jobs) relative to an equal share of the cluster.
        outcomes: In the order in which they are shown; fewer when interrupted.
    """

    round: Round
    throughput: Floats
    outcomes: tuple[Outcome, ...]

    def of(self, policy: str) -> Outcome | None:
        """The outcome of a policy, or None when it was not reached."""
        return next((o for o in self.outcomes if o.policy == policy), None)


def demo(
    jobs: Annotated[int, typer.Option(help="Jobs of the real round.")] = 300,
    seed: Annotated[int, typer.Option(help="Draws the trace, POP's parts, the large round.")] = 0,
    large: Annotated[int, typer.Option(help="Jobs of the large round; 0 leaves it out.")] = 2000,
    threads: Annotated[int | None, typer.Option(help="Threads; all cores if left out.")] = None,
    report: Annotated[
        Path, typer.Option(help="The HTML report; run.json is written beside it.")
    ] = Path("walras-report/report.html"),
    show: Annotated[
        bool | None, typer.Option("--open/--no-open", help="Open it; if left out, on a terminal.")
    ] = None,
    progress: Annotated[bool, typer.Option("--progress/--no-progress", help="On stderr.")] = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Solve, compare and certify a real scheduling round, then a large one.

    The jobs active at one moment of a real trace share V100, P100 and K80 GPUs, with throughputs
    measured by Gavel's authors (walras data list), or labelled synthetic ones when no data are
    found. Two exact policies stand against POP-4, a greedy placement and equal shares; then comes
    a round of DeDe's size, 456 GPU types and 2,000 jobs. Ctrl-C stops with the best so far.

    Examples:

      walras demo

      walras demo --jobs 500 --seed 3 --no-open -o json
    """
    if seed < 0 or large < 0:
        raise InputError(
            f"is {min(seed, large)}", where="--seed" if seed < 0 else "--large", allowed=">= 0",
            remedy="choose a whole number from 0 on",
        )  # fmt: skip
    began = time.perf_counter()
    with Interruptible() as interrupt:
        comparisons = _run(jobs, seed, large, threads, interrupt, progress)
    record = _record(comparisons, seed, time.perf_counter() - began)
    _write_record(record, report.with_name("run.json"))
    written = _write_report(comparisons, record, report)
    if output is Format.TABLE:
        for comparison in comparisons:
            _print(comparison)
        seconds = time.perf_counter() - began
        where = f"Report: {report}" if written else _WITHOUT_PLOT
        print(f"{where}  Record: {report.with_name('run.json')}  Total: {seconds:.1f} s")
    elif output is Format.JSON:
        print(to_json(record))
    else:
        emit(_table(comparisons[0]), output)
    if written and (sys.stdout.isatty() if show is None else show):
        webbrowser.open(report.resolve().as_uri())
    raise typer.Exit(ExitCode.INTERRUPTED if interrupt.asked else _code(comparisons))


LEGEND = (
    "min, median, mean: throughput relative to an equal share; log: mean logarithm of it, in nat\n"
    "a job; used: % of all GPUs; gap: certified, to the optimum of the policy's own objective;\n"
    "time: seconds, stating the problem included.\n"
)
_WITHOUT_PLOT = "No report: it needs matplotlib and jinja2 (pip install 'walras[plot]')."


def _run(
    jobs: int, seed: int, large: int, threads: int | None, interrupt: Interruptible, progress: bool
) -> list[Comparison]:
    real = gavel(jobs, seed)
    expected = {f"{real.title}: {name}": s for name, s in _SMALL.items()}
    title = f"DeDe-456-like round of {large:,} jobs"
    if large:
        expected |= {f"{title}: {name}": s * large / 2000 for name, s in _LARGE.items()}
    with Stages(expected, _TOLERANCE, interrupt, shown=progress) as stages:
        comparisons = [compare(real, list(_SMALL), threads, stages, interrupt)]
        if large and not interrupt.asked:
            round_ = dede_like(456, large, seed)
            comparisons.append(compare(round_, list(_LARGE), threads, stages, interrupt))
    return comparisons


def compare(
    round_: Round,
    policies: list[str],
    threads: int | None,
    stages: Stages,
    interrupt: Interruptible,
) -> Comparison:
    """Run policies on a round, one after the other, until done or interrupted."""
    throughput = cs.normalise(round_.throughput, round_.size, round_.capacity, per="share")
    outcomes: list[Outcome] = []
    for policy in policies:
        if interrupt.asked:
            break
        callback = stages.begin(f"{round_.title}: {policy}")
        outcomes.append(_outcome(policy, round_, throughput, threads, callback))
    return Comparison(round_, throughput, tuple(outcomes))


def _outcome(
    policy: str, round_: Round, throughput: Floats, threads: int | None, callback: Callback
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
            problem, engine="pop" if policy in (POP_MAX_MIN, POP_FAIR) else "auto",
            tolerance=_TOLERANCE, threads=threads, callback=callback,
        )  # fmt: skip
        x = solution.x
    seconds = time.perf_counter() - began
    return Outcome(policy, x, cs.evaluate(*data, x), solution, seconds)


def _code(comparisons: list[Comparison]) -> ExitCode:
    """The worst end of an exact policy; heuristics may end where they end."""
    exact = [c.of(name) for c in comparisons for name in (MAX_MIN, FAIR)]
    codes = [exit_code(o.solution.status) for o in exact if o is not None and o.solution]
    return next((code for code in codes if code is not ExitCode.OK), ExitCode.OK)


def _table(comparison: Comparison) -> Table:
    """Every figure of every policy."""
    rows = []
    for o in comparison.outcomes:
        judged, gap = o.judged, o.solution.gap if o.solution else None
        rows.append(
            (o.policy, judged.least, judged.median, judged.mean, judged.log_fairness,
             100 * judged.utilisation, judged.violation, gap, o.seconds)
        )  # fmt: skip
    title = f"{comparison.round.title} ({comparison.round.source})"
    return Table(
        ("policy", "min", "median", "mean", "log", "used", "violation", "gap", "seconds"),
        rows, title,
    )  # fmt: skip


def _shown(table: Table) -> Table:
    """The table with as many digits as people read; 80 columns wide."""
    digits = (None, ".3f", ".3f", ".3f", ".4f", ".1f", ".0e", ".0e", ".2f")
    rows = [
        [
            # Adding 0.0 turns -0.0 into 0.0.
            cell if form is None or not isinstance(cell, float) else float(f"{cell:{form}}") + 0.0
            for cell, form in zip(row, digits, strict=True)
        ]
        for row in table.rows
    ]
    return Table((*table.columns[:-1], "time"), rows, table.title)


def facts(comparison: Comparison) -> str:
    """The round in one sentence."""
    r = comparison.round
    kinds = len(r.capacity)
    gpus = " + ".join(
        f"{c:g} {name}" for c, name in zip(r.capacity, r.throughput.index, strict=True)
    )
    cluster = gpus if kinds <= 4 else f"{r.capacity.sum():,.0f} GPUs of {kinds} types"
    left_out = f" ({r.left_out} of the trace's jobs have no measurement)" if r.left_out else ""
    return (
        f"{len(r.size):,} jobs ask for {r.size.sum():,.0f} GPUs and share {cluster}; throughputs "
        f"are {r.source}{left_out}. Throughput 1 is what a job gets alone with an equal share."
    )


def certificates(comparison: Comparison) -> list[str]:
    """What the certificates prove, in words."""
    out = []
    best, fair = comparison.of(MAX_MIN), comparison.of(FAIR)
    if best is not None and best.solution is not None:
        s = best.solution
        out.append(
            f"Max-min: every job gets at least {best.judged.least:.6f} times its equal share, and "
            f"no allocation gives all jobs more than {s.bound:.6f} (gap {s.gap:.0e}). "
            f"Found in {_seconds(s.timings.total)} by engine {s.engine}."
        )
    if fair is not None and fair.solution is not None:
        s = fair.solution
        out.append(
            f"Proportional fairness: no allocation has a mean log throughput over "
            f"{s.bound / len(fair.judged.weight):.6f}; this one has "
            f"{fair.judged.log_fairness:.6f} (gap {s.gap:.0e} nat a job). "
            f"Found in {_seconds(s.timings.total)} by engine {s.engine}."
        )
    if out:
        out.append(
            "Both bounds are recomputed from the data and the prices alone, whatever the engine "
            "claims; every rule is checked on the allocation that is returned."
        )
    return out


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.0f} ms"


def _print(comparison: Comparison) -> None:
    emit(_shown(_table(comparison)))
    print(LEGEND)
    print(facts(comparison))
    for sentence in certificates(comparison):
        print(f"  {sentence}")
    print()


def _record(comparisons: list[Comparison], seed: int, seconds: float) -> dict[str, Any]:
    """What a run was made of, to repeat it."""
    return {
        "command": "demo",
        "seed": seed,
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in _PACKAGES},
        "machine": f"{platform.system()} {platform.machine()}",
        "rounds": [
            {
                "title": c.round.title,
                "source": c.round.source,
                "origin": c.round.origin,
                "sha256": _checksum(c.round),
                "policies": _table(c).records(),
                "certificates": certificates(c),
            }
            for c in comparisons
        ],
        "seconds": round(seconds, 2),
    }


def _checksum(round_: Round) -> str:
    digest = hashlib.sha256()
    for array in (round_.throughput.to_numpy(), round_.size, round_.capacity):
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()


def _write_record(record: dict[str, Any], path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(to_json(record) + "\n", encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"the record cannot be written: {error.strerror}", where=str(path),
            allowed="a file in a folder you may write to", remedy="choose another --report PATH",
        ) from error  # fmt: skip


def _write_report(comparisons: list[Comparison], record: dict[str, Any], path: Path) -> bool:
    """Write the HTML report; False when the packages it needs are not installed."""
    if find_spec("matplotlib") is None or find_spec("jinja2") is None:
        return False
    # Imported here: matplotlib is an optional extra and takes half a second.
    from walras.cli.demo_report import build
    from walras.plot import write

    write(build(comparisons, record), path)
    return True
