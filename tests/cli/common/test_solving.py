"""What the commands of ``walras solve`` share: unused options, and a solve's progress."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

import walras as wl
from walras.cli.common.solving import refuse_unless, run
from walras.domains import cluster_scheduling as cs
from walras.errors import InputError


def test_an_option_that_nothing_uses_is_refused() -> None:
    refuse_unless(True, "--alpha", 2, "--objective alpha")
    refuse_unless(False, "--alpha", None, "--objective alpha")
    with pytest.raises(InputError, match="--alpha: is 2, but nothing uses it") as raised:
        refuse_unless(False, "--alpha", 2, "--objective alpha")
    assert raised.value.remedy == "leave --alpha out, or add --objective alpha"


def test_a_solve_hears_progress_and_ctrl_c_stops_it_once() -> None:
    problem = cs.max_min(np.array([[1.0, 2.0]]), np.ones(2), np.ones(1))
    asked: list[Any] = []

    def job(heard: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        asked.append(heard)
        return wl.solve(problem)

    before = signal.getsignal(signal.SIGINT)
    assert run(job, 1e-6, False, "jobs").value == pytest.approx(2 / 3)
    assert len(asked) == 1
    assert signal.getsignal(signal.SIGINT) is before
