"""Co-optimisation of CPU shares and learning: the items of the paper, in its order.

Its full text was not at hand: claims and numbers are those of its abstract and of two summaries.
"""

from __future__ import annotations

from benchmarks.papers.coopt import claims, equations, experiments, one_way, theory
from benchmarks.papers.item import Item

ITEMS: tuple[Item, ...] = (
    *equations.ITEMS,
    *theory.ITEMS,
    *experiments.ITEMS,
    *claims.ITEMS,
    *one_way.ITEMS,
)
