"""What every test shares: Hypothesis' profile, the guard of every answer to a problem stated in
cvxpy, the order of files, and lists of what was not run and of what took long.
"""

from __future__ import annotations

import gc
import logging
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from benchmarks.environments import interpreter
from hypothesis import HealthCheck, settings
from tests.exchange.machine import can_make_networks, can_mount
from tests.exchange.postgres import programs
from tests.stated import check_stated

from walras import data
from walras.problem import Problem
from walras.solution import Solution
from walras.status import Status

settings.register_profile(
    "walras", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("walras")

gc.disable()  # until all tests are collected: what is imported and collected stays

NOT_RUN = pytest.StashKey[list[str]]()
LONGEST = Path(__file__).with_name("longest.txt").read_text(encoding="utf-8").split()
_LONG_RUN = 300.0  # seconds of tests from which a run lists the files that took longest


@pytest.fixture(autouse=True)
def logs_of_one_test() -> Iterator[None]:
    """What listens to our logs, and how much they say, is the same before each test: a service or
    ``verbose`` of another test leaves nothing."""
    loggers = [logging.getLogger(name) for name in ("walras", "uvicorn", "alembic")]
    before = [(log.handlers, log.propagate, log.level) for log in loggers]
    for log in loggers:
        log.handlers, log.propagate = [], True
        log.setLevel(logging.NOTSET)
    yield
    for log, (handlers, propagate, level) in zip(loggers, before, strict=True):
        log.handlers, log.propagate = handlers, propagate
        log.setLevel(level)


@pytest.fixture(autouse=True)
def optimal_means_feasible(monkeypatch: pytest.MonkeyPatch) -> None:
    """No problem stated in cvxpy ends ``optimal`` beside a broken row, in any test."""
    solve = Problem._recorded

    def checked(problem: Problem, *args: Any) -> Solution:
        found = solve(problem, *args)
        if found.status is Status.OPTIMAL:
            check_stated(problem.to_cvxpy(), found.value)
        return found

    monkeypatch.setattr(Problem, "_recorded", checked)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes name no test: those of a packed file hold the second at which it was packed, and two
    processes that name a test differently run none."""
    return "bytes" if isinstance(val, bytes) else None


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NOT_RUN] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unable = [item for item in items if _missing(item)]
    if unable:
        items[:] = [item for item in items if item not in unable]
        config.hook.pytest_deselected(items=unable)
    # Processes take one file after the other: with long ones last, one runs while the others wait.
    rank = {file: k for k, file in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(_file(item.nodeid), len(rank)))


def pytest_collection_finish() -> None:
    """Looking through what was imported and collected for garbage takes seconds: leave it out."""
    gc.freeze()
    gc.enable()


def pytest_deselected(items: list[pytest.Item]) -> None:
    for item in items:
        reason = _missing(item) or "not selected"
        item.config.stash[NOT_RUN].append(f"{item.nodeid} ({reason})")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # of pytest-xdist: a process that runs a part
        session.config.workeroutput["not_run"] = session.config.stash[NOT_RUN]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take down what a process did not run; all of them chose from the same tests."""
    listed = node.config.stash[NOT_RUN]
    listed.extend(line for line in node.workeroutput.get("not_run", ()) if line not in listed)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    not_run = terminalreporter.config.stash[NOT_RUN]
    if not_run:
        terminalreporter.section("not run")
        for line in not_run:
            terminalreporter.line(line)
    seconds: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[_file(report.nodeid)] += report.duration
    if sum(seconds.values()) > _LONG_RUN:
        terminalreporter.section("files that took longest, in seconds (see tests/longest.txt)")
        for file in sorted(seconds, key=seconds.__getitem__, reverse=True)[: len(LONGEST)]:
            terminalreporter.line(f"{seconds[file]:6.1f} {file}")


def _file(nodeid: str) -> str:
    """The file of a test."""
    return nodeid.partition("::")[0]


def _missing(item: pytest.Item) -> str:
    """What a test needs and this machine lacks, in words."""
    if item.get_closest_marker("gpu") and not _has_gpu():
        return "no GPU"
    if item.get_closest_marker("postgres") and programs() is None:
        return "PostgreSQL is not installed"
    if item.get_closest_marker("mount") and not can_mount():
        return "no file system can be mounted"
    if item.get_closest_marker("networks") and not can_make_networks():
        return "no network namespaces, or no iproute2"
    own = [name for marker in item.iter_markers("environment") for name in marker.args]
    unmade = [name for name in own if interpreter(name) is None]
    if unmade:
        return f"environment of peers not made: {', '.join(unmade)}"
    peers = [name for marker in item.iter_markers("peer") for name in marker.args]
    lacking = [name for name in peers if find_spec(name) is None]
    if lacking:
        return f"not installed: {', '.join(lacking)}"
    sets = [name for marker in item.iter_markers("real_data") for name in marker.args]
    absent = [name for name in sets if not _is_here(name)]
    return f"data not found: {', '.join(absent)}" if absent else ""


def _is_here(name: str) -> bool:
    """Whether a set of the registry is found, or a folder of that name where sets lie."""
    if name in data.REGISTRY:
        return data.find(name) is not None
    return any((folder / name).is_dir() for folder in data.search_path())


@cache
def _has_gpu() -> bool:
    import torch  # two seconds, for the few tests that ask

    return torch.cuda.is_available()
