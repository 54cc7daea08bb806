"""What every test shares: Hypothesis' profile, and a list of what was not run."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from walras import data

settings.register_profile(
    "walras", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("walras")

NOT_RUN = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NOT_RUN] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    without_data = [item for item in items if _missing_data(item)]
    if without_data:
        items[:] = [item for item in items if item not in without_data]
        config.hook.pytest_deselected(items=without_data)


def pytest_deselected(items: list[pytest.Item]) -> None:
    for item in items:
        missing = _missing_data(item)
        reason = f"data not found: {', '.join(missing)}" if missing else "not selected"
        item.config.stash[NOT_RUN].append(f"{item.nodeid} ({reason})")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    not_run = terminalreporter.config.stash[NOT_RUN]
    if not_run:
        terminalreporter.section("not run")
        for line in not_run:
            terminalreporter.line(line)


def _missing_data(item: pytest.Item) -> list[str]:
    return [
        name
        for marker in item.iter_markers("real_data")
        for name in marker.args
        if data.find(name) is None
    ]
