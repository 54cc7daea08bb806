"""Small problems in the interior point's form, and the loop on them."""

from __future__ import annotations

from typing import Any

import numpy as np

import walras as wl
from walras.engines.interior.form import Form, make_form
from walras.engines.interior.loop import Termination, Watcher, run
from walras.engines.interior.point import Layout
from walras.engines.interior.start import cold_start
from walras.kernels.schur.elimination import CpuElimination
from walras.separable import Separable

cs = wl.domains.cluster_scheduling
OBJECTIVES = [cs.max_min, cs.total_throughput, cs.proportional_fairness]


def cluster(objective: Any, seed: int = 0, resources: int = 3, jobs: int = 8) -> Separable:
    """A round of a few jobs on a few types."""
    speed = np.random.default_rng(seed).lognormal(size=(resources, jobs))
    problem: Separable = objective(speed, np.ones(jobs), np.full(resources, 2.0))
    return problem


def loop(
    problem: Separable,
    tolerance: float = 1e-8,
    most: int = 60,
    on_iteration: Watcher = lambda *_: False,
    deadline: float = np.inf,
) -> tuple[Form, Termination]:
    """The loop from a cold start."""
    form = make_form(problem)
    layout = Layout.of(form)
    elimination = CpuElimination(form.ptr, form.local, form.narrow, 1)
    start = cold_start(form, layout)
    return form, run(form, layout, start, tolerance, most, elimination, on_iteration, deadline)
