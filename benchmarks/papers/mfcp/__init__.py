"""MFCP, predictions trained through matching: the items of the paper, in its order."""

from __future__ import annotations

from benchmarks.papers.item import Item
from benchmarks.papers.mfcp import (
    ablation,
    claims,
    convergence,
    evaluation,
    gradients,
    pictures,
    problem,
    relaxation,
)

ITEMS: tuple[Item, ...] = (
    pictures.FIGURE_1,
    *problem.ITEMS[:4],
    *claims.SECTION_2,
    pictures.FIGURE_2,
    *problem.ITEMS[4:],
    pictures.FIGURE_3,
    *relaxation.ITEMS,
    *claims.SECTION_3,
    *gradients.ITEMS,
    *problem.PARALLEL,
    *gradients.PARALLEL,
    *convergence.ITEMS,
    *claims.METRICS,
    *ablation.ITEMS,
    *evaluation.ITEMS,
)
