"""DeDe, decouple and decompose: the items of the paper, in its order."""

from __future__ import annotations

from benchmarks.papers.dede import (
    balancing,
    formulation,
    margins,
    robustness,
    scheduling,
    traffic,
)
from benchmarks.papers.item import Item

ITEMS: tuple[Item, ...] = (
    *formulation.ITEMS,
    *scheduling.ITEMS,
    *traffic.ITEMS,
    *balancing.ITEMS,
    *robustness.ITEMS,
    *margins.ITEMS,
)
