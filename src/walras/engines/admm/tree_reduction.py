"""Reproducible sums over demands: they do not depend on how the demands are spread.

Rounding decides at the break points of piecewise linear problems, and later iterates then differ.
So the demands are cut into leaves whose number depends only on the problem. Sums are taken leaf by
leaf and added along one binary tree. The holder of a run of leaves answers with the sums of the
largest subtrees in it; this is one sum if the number of holders is a power of two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from walras.types import Floats

Node = tuple[int, int]  # height above the leaves, and index at that height

_LEAST_LEAVES, _MOST_LEAVES = 8, 128
# entries and copies of a leaf, so that a pass over it takes far longer than its call
_LEAF_LOAD = 1 << 16
_SMALL_LOAD = 1 << 17  # entries and copies up to which uneven slices do not matter
_FEW_HOLDERS = 4  # up to so many holders share the same leaves
_EVEN_LEAVES = 4  # leaves for each holder that make slices nearly even


def leaves_of(load: int, holders: int) -> int:
    """A power of two: the same for up to four holders, and for all powers of two up to it.

    For small problems it is the same for all numbers of holders up to it.

    Args:
        load: Entries and copies.
        holders: Threads or actors.
    """
    leaves = min(max(_LEAST_LEAVES, _power(load // _LEAF_LOAD)), _MOST_LEAVES)
    uneven = holders > _FEW_HOLDERS and load > _SMALL_LOAD and leaves % holders != 0
    return max(leaves, _power(_EVEN_LEAVES * holders if uneven else holders))


def _power(least: int) -> int:
    return 1 << max(least - 1, 0).bit_length()


def added(nodes: Sequence[Node], sums: Iterable[Floats]) -> list[tuple[Node, Floats]]:
    """The sums of the largest subtrees in a run of nodes, in order."""
    found: list[tuple[Node, Floats]] = []
    for start, value in zip(nodes, sums, strict=True):
        node, total = start, value
        while found and node[1] % 2 == 1 and found[-1][0] == (node[0], node[1] - 1):
            total = found.pop()[1] + total
            node = (node[0] + 1, node[1] // 2)
        found.append((node, total))
    return found


class Tree:
    """Adds up the answers of the holders of all leaves.

    Args:
        runs: The leaves of each holder, in order.
    """

    def __init__(self, runs: Sequence[range]) -> None:
        self._nodes = [node for run in runs for node in subtrees(run)]

    def total(self, answers: Sequence[Floats]) -> Floats:
        """The sum over all demands, from the sums of each holder's largest subtrees."""
        return added(self._nodes, [total for answer in answers for total in answer])[0][1]


def subtrees(run: range) -> list[Node]:
    """The largest subtrees in a run of leaves."""
    return [node for node, _ in added([(0, k) for k in run], [np.zeros(0)] * len(run))]
