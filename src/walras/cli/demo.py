"""``walras demo``: an exchange that runs on this machine; or its parts, in the terminal alone."""

from __future__ import annotations

import signal
import sys
import threading
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from walras.cli.common.errors import ExitCode, ended
from walras.cli.common.figures import can_draw
from walras.cli.common.output import Format, OutputOption, emit, put_wrapped
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.streams import put, tell
from walras.demo import learning, network, placement, scheduling
from walras.demo.learning import LearningSection
from walras.demo.placement import PlacementSection
from walras.demo.run import Demo, DemoSettings, expected, run
from walras.demo.scheduling import Comparison
from walras.demo.summary import summary
from walras.errors import DataError
from walras.extras import install_hint
from walras.files import write_text
from walras.reports.tables import Table, to_json

_NEEDED = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "httpx2", "jinja2")
_WITHOUT_PLOT = f"No report: it needs matplotlib and jinja2 ({install_hint('plot')})."


def demo(
    serve: Annotated[
        bool, typer.Option("--serve/--no-serve", help="Run an exchange, or show its parts alone.")
    ] = True,
    home: Annotated[
        Path, typer.Option(help="Exchange: its folder; the next demo goes on there.")
    ] = Path("walras-demo"),
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Exchange: port; 8765 or any free one.")
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Exchange: open its page.")
    ] = True,
    seconds: Annotated[
        float | None, typer.Option(min=0.0, help="Exchange: end after so many.")
    ] = None,
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
    """Run an exchange on this machine, and look at it in a browser.

    A service, three agents and a history of runs: a predictor learns from it, a round every three
    seconds places tasks, each a real process that takes as long and fails as often as measured on
    a GPU, a CPU and a phone (four times as fast; labelled synthetic where no data are found). What
    ends teaches. The page is opened by a link that works once, or the link is printed. Ctrl-C ends
    all processes; the next demo goes on where this one ended.

    With --no-serve the parts alone run in the terminal, and a report is written. Predictors
    trained on 200 networks measured on a GPU, a CPU and a phone place a round of others on them
    (graph networks where torch is installed, else linear models). With torch a small model is
    then trained through the matching itself, and judged on 1,500 rounds of others against the
    same model trained before the matching. Then the jobs active at one moment of a real trace
    share V100, P100 and K80 GPUs, with throughputs measured by Gavel's authors (walras data
    list), or labelled synthetic ones when no data are found. Two exact policies stand against
    POP-4, a greedy placement and equal shares; then comes a round of DeDe's size, 456 GPU types
    and 2,000 jobs. Last, 20 data centres without a master share a budget and train a model while
    messages are lost, links are cut and a centre crashes. Ctrl-C stops with the best so far.

    Examples:

      walras demo

      walras demo --seconds 60 --no-browser -o json

      walras demo --no-serve --jobs 500 --seed 3 --no-open
    """
    if serve and _can_serve():
        from walras.demo.live.run import LiveSettings

        _live(LiveSettings(home, port, seconds, seed), browser, progress, output)
        return
    settings = DemoSettings(tasks, jobs, large, network, seed, threads)
    _check_writable(report)
    rounds = settings.rounds()
    with (
        Interruptible() as interrupt,
        Stages(
            expected(settings, rounds), scheduling.TOLERANCE, interrupt, shown=progress, timed=True
        ) as stages,
    ):
        found = run(settings, rounds, stages)
    record = to_json(found.record())
    write_text(report.with_name("run.json"), record + "\n", "choose another --report PATH")
    if output is Format.TABLE:
        _print(found)
    elif output is Format.JSON:
        put(record)
    elif found.rounds:  # else stopped before the first round
        emit(scheduling.table(found.rounds[0]), output)
    sys.stdout.flush()  # to read while the figures are drawn
    written = can_draw()
    if written:
        # Imported here: matplotlib is an optional extra and takes half a second.
        from walras.demo.page import write_page

        write_page(found, report)
    if output is Format.TABLE:
        put(f"\n{f'Report: {report}' if written else _WITHOUT_PLOT}")
        put(f"Record: {report.with_name('run.json')}")
    if written and (sys.stdout.isatty() if show is None else show):
        webbrowser.open(report.resolve().as_uri())
    raise typer.Exit(ExitCode.INTERRUPTED if interrupt.asked else _code(found))


def _can_serve() -> bool:
    """Whether the exchange's extra is installed; else the parts alone are shown."""
    missing = next((name for name in _NEEDED if find_spec(name) is None), None)
    if missing is not None:
        tell(f"no exchange: {missing} is not installed ({install_hint('exchange')}); its parts:")
    return missing is None


def _live(settings: Any, browser: bool, progress: bool, output: Format) -> None:
    """The exchange, until its time is over or Ctrl-C; the summary is the result."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from walras.demo.live.run import live
    from walras.demo.live.summary import lines, link_again, record

    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())

    def linked(seen: Any) -> None:
        tell(f"page: {seen.link}")
        tell(f"a new link: {link_again(seen)}")
        if browser:
            webbrowser.open(seen.link)

    console = Console(stderr=True)
    with Live(console=console, auto_refresh=False, transient=True) as shown:

        def looked(seen: Any) -> None:
            if progress and console.is_terminal:
                shown.update(Text("\n".join(lines(seen)), no_wrap=True), refresh=True)

        seen = live(settings, stopped, linked, looked)
    if output is Format.TABLE:
        put("\n".join(lines(seen)))
    elif output is Format.JSON:
        put(to_json(record(seen)))
    else:
        emit(Table(("what", "value"), [(k, str(v)) for k, v in record(seen).items()]), output)
    tell(f"all processes have ended; the next demo goes on in {settings.home}")
    raise typer.Exit(ExitCode.INTERRUPTED if stopped.is_set() else ExitCode.OK)


def _code(found: Demo) -> ExitCode:
    """The worst end of an exact policy; heuristics may end where they end."""
    codes = [ended(s.status, s.gap, None) for c in found.rounds for _, s in c.exact]
    return next((code for code in codes if code is not ExitCode.OK), ExitCode.OK)


def _print(found: Demo) -> None:
    """The summary first, then each section's tables."""
    for line in summary(found):
        put(line)
    put("")
    if found.placement is not None:
        _print_placement(found.placement)
    for comparison in found.rounds:
        _print_round(comparison)
    if found.rounds:
        put_wrapped(f"{scheduling.LEGEND} {scheduling.PROOF}")
    if found.network is not None:
        emit(network.table(found.network))
        _print_facts(network.facts(found.network))


def _print_placement(section: PlacementSection) -> None:
    emit(placement.placements(section, brief=True))
    put_wrapped(placement.LEGEND)
    emit(placement.shown(placement.compared(section)))
    _print_facts(placement.facts(section))
    put("")
    if section.trained is not None:
        _print_learning(section.trained)


def _print_learning(section: LearningSection) -> None:
    emit(learning.shown(learning.compared(section)))
    put_wrapped(learning.LEGEND)
    _print_facts(learning.facts(section))
    put("")


def _print_round(comparison: Comparison) -> None:
    emit(scheduling.shown(scheduling.table(comparison)))
    put_wrapped(scheduling.facts(comparison))
    _print_facts(scheduling.certificates(comparison))
    put("")


def _print_facts(sentences: list[str]) -> None:
    for sentence in sentences:
        put_wrapped(sentence, "- ")


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
            raise DataError(
                f"cannot be written: {error.strerror}",
                where=str(path),
                allowed="a file in a folder you may write to",
                remedy="choose another --report PATH",
            ) from error
