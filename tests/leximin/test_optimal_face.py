"""The next level on the optimal face of the last one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.leximin.clusters import by_definition, cluster, cs

import walras as wl
from walras.leximin import optimal_face as faces


@pytest.mark.parametrize("seed", range(3))
def test_a_row_wrongly_held_to_be_implied_comes_back(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left out, the rows of the levels before are free to fall; no level counts that breaks one."""
    monkeypatch.setattr(faces, "_implied", lambda stage, held, *rest: held)
    T, size, capacity = cluster(seed)
    s = wl.solve(cs.leximin(T, size, capacity, levels=20), engine="exact", threads=1)
    assert s.status is wl.Status.OPTIMAL
    reached = np.sort(np.sum(T * s.x, axis=0))
    assert reached == pytest.approx(np.sort(by_definition(T, size, capacity)), rel=1e-5)
