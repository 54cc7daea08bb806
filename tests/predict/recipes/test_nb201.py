"""The cells of NAS-Bench-201."""

from __future__ import annotations

import numpy as np

from walras.predict.recipes import nb201


def test_the_cell_of_a_network() -> None:
    operations = np.array([[4, 2, 1, 2, 1, 3]])
    (graph,) = nb201.graphs(operations)
    assert graph.kinds == (
        "input",
        "pool",
        "conv1x1",
        "identity",
        "conv1x1",
        "identity",
        "conv3x3",
        "output",
    )
    # The six edges have six different places: (depth, height).
    assert len(set(zip(graph.depth[1:7], graph.height[1:7], strict=True))) == 6
    # Five cells of one 3x3 convolution in each of three stages: 9 C² H² a cell.
    assert graph.macs[6] == 5 * 9 * (16**2 * 32**2 + 32**2 * 16**2 + 64**2 * 8**2)
    assert graph.params[6] == 5 * 9 * (16**2 + 32**2 + 64**2)
    assert nb201.one_hots(operations).sum() == 6
    assert nb201.FEATURES[np.flatnonzero(nb201.one_hots(operations)[0])[5]] == ("2->3 nor_conv_3x3")
