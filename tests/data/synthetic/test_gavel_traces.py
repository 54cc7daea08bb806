"""The stand-in of the traces: fitting it gives its own parameters; jobs are sound."""

from __future__ import annotations

import numpy as np
import pytest

from walras import data
from walras.data.synthetic import gavel as gavel_stand_in
from walras.data.synthetic import gavel_traces as gavel_traces_stand_in


def test_trace_model_is_recovered_from_what_it_draws() -> None:
    true = gavel_traces_stand_in.FITTED
    throughputs = gavel_stand_in.stand_in(0)
    fitted = gavel_traces_stand_in.fit(gavel_traces_stand_in.stand_in(0), throughputs)
    assert fitted.groups.keys() == true.groups.keys()
    for name, group in true.groups.items():
        found = fitted.groups[name]
        assert found.jobs == group.jobs
        assert found.span == pytest.approx(group.span, abs=1.0)
        tolerance = 6.0 * group.duration_sd / np.sqrt(group.jobs)
        assert found.duration_mean == pytest.approx(group.duration_mean, abs=tolerance), name
    for scale, share in true.gpus["msr"].items():
        assert fitted.gpus["msr"].get(scale, 0.0) == pytest.approx(share, abs=0.01)


def test_drawn_jobs_are_sound() -> None:
    jobs = data.load("gavel_traces", synthetic=True).jobs
    assert (jobs["total_steps"] >= 1).all()
    assert (jobs["scale_factor"] >= 1).all()
    assert (jobs.groupby("trace")["arrival_time"].diff().dropna() >= 0.0).all()
