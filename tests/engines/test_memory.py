"""Without enough memory: no limit of the user's is blamed, and what is known is kept."""

from __future__ import annotations

import highspy
import numpy as np
import pytest

import walras as wl
from walras.cli.common.errors import guarded
from walras.domains import cluster_scheduling as cs
from walras.quiet_highs import QuietHighs


def _problem() -> wl.Separable:
    rng = np.random.default_rng(0)
    return cs.total_throughput(rng.uniform(1, 4, (3, 12)), np.ones(12), np.full(3, 2.0))


def _no_room(_: object) -> None:
    raise MemoryError("std::bad_alloc")


@pytest.mark.parametrize("integer", [False, True])
def test_memory_that_is_not_there_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, integer: bool
) -> None:
    monkeypatch.setattr(QuietHighs, "run", _no_room)
    s = wl.solve(_problem(), engine="integer" if integer else "exact", integer=integer)
    assert s.status is not wl.Status.LIMIT
    assert not s.status.has_allocation or s.certificate.feasible


def test_the_end_of_memory_is_no_limit_of_the_user_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS' own word for it, from the first program on."""
    memory = highspy.HighsModelStatus.kMemoryLimit
    monkeypatch.setattr(QuietHighs, "getModelStatus", lambda _: memory)
    s = wl.solve(_problem(), engine="integer", integer=True, time_limit=20.0)
    assert s.status is not wl.Status.LIMIT


def test_a_command_without_memory_is_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        raise MemoryError

    with pytest.raises(SystemExit) as ended:
        guarded(command)
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("error[engine]: out of memory\n")
