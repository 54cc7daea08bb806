"""What a layout reads off a form."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from walras.engines.interior.point import _correctors_pay


@pytest.mark.parametrize(
    ("narrow", "blocks", "each", "rows_each", "pays"),
    [(456, 2000, 13, 1, True), (456, 32_000, 13, 1, True), (378, 9000, 4, 8, False)],
    ids=["a round", "a round of many jobs", "flows over paths of eight links"],
)
def test_correctors_pay_are_made_where_an_iteration_costs_many_solves(
    narrow: int, blocks: int, each: int, rows_each: int, pays: bool
) -> None:
    n = blocks * each
    rows = (np.arange(n)[:, None] * 7 + np.arange(rows_each)).ravel() % narrow
    first = np.arange(n + 1) * rows_each
    matrix = sp.csc_array((np.ones(n * rows_each), rows, first), shape=(narrow, n))
    form = SimpleNamespace(narrow=matrix, ptr=np.arange(blocks + 1) * each, c=np.zeros(n))
    assert _correctors_pay(form) == pays  # type: ignore[arg-type]
