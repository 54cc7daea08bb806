"""DeDe, decouple and decompose: the items of the paper, in its order."""

from __future__ import annotations

from benchmarks.papers.dede import (
    balancing,
    formulation,
    limits,
    margins,
    micro,
    parallel,
    robustness,
    scheduling,
    statements,
    traffic,
)
from benchmarks.papers.item import Item

ITEMS: tuple[Item, ...] = (
    *formulation.ITEMS,
    *limits.ITEMS,
    *statements.ITEMS,
    *parallel.ITEMS,
    *scheduling.ITEMS,
    *traffic.ITEMS,
    *balancing.ITEMS,
    *robustness.ITEMS,
    *micro.ITEMS,
    *margins.ITEMS,
)
