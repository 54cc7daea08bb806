"""Options that policies have in common, and what a policy that solves nothing loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

from walras import policies
from walras.errors import InputError
from walras.policies.options import needs_speeds


def test_sharing_needs_speeds() -> None:
    needs_speeds(by_speed=True, sharing=True)
    needs_speeds(by_speed=False, sharing=False)
    with pytest.raises(InputError, match="sharing: is given without by_speed"):
        needs_speeds(by_speed=False, sharing=True)
    with pytest.raises(InputError, match="by_speed"):
        needs_speeds(by_speed=2, sharing=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make", [policies.las, policies.leximin, policies.max_min, policies.finish_time_fairness]
)
def test_policies_that_share_refuse_to_be_blind(make: object) -> None:
    assert callable(make)
    with pytest.raises(InputError, match="without by_speed"):
        make(by_speed=False, sharing=True)


SOLVERS = ("highspy", "clarabel", "scipy.optimize", "walras.engines", "walras.domains")
OWN = """
def whole(snapshot):
    time = numpy.zeros(snapshot.speed.shape)
    time[0, 0] = 1.0
    return snapshot.shares(time, policy="whole")
"""


@pytest.mark.parametrize(
    "policy",
    [
        "wl.policies.fifo()",
        "wl.policies.shortest_remaining_time()",
        "wl.policies.gandiva()",
        "whole",
    ],
)
def test_a_run_loads_no_solver_for_a_policy_that_needs_none(policy: str) -> None:
    program = f"""
import sys, numpy, walras as wl
{OWN}
trace = wl.simulate.gavel_trace(rate=2.0, jobs=3, synthetic=True)
run = wl.simulate.run(trace, wl.simulate.Cluster({{"v100": 1, "p100": 1, "k80": 1}}), {policy})
assert len(run.completion) == 3 and not run.refused.any()
print([name for name in {SOLVERS} if name in sys.modules])
"""
    found = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert found.stdout == "[]\n"
