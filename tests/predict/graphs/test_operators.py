"""The work of operators that torch's counter leaves out, by counting multiply-adds."""

from __future__ import annotations

from typing import Any

import torch

from walras.predict.graphs.operators import _attention, _bilinear, _recurrent_layer, kind_of


def shape(*sizes: int) -> Any:
    return torch.Size(sizes)


def test_a_bilinear_form_multiplies_each_pair_for_each_output_and_row() -> None:
    """6 x 2 rows of 3 and 4 numbers, 5 outputs: 3 x 4 pairs each, two operations a pair."""
    assert _bilinear(shape(6, 2, 3), shape(6, 2, 4), shape(5, 3, 4)) == 2 * 12 * 5 * 3 * 4


def test_a_recurrent_layer_multiplies_both_matrices_at_each_step_of_each_row() -> None:
    """7 steps of 2 rows of 3 numbers, 4 units: 4 x 3 and 4 x 4 multiply-adds each."""
    assert _recurrent_layer(shape(7, 2, 3), shape(4, 3), shape(4, 4)) == 2 * 14 * (12 + 16)


def test_attention_of_three_axes_multiplies_each_query_with_each_key_and_value() -> None:
    """5 queries and 7 keys of 3 numbers, values of 4, in 2 heads."""
    flops = _attention(shape(2, 5, 3), shape(2, 7, 3), shape(2, 7, 4))
    assert flops == 2 * 2 * 5 * 7 * (3 + 4)


def test_convolutions_are_told_by_their_kernel_and_channels_with_or_without_a_batch() -> None:
    kernel = (8, 1, 3, 3)
    assert kind_of("conv2d", [(2, 8, 9, 9), kernel]) == "depthwise"
    assert kind_of("conv2d", [(8, 9, 9), kernel]) == "depthwise"
    assert kind_of("conv2d", [(1, 9, 9), (8, 1, 3, 3)]) == "conv3x3"
    assert kind_of("conv1d_", [(2, 4, 9), (8, 4, 1)]) == "conv1x1"
    assert kind_of("conv2d", [(2, 4, 9, 9)]) == kind_of("no such operator", [])
