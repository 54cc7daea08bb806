"""Policies on a round: the comparison, its tables, its words, and stopping it."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.demo.small import Stopped, baselines, small_round

from walras.cli.common.progress import Interruptible, Stages
from walras.demo import scheduling
from walras.demo.scheduling import (
    EQUAL,
    FAIR,
    GREEDY,
    MAX_MIN,
    POP_FAIR,
    POP_MAX_MIN,
    compare,
    duration,
    stage,
)
from walras.demo.stages import Silent
from walras.domains.cluster_scheduling.rounds import Round
from walras.reports.tables import Table

POLICIES = [MAX_MIN, POP_MAX_MIN, FAIR, POP_FAIR, GREEDY, EQUAL]


def test_an_equal_share_is_the_unit_of_throughput() -> None:
    comparison = baselines()
    assert [o.policy for o in comparison.outcomes] == [GREEDY, EQUAL]
    row = {row["policy"]: row for row in scheduling.table(comparison).records()}[EQUAL]
    assert [row[name] for name in ("min", "median", "mean")] == pytest.approx([1.0] * 3)
    assert row["log"] == pytest.approx(0.0, abs=1e-12)
    assert row["gap"] is None
    assert comparison.of(MAX_MIN) is None
    assert comparison.exact == []
    assert scheduling.certificates(comparison) == []


def test_certificates_of_jobs_that_are_alike_in_closed_form() -> None:
    # Two like jobs on one GPU: the equal share is the best of both objectives.
    frame = pd.DataFrame(np.ones((1, 2)), index=["gpu"], columns=["a", "b"])
    round_ = Round(frame, np.ones(2), np.ones(1), pd.DataFrame(index=["a", "b"]), "r", "s", "o")
    least, fair = scheduling.certificates(compare(round_, [MAX_MIN, FAIR], 1, Silent()))
    assert least.startswith("Max-min: every job gets at least 1.0000")
    assert "more than 1.0000" in least
    assert fair.startswith("Proportional fairness: no allocation has a mean log throughput over ")
    assert "by engine " in least


def test_people_read_few_digits_and_no_negative_zero() -> None:
    columns = ("policy", "min", "median", "mean", "log", "used", "violation", "gap", "seconds")
    rows = [
        (POP_FAIR, 0.12345, 1.0, 1.0, -0.00001, 99.96, -1e-17, 2.345e-7, 0.126),
        (GREEDY, 0.5, 1.0, 1.0, -0.25, 50.0, 0.0, None, 0.004),
    ]
    pop, greedy = scheduling.shown(Table(columns, rows, "A round")).rows
    assert list(pop) == ["  by POP-4", 0.123, 1.0, 1.0, 0.0, 100.0, -1e-17, 2e-7, 0.13]
    assert str(pop[4]) == "0.0"
    assert list(greedy) == [GREEDY, 0.5, 1.0, 1.0, -0.25, 50.0, 0.0, None, 0.0]


def test_the_facts_name_few_types_and_count_many() -> None:
    few = scheduling.facts(baselines())
    assert few.startswith("6 jobs ask for 6 GPUs and share 2 type 0 + 2 type 1.")
    assert "left out" not in few
    many = scheduling.facts(baselines(replace(small_round(types=5), left_out=3)))
    assert "share 10 GPUs of 5 types." in many
    assert "(3 of the trace's jobs have none and are left out)" in many


def test_durations_are_in_seconds_from_a_tenth_on() -> None:
    assert [duration(s) for s in (0.1, 2.345, 0.0994)] == ["0.10 s", "2.35 s", "99 ms"]


def test_policies_after_a_stop_are_left_out() -> None:
    stages = Stopped(after=1)
    comparison = compare(small_round(), [EQUAL, GREEDY], 1, stages)
    assert [o.policy for o in comparison.outcomes] == [EQUAL]
    assert stages.begun == [stage(small_round(), EQUAL)] == ["A round: equal share"]


def test_an_interrupt_keeps_the_best_so_far_and_skips_the_rest() -> None:
    with Interruptible() as interrupt:
        stages = Stages(dict.fromkeys(POLICIES, 1.0), 1e-6, interrupt, shown=False)
        begin = stages.begin

        def interrupting(name: str) -> Any:
            if name.endswith(FAIR):
                os.kill(os.getpid(), signal.SIGINT)
            return begin(name)

        stages.begin = interrupting  # type: ignore[method-assign]
        comparison = compare(small_round(4, 30), POLICIES, 1, stages)
    assert interrupt.asked
    assert [o.policy for o in comparison.outcomes] == POLICIES[:3]
    stopped = comparison.outcomes[-1]
    assert stopped.judged.violation < 1e-9
    assert stopped.solution is not None
    assert stopped.solution.bound >= stopped.solution.value
