"""Figures of load balancing draw what is in their tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import walras as wl
from walras import plot
from walras.domains import load_balancing as lb
from walras.plot.files import save


def test_loads_are_drawn_in_the_order_of_before() -> None:
    result = lb.rebalance([9.0, 4.0, 2.0, 2.0, 1.0, 1.0], [0, 0, 1, 1, 2, 2])
    frame = plot.loads_frame(result)
    assert frame["before"].tolist() == pytest.approx([13 * 3 / 19, 4 * 3 / 19, 2 * 3 / 19])
    assert ((frame["after"] >= 0.9 - 1e-9) & (frame["after"] <= 1.1 + 1e-9)).all()
    before, after = plot.loads_figure(result).axes[0].lines
    assert np.asarray(before.get_ydata()).tolist() == sorted(frame["before"], reverse=True)
    assert len(np.asarray(after.get_ydata())) == 3


def test_rounds_show_moves_with_their_bound() -> None:
    first = lb.first_round(0.7, servers=16, shards=128)
    played = lb.play(first, [0.7, 0.3, 0.6])
    figure = plot.rounds_figure([played])
    moves, bound = figure.axes[0].lines
    frame = played.frame()
    assert np.asarray(moves.get_ydata()).tolist() == frame["moves"].tolist()
    assert np.asarray(bound.get_ydata()).tolist() == frame["bound"].tolist()
    with pytest.raises(wl.InputError, match="at least one policy"):
        plot.rounds_figure([])


def test_a_figure_goes_to_a_file_with_a_known_suffix(tmp_path: Path) -> None:
    figure = plot.loads_figure(lb.rebalance([1.0, 1.0], [0, 1]))
    save(figure, tmp_path / "f.svg")
    assert (tmp_path / "f.svg").read_text(encoding="utf-8").startswith("<?xml")
    with pytest.raises(wl.InputError, match=r"f\.txt; allowed: a name ending in"):
        save(figure, tmp_path / "f.txt")
