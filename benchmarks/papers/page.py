"""The table of a paper's items, for its page of the documentation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

from benchmarks.papers.item import Item
from benchmarks.tables import Tables

_HEAD = ("item", "what it says", "published", "ours", "verdict", "shown by")


def write_page(paper: str, items: Sequence[Item], tables: Tables) -> Path:
    """Write a paper's table in Markdown; items without a record say so.

    Args:
        paper: ``mfcp``, ``dede`` or ``coopt``.
        items: Its items, in its order.
        tables: Where the records are.

    Returns:
        The page.
    """
    kept = tables.read(paper)
    found = {} if kept is None else {row["item"]: row for row in kept.to_dict("records")}
    lines = [_row(_HEAD), _row(["---"] * len(_HEAD))]
    lines += [_row(_cells(paper, item, found.get(item.name))) for item in items]
    return tables.write_page("\n".join(lines) + "\n", paper)


def _cells(paper: str, item: Item, row: Mapping[Hashable, object] | None) -> list[str]:
    show = f'`{item.show}`; `python -m benchmarks.papers {paper} --item "{item.name}"`'
    if row is None:
        return [item.name, item.claim, item.published, "not measured yet", "", show]
    why = f": {row['why']}" if row["why"] else ""
    quick = " (a quick check)" if row["quick"] else ""
    ours = f"{row['ours']}{quick}"
    return [item.name, item.claim, item.published, ours, f"**{row['verdict']}**{why}", show]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
