"""DeDe: decouple and decompose: the items of the paper, in its order."""

from __future__ import annotations

from benchmarks.papers.item import Item

ITEMS: tuple[Item, ...] = ()
