"""Figures of a network: they show the numbers they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.network.instances import learning, net, points, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network.epoch import Epoch
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
    unaudited = RUN.frame().drop(columns="audit")
    assert len(plots.budget_audit(unaudited, RUN.problem.budget).axes) == 1
    links = plots.graph(net(), RUN.shares[-1]).axes[0].collections[0]
    assert len(links.get_paths()) == net().links
    values = np.array([-1 + 1j, -1 - 1j])
    assert len(plots.spectrum({"a": values, "b": values}).axes[0].collections) == 2


def test_training_is_drawn_with_the_accuracies_to_be_reached() -> None:
    x, t = points(400, seed=3)
    run = wn.simulate(learning(), net(), steps=250, every=1, test=wn.TestSet(x, t))
    figure = plots.training(run.frame(), reference={"surplus": 0.9})
    upper, lower = figure.axes
    looked = ~np.isnan(run.loss)
    np.testing.assert_allclose(np.asarray(upper.lines[0].get_ydata(), float), run.loss[looked])
    drawn, wanted = lower.lines
    np.testing.assert_allclose(np.asarray(drawn.get_ydata(), float), run.accuracy[looked])
    assert set(np.asarray(wanted.get_ydata(), float)) == {0.9}
    assert wanted.get_label() == "surplus, centralised"
    assert lower.get_yscale() == "linear"
    with pytest.raises(InputError, match="accuracy"):
        plots.training(run.frame().drop(columns="accuracy"))


def test_epochs_are_drawn_beside_those_of_equal_shares() -> None:
    found = Epoch(np.array([2, 5]), np.array([3.0, 4.0]), np.array([2.0, 6.0]))
    axes = plots.epochs(found).axes[0]
    heights = [patch.get_height() for patch in axes.patches]  # type: ignore[attr-defined]
    assert heights == [6.0, 2.0, 4.0, 3.0]  # the slowest first, equal shares first
    assert [float(np.asarray(line.get_ydata())[0]) for line in axes.lines] == [6.0, 4.0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["5", "2"]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="held"):
        plots.budget_audit(RUN.frame().drop(columns="held"), 1.0)
