"""One check for both kinds of decisions; what is no decision is refused."""

from __future__ import annotations

import pytest

from walras.rounds import Clusters, Decision, JobsSnapshot, Snapshot, Tasks, Tenants, check

TASKS = Snapshot.of(Tasks.of([]), Clusters.of(["east"]), Tenants.of(["lab"]))
JOBS = JobsSnapshot.of(["a"], speed=[[1.0]], workers=[1])
PLAN = Decision.empty((), ("east",), snapshot=TASKS.hash)
SHARES = JOBS.shares([[1.0]])


def test_each_kind_goes_with_its_snapshot() -> None:
    assert check(TASKS, PLAN) == []
    assert check(JOBS, SHARES) == []


@pytest.mark.parametrize("given", [None, "nothing", [0]])
def test_what_is_no_decision_is_refused(given: object) -> None:
    for snapshot, other, wanted in ((TASKS, SHARES, "Decision"), (JOBS, PLAN, "Shares")):
        for wrong in (given, other):
            said = f"type: decision: the policy returned {type(wrong).__name__}, not {wanted}"
            assert [str(each) for each in check(snapshot, wrong)] == [said]
