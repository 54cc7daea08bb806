"""Bounds of the steps, against spectra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.network.instances import learning, net, quadratic

from walras import network as wn
from walras.errors import InputError
from walras.network.methods.steps import checked, mix_bound, safe_steps


def _mode(pull: float, mix: float, gain: float) -> float:
    """Spectral radius of (model, surplus, copy) for step h = pull, mix lambda and a gain."""
    moved = np.array([1.0 - pull, -1.0, 0.0])
    copy = gain * moved + np.array([0.0, 0.0, 1.0 - gain])
    rows = [moved - mix * copy, np.array([0.0, 1.0, 0.0]) + mix * copy, copy]
    return float(np.abs(np.linalg.eigvals(np.array(rows))).max())


@given(st.floats(1.0, 1.95), st.floats(0.0, 1.0), st.floats(0.0, 1.999), st.floats(1e-3, 0.999))
@example(1.6, 1.0, 0.0, 0.999)
@example(1.0, 1.0, 1.999, 0.999)
def test_every_mode_is_stable_below_the_bounds(
    sector: float, place: float, pull: float, part: float
) -> None:
    """Whatever gain in [1 / K, K] the links have, and whatever the graph's eigenvalue."""
    gain = sector ** (2.0 * place - 1.0)
    assert _mode(pull, part * mix_bound(1.0, sector), gain) < 1.0 + 1e-9


@pytest.mark.parametrize("sector", [1.0, 1.3, 1.8])
def test_the_mixs_bound_is_tight(sector: float) -> None:
    assert _mode(0.0, 1.001 * mix_bound(1.0, sector), sector) > 1.0


def test_steps_follow_their_formulas() -> None:
    network, links = net(), wn.Ideal()
    reach, curvature = network.eigenvalues[1], float(quadratic().curvatures[1].max())
    found = safe_steps(quadratic(), network, links)
    assert found.share_bound == pytest.approx(
        2.0 / (links.sector * found.spectral_bound * curvature)
    )
    assert found.spectral_bound >= reach * (1 - 1e-12)
    assert found.share == 0.5 * found.share_bound
    late = safe_steps(quadratic(), network, links, wn.Faults(loss=0.1))
    assert (late.share, late.momentum) == (0.5 * found.share, 0.0)
    model = safe_steps(learning(), network, links)
    bound, pull = model.model_bound, model.alpha * model.smoothness
    assert bound * model.spectral_bound + np.sqrt(2.0 * bound * pull) == pytest.approx(2.0)


def test_a_step_beyond_its_bound_needs_to_be_called_unsafe() -> None:
    assert checked("share_step", None, 0.1, 0.2, unsafe=False) == 0.1
    assert checked("share_step", 0.3, 0.1, 0.2, unsafe=True) == 0.3
    with pytest.raises(InputError, match=r"share_step.*0\.1 is safe"):
        checked("share_step", 0.2, 0.1, 0.2, unsafe=False)
