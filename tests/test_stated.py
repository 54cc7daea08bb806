"""The guard of answers to problems stated in cvxpy sees what is broken."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from tests.stated import check_stated

M = np.array([[1.0, 2.0], [3.0, -1.0]])
# A declaration, and a value that breaks it.
BROKEN: dict[str, tuple[dict[str, Any], Any]] = {
    "nonnegative": ({"nonneg": True}, M),
    "nonpositive": ({"nonpos": True}, -M),
    "in bounds": ({"bounds": [-1, 2]}, M),
    "boolean": ({"boolean": [(0,), (1,)]}, M),
    "integer": ({"integer": [(1,), (1,)]}, M / 2),
    "symmetric": ({"symmetric": True}, M),
    "definite": ({"PSD": True}, np.diag([1.0, -1e-6])),
    "diagonal": ({"diag": True}, M),
    "real": ({}, M * 1j),
    "imaginary": ({"imag": True}, M),
    "hermitian": ({"hermitian": True}, M * 1j),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_declaration_is_seen(name: str) -> None:
    declared, value = BROKEN[name]
    x = cp.Variable((2, 2), **declared)
    x.save_value(value)
    with pytest.raises(AssertionError, match=name):
        check_stated(cp.Problem(cp.Minimize(cp.sum(cp.abs(x))), []))


def test_a_broken_row_and_a_wrong_value_are_seen() -> None:
    x = cp.Variable(2, value=np.array([1.0, 2.0]))
    check_stated(cp.Problem(cp.Minimize(cp.sum(x)), [x <= 2, cp.norm(x) <= 3]), 3.0)
    for row in (x <= 1.99999, cp.norm(x) <= 2, x == 1, cp.sum(x) >= 4):
        with pytest.raises(AssertionError, match="constraint 0"):
            check_stated(cp.Problem(cp.Minimize(cp.sum(x)), [row]))
    with pytest.raises(AssertionError, match=r"value 3\.1"):
        check_stated(cp.Problem(cp.Minimize(cp.sum(x)), []), 3.1)
