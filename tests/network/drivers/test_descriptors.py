"""The limit of open files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.network.drivers.small import RING, problem

from walras.errors import EngineError
from walras.network._deploy import deploy
from walras.network.drivers import descriptors
from walras.network.drivers.launch import Host


def test_too_few_files_are_one_error_before_anything_is_left_behind(tmp_path: Path) -> None:
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))\n"
    run = "from walras.network.drivers.process import main; sys.exit(main())"
    hosts = [Host(command=(sys.executable, "-c", limited + run))] * 5
    with pytest.raises(EngineError, match="may have 30 open files"):
        deploy(problem(), RING, steps=5, folder=tmp_path, hosts=hosts)


class Limits:
    """The limits of open files, pretended."""

    RLIMIT_NOFILE, RLIM_INFINITY = 7, -1

    def __init__(self, soft: int, hard: int) -> None:
        self.now = soft, hard

    def getrlimit(self, _: int) -> tuple[int, int]:
        return self.now

    def setrlimit(self, _: int, limits: tuple[int, int]) -> None:
        self.now = limits


@pytest.mark.parametrize(
    ("soft", "hard", "needed", "spare", "most"),
    [
        (10**5, 10**6, 50, 50, (10**5, 10**5)),  # enough is left alone
        (60, 10**6, 1000, 0, (1000, 1400)),  # raised to what is needed, and what is open
        (60, 10**6, 1000, 5000, (6000, 6400)),
        (60, 1500, 1000, 5000, (1500, 1500)),  # spare ones up to the hard limit
        (-1, -1, 1000, 0, (-1, -1)),
    ],
)
def test_the_limit_is_raised_as_far_as_it_must_and_may(
    monkeypatch: pytest.MonkeyPatch,
    soft: int,
    hard: int,
    needed: int,
    spare: int,
    most: tuple[int, int],
) -> None:
    limits = Limits(soft, hard)
    monkeypatch.setattr(descriptors, "resource", limits)
    descriptors.ensure(needed, spare)
    assert most[0] <= limits.now[0] <= most[1]
    assert limits.now[1] == hard


def test_a_hard_limit_that_is_too_low_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptors, "resource", Limits(50, 100))
    with pytest.raises(EngineError, match=r"may have 100 open files.*needs 100 more"):
        descriptors.ensure(100)
