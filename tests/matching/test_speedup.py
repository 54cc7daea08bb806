"""The ratio of tasks that run together on a cluster."""

from __future__ import annotations

import numpy as np
import pytest

from walras.matching import (
    Decay,
    pair_ratio,
)
from walras.matching.speedup import zeta_table


def test_every_form_of_the_ratio_gives_the_same_table() -> None:
    curve = Decay(0.6, 0.5)
    plain = [0.6 + 0.4 * np.exp(-0.5 * (n - 1)) for n in range(1, 6)]
    table = zeta_table(curve, 3, 5)
    assert table.shape == (3, 6)
    assert np.allclose(table[:, 1:], plain)
    for form in (
        plain,
        np.tile(plain, (3, 1)),
        lambda n: plain[n - 1],
        [lambda n: plain[n - 1]] * 3,
    ):
        assert np.allclose(zeta_table(form, 3, 5), table)
    assert np.allclose(zeta_table([1.0, 0.7], 2, 4)[:, 1:], [1.0, 0.7, 0.7, 0.7])
    assert np.all(zeta_table(None, 2, 4) == 1.0)


def test_a_pinned_curve_takes_the_measured_pairs() -> None:
    ratio = pair_ratio([[10.0, 4.0], [8.0, 8.0]], [[7.0, 2.0], [0.0, 0.0]])
    assert ratio[0] == pytest.approx(1.0 / (0.7 + 0.5))
    assert np.isnan(ratio[1])
    curve = Decay.pinned([0.73, 0.89], limit=0.6)
    assert np.allclose(curve.at([1, 2]), [[1.0, 0.73], [1.0, 0.89]])
    assert np.allclose(curve.at([1000]), 0.6)
