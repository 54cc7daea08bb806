"""``walras demo``: tasks placed by predictions, rounds certified, a network without a master."""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
import textwrap
import time
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
import typer

from walras.cli import comparison as compared
from walras.cli import demo_learning as learning
from walras.cli import demo_network as centres
from walras.cli import demo_placement as placement
from walras.cli.common.errors import ExitCode, exit_code
from walras.cli.common.figures import can_draw
from walras.cli.common.output import Format, OutputOption, emit, to_json
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.streams import put
from walras.cli.comparison import Comparison, compare
from walras.cli.demo_network import Act
from walras.cli.demo_placement import Placing
from walras.cli.precompile import compiled_beside
from walras.domains.cluster_scheduling.rounds import Round, dede_like, gavel
from walras.errors import DataError, InputError
from walras.extras import install_hint
from walras.files import write_text
from walras.settings import Settings

# Expected seconds of each policy on the small and the large round, for the time left.
_SMALL = {
    compared.MAX_MIN: 1.0,
    compared.POP_MAX_MIN: 0.5,
    compared.FAIR: 0.5,
    compared.POP_FAIR: 0.5,
    compared.GREEDY: 0.1,
    compared.EQUAL: 0.1,
}
_LARGE = {compared.MAX_MIN: 2.0, compared.FAIR: 2.0}
_PLACING = {"placing tasks by predictions": 8.0}
_LEARNING = {"training through the matching": 6.0}
_WARM_UP = {"loading the kernels (the first run compiles them)": 1.0}
_CENTRES = {"data centres without a master": 4.0}
_PACKAGES = ("walras", "numpy", "scipy", "numba", "highspy", "clarabel")
_WITHOUT_PLOT = f"No report: it needs matplotlib and jinja2 ({install_hint('plot')})."


