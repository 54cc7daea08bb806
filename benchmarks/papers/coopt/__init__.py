"""Co-optimisation of CPU shares and learning: the items of the paper, in its order."""

from __future__ import annotations

from benchmarks.papers.item import Item

ITEMS: tuple[Item, ...] = ()
