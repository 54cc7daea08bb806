"""Figures of a network: they show the numbers they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.network.instances import net, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.plot import network as plots

RUN = wn.simulate(quadratic(), net(), steps=60, faults=wn.Faults(loss=0.3))


def test_gaps_are_drawn_a_curve_a_method() -> None:
    frame = pd.concat([RUN.frame(), RUN.frame().assign(method="other")])
    ways: tuple[plots.Across, ...] = ("step", "bits", "seconds")
    for across in ways:
        axes = plots.progress_of_methods(frame, across=across).axes[0]
        assert [line.get_label() for line in axes.lines] == ["surplus", "other"]
        np.testing.assert_allclose(np.asarray(axes.lines[0].get_ydata(), float), RUN.cost_gap)
        assert axes.get_yscale() == "log"


def test_several_seeds_have_a_band() -> None:
    frames = [RUN.frame().assign(seed=k, cost_gap=float(10**k)) for k in range(3)]
    axes = plots.progress_of_methods(pd.concat(frames)).axes[0]
    assert np.asarray(axes.lines[0].get_ydata(), float) == pytest.approx(10.0)
    assert len(axes.collections) == 1


def test_shares_audit_graph_and_spectrum_are_drawn() -> None:
    shares = plots.shares_over_time(RUN.share_frame(), RUN.optimum.shares).axes[0]
    assert len(shares.lines) == 20
    upper, lower = plots.budget_audit(RUN.frame(), RUN.problem.budget).axes
    assert float(np.asarray(upper.lines[0].get_ydata(), float).max()) <= 1.0
    assert (np.asarray(lower.lines[0].get_ydata(), float) == 0).all()
    links = plots.graph(net(), RUN.shares[-1]).axes[0].collections[0]
    assert len(links.get_paths()) == net().links
    values = np.array([-1 + 1j, -1 - 1j])
    assert len(plots.spectrum({"a": values, "b": values}).axes[0].collections) == 2


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="held"):
        plots.budget_audit(RUN.frame().drop(columns="held"), 1.0)
