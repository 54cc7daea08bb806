"""What is known before anything is proved."""

from __future__ import annotations

import numpy as np
from tests.bank.statement import Entry, Row, state

import walras as wl
from walras.engines.admm.proofs.incumbent import Incumbent
from walras.progress import Progress
from walras.progress_log import IterationLog
from walras.settings import Settings

te = wl.domains.traffic_engineering


def test_giving_nothing_is_the_first_allocation_of_a_network() -> None:
    net = te.load_topology("B4", synthetic=True)
    problem = te.max_total_flow_by_link(net, te.lognormal_traffic(net, seed=0))
    assert Incumbent(problem, IterationLog(Settings()), 1e-3).value == 0.0
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return True

    s = wl.solve(problem, engine="admm", on_progress=stop)
    assert seen[0].value == 0.0
    assert s.certificate.feasible
    assert np.isfinite(s.gap)


def test_what_is_asked_for_is_not_met_by_nothing() -> None:
    problem = state([Entry(0, 0, 1.0)], [Row("least[d0]", {0: 1.0}, lower=1.0)])
    assert Incumbent(problem, IterationLog(Settings()), 1e-3).value == np.inf