def demo(
    tasks: Annotated[int, typer.Option(help="Tasks to place by predictions; 0: none.")] = 40,
    jobs: Annotated[int, typer.Option(help="Jobs of the real round.")] = 300,
    seed: Annotated[int, typer.Option(help="Draws the tasks, the trace, the large round.")] = 0,
    large: Annotated[int, typer.Option(help="Jobs of the large round; 0 leaves it out.")] = 2000,
    network: Annotated[
        bool, typer.Option("--network/--no-network", help="Data centres without a master.")
    ] = True,
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
    """Place tasks by predictions, certify a real scheduling round and a large one, lose a centre.

    Predictors trained on 200 networks measured on a GPU, a CPU and a phone place a round of others
    on them (graph networks where torch is installed, else linear models). With torch a small model
    is then trained through the matching itself, and judged on 1,500 rounds of others against the
    same model trained before the matching. Then the jobs active at one moment of a real trace share
    V100, P100 and K80 GPUs, with throughputs measured by Gavel's authors (walras data list), or
    labelled synthetic ones when no data are found. Two exact policies stand against POP-4, a greedy
    placement and equal shares; then comes a round of DeDe's size, 456 GPU types and 2,000 jobs.
    Last, 20 data centres without a master share a budget and train a model while messages are lost,
    links are cut and a centre crashes. Ctrl-C stops with the best so far.

    Examples:

      walras demo

      walras demo --jobs 500 --seed 3 --no-open -o json
    """
    _check_numbers(threads, {"--tasks": tasks, "--seed": seed, "--large": large})
    _check_writable(report)
    began = time.perf_counter()
    with Interruptible() as interrupt, compiled_beside():
        acts = _run(tasks, jobs, seed, large, threads, interrupt, progress, network=network)
    record = _record(acts, seed, time.perf_counter() - began)
    _write_record(record, report.with_name("run.json"))
    written = _write_report(acts, record, report)
    if output is Format.TABLE:
        _print_all(acts)
        where = f"Report: {report}" if written else _WITHOUT_PLOT
        seconds = time.perf_counter() - began
        put(f"\n{where}\nRecord: {report.with_name('run.json')}\nTotal:  {seconds:.1f} s")
    elif output is Format.JSON:
        put(to_json(record))
    elif acts[1]:  # else stopped before the first round
        emit(compared.table(acts[1][0]), output)
    if written and (sys.stdout.isatty() if show is None else show):
        webbrowser.open(report.resolve().as_uri())
    raise typer.Exit(ExitCode.INTERRUPTED if interrupt.asked else _code(acts[1]))


def _check_numbers(threads: int | None, counts: Mapping[str, int]) -> None:
    for name, value in counts.items():
        if value < 0:
            raise InputError(
                f"is {value}", where=name, allowed=">= 0", remedy="choose a whole number from 0 on"
            )
    Settings(threads=threads)  # refused now, not where the first solve comes


Told = Callable[[int, int], None]
"""Called with (steps done, steps in all)."""

Acts = tuple[Placing | None, list[Comparison], Act | None]
"""Tasks placed, rounds compared, and data centres: what the demo came to."""


def _print_all(acts: Acts) -> None:
    placed, comparisons, act = acts
    if placed is not None:
        _print_placing(placed)
    for comparison in comparisons:
        _print(comparison)
    if comparisons:
        _print_wrapped(f"{compared.LEGEND} {compared.PROOF}")
    if act is not None:
        emit(centres.table(act))
        for sentence in centres.facts(act):
            _print_wrapped(sentence, "- ")


class _StoppedError(Exception):
    """The user asked to stop in a stage that has no best so far."""


def _run(
    tasks: int,
    jobs: int,
    seed: int,
    large: int,
    threads: int | None,
    interrupt: Interruptible,
    progress: bool,
    *,
    network: bool,
) -> Acts:
    rounds = [(gavel(jobs, seed), _SMALL)]
    if large:
        rounds.append((dede_like(456, large, seed), _LARGE))
    expected = (
        (_PLACING if tasks else {})
        | (_LEARNING if tasks and placement.with_torch() else {})
        | _WARM_UP
        | {
            f"{round_.title}: {policy}": seconds
            for round_, policies in rounds
            for policy, seconds in policies.items()
        }
        | (_CENTRES if network else {})
    )
    comparisons, act = [], None
    with Stages(expected, compared.TOLERANCE, interrupt, shown=progress) as stages:
        placed = None
        if tasks:
            stages.begin(*_PLACING)
            placed = placement.place(tasks, seed, stages.advance)
            if placement.with_torch():
                taught = _unless_stopped(
                    _LEARNING, lambda told: learning.teach(seed, told), stages, interrupt
                )
                placed = replace(placed, taught=taught)
        compared.warm_up(threads, stages.begin(*_WARM_UP))
        for round_, policies in rounds:
            if not interrupt.asked:
                comparisons.append(compare(round_, list(policies), threads, stages, interrupt))
        if network and not interrupt.asked:
            act = _unless_stopped(
                _CENTRES, lambda told: centres.demo_network(told, seed), stages, interrupt
            )
    return placed, comparisons, act


_Found = TypeVar("_Found")


def _unless_stopped(
    stage: Mapping[str, float],
    work: Callable[[Told], _Found],
    stages: Stages,
    interrupt: Interruptible,
) -> _Found | None:
    """What a stage comes to; None when stopped, which must not cost the stages before."""
    stages.begin(*stage)

    def told(done: int, total: int) -> None:
        if interrupt.asked:
            raise _StoppedError
        stages.advance(done, total)

    try:
        return work(told)
    except _StoppedError:
        return None


def _code(comparisons: list[Comparison]) -> ExitCode:
    """The worst end of an exact policy; heuristics may end where they end."""
    codes = [exit_code(solution.status) for c in comparisons for _, solution in c.exact]
    return next((code for code in codes if code is not ExitCode.OK), ExitCode.OK)


def _print_placing(placed: Placing) -> None:
    emit(placement.brief(placement.placements(placed)))
    _print_wrapped(placement.LEGEND)
    emit(placement.shown(placement.compared(placed)))
    for sentence in placement.facts(placed):
        _print_wrapped(sentence, "- ")
    put("")
    if placed.taught is not None:
        emit(learning.shown(learning.compared(placed.taught)))
        _print_wrapped(learning.LEGEND)
        for sentence in learning.facts(placed.taught):
            _print_wrapped(sentence, "- ")
        put("")


def _print(comparison: Comparison) -> None:
    emit(compared.shown(compared.table(comparison)))
    _print_wrapped(compared.facts(comparison))
    for sentence in compared.certificates(comparison):
        _print_wrapped(sentence, "- ")
    put("")


def _print_wrapped(text: str, bullet: str = "") -> None:
    width = min(100, shutil.get_terminal_size().columns)
    put(textwrap.fill(text, width, initial_indent=bullet, subsequent_indent=" " * len(bullet)))


def _record(acts: Acts, seed: int, seconds: float) -> dict[str, Any]:
    """What a run was made of, to repeat it."""
    placed, comparisons, act = acts
    versions = {"python": platform.python_version()}
    versions |= {name: version(name) for name in _PACKAGES}
    return {
        "command": "demo",
        "seed": seed,
        "versions": versions,
        "machine": f"{platform.system()} {platform.machine()}",
        "placing": None if placed is None else placement.record(placed),
        "rounds": [
            {
                "title": c.round.title,
                "source": c.round.source,
                "origin": c.round.origin,
                "sha256": _checksum(c.round),
                "policies": compared.table(c).records(),
                "certificates": compared.certificates(c),
            }
            for c in comparisons
        ],
        "network": None if act is None else centres.record(act, seed),
        "seconds": round(seconds, 2),
    }


def _checksum(round_: Round) -> str:
    digest = hashlib.sha256()
    for array in (round_.throughput.to_numpy(), round_.size, round_.capacity):
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()


def _check_writable(report: Path) -> None:
    """Make the report's folder and open both files, which tells before anything is solved."""
    for path in (report, report.with_name("run.json")):
        there = path.exists()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("a", encoding="utf-8").close()
            if not there:
                path.unlink()
        except OSError as error:
            raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(
        f"cannot be written: {error.strerror}",
        where=str(path),
        allowed="a file in a folder you may write to",
        remedy="choose another --report PATH",
    )


def _write_record(record: dict[str, Any], path: Path) -> None:
    write_text(path, to_json(record) + "\n", "choose another --report PATH")


def _write_report(acts: Acts, record: dict[str, Any], path: Path) -> bool:
    """Write the HTML report; False when the packages it needs are not installed."""
    if not can_draw():
        return False
    # Imported here: matplotlib is an optional extra and takes half a second.
    from walras.cli.demo_report import build
    from walras.plot import write

    write(build(*acts, record), path)
    return True
