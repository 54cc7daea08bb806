"""Kinds and weights of utility rows, from atoms and the objective's coefficients."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from walras.errors import InputError
from walras.separable import Utility
from walras.separable.cvxpy.atoms import Smooth
from walras.separable.cvxpy.structure import Stacked
from walras.separable.cvxpy.utilities import UtilityRows

LOG, SQUARE = cp.Variable(2, name="log"), cp.Variable(1, name="square")
FIRST = {LOG.id: 5, SQUARE.id: 7}
BLOCKS = [
    Stacked("cap", 0, 2),
    Stacked("log", 2, 5, utility=Utility.LOG),
    Stacked("square", 5, 6, utility=Utility.QUADRATIC),
]
COST = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0, 4.0])  # of columns 5, 6 (log) and 7 (square)


def rows(kept: list[int], constant: list[int], divisor: Any = None) -> UtilityRows:
    """Three logarithms of two outputs, and a square about 0.5; some of their rows are kept."""
    factor, one = np.array([1.0, 10.0, 1.0]), np.ones(1)
    of_square = (SQUARE, SQUARE, np.zeros(1, int), Utility.QUADRATIC, one, 0.5, divisor)
    atoms = [
        Smooth("log", LOG, LOG, np.array([0, 0, 1]), Utility.LOG, factor),
        Smooth("square", *of_square),
    ]
    found: Any = SimpleNamespace(kept=np.array(kept), constant=np.array(constant, dtype=int))
    return UtilityRows(BLOCKS, atoms, found, lambda variable: FIRST[variable.id])


def test_kept_rows_have_the_kind_and_parameter_of_their_atom() -> None:
    found = rows([1, 2, 4, 5], [3])
    kinds = [Utility.NONE, Utility.LOG, Utility.LOG, Utility.QUADRATIC]
    assert found.kind.tolist() == kinds
    assert found.parameter.tolist() == [0.0, 0.0, 0.0, 0.5]
    assert found.is_shifted.tolist() == [False, True, True, False]


def test_a_weight_is_the_factor_times_the_cost_of_its_output() -> None:
    weight, kind = rows([1, 2, 3, 4, 5], []).weights(COST)
    assert weight.tolist() == [0.0, 2.0, 20.0, 3.0, 4.0]
    assert kind.tolist() == [Utility.NONE, *[Utility.LOG] * 3, Utility.QUADRATIC]
    weight, kind = rows([2, 4], []).weights(np.where(np.arange(8) == 6, 0.0, COST))
    assert weight.tolist() == [2.0, 0.0]
    assert kind.tolist() == [Utility.LOG, Utility.NONE]  # what weighs nothing is no utility


def test_rows_without_variables_are_a_constant() -> None:
    found = rows([1, 2], [3, 5])
    offset = np.array([0.0, 0.0, 0.0, np.e, 0.0, 2.5])
    # The minimised -20 log e, and 4 / 2 (2.5 - 0.5)^2.
    assert found.constants(COST, offset) == pytest.approx(-20.0 + 2.0 * 2.0**2)
    assert rows([1, 2], []).constants(COST, offset) == 0.0


def test_a_divisor_divides_and_must_be_above_zero() -> None:
    below = cp.Parameter(name="p")
    found = rows([5], [], below)
    below.value = 8.0
    assert found.weights(COST)[0].tolist() == [0.5]
    for wrong in (0.0, -1.0, None):
        below.value = wrong
        with pytest.raises(InputError, match="divisor of atom square"):
            found.weights(COST)
