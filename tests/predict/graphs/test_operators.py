"""The work of operators that torch's counter leaves out, by counting multiply-adds."""

from __future__ import annotations

from typing import Any

import torch

from walras.predict.graphs.operators import _bilinear, _recurrent_layer


def shape(*sizes: int) -> Any:
    return torch.Size(sizes)


def test_a_bilinear_form_multiplies_each_pair_for_each_output_and_row() -> None:
    """6 x 2 rows of 3 and 4 numbers, 5 outputs: 3 x 4 pairs each, two operations a pair."""
    assert _bilinear(shape(6, 2, 3), shape(6, 2, 4), shape(5, 3, 4)) == 2 * 12 * 5 * 3 * 4


def test_a_recurrent_layer_multiplies_both_matrices_at_each_step_of_each_row() -> None:
    """7 steps of 2 rows of 3 numbers, 4 units: 4 x 3 and 4 x 4 multiply-adds each."""
    assert _recurrent_layer(shape(7, 2, 3), shape(4, 3), shape(4, 4)) == 2 * 14 * (12 + 16)
