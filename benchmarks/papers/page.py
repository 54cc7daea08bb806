"""The table of a paper's items, and the numbers behind them, for its page of the documentation."""

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
    for item in items:
        records = found.get(item.name, {}).get("table")
        if isinstance(records, list) and records:
            lines += ["", f"## {item.name.capitalize()}, in numbers", "", *_numbers(records)]
    return tables.write_page("\n".join(lines) + "\n", paper)


def _cells(paper: str, item: Item, row: Mapping[Hashable, object] | None) -> list[str]:
    show = f'`{item.show}`; `python -m benchmarks.papers {paper} --item "{item.name}"`'
    if row is None:
        return [item.name, item.claim, item.published, "not measured yet", "", show]
    why = f": {row['why']}" if isinstance(row["why"], str) else ""  # an empty one is kept as null
    quick = " (a quick check)" if row["quick"] else ""
    ours = f"{row['ours']}{quick}"
    return [item.name, item.claim, item.published, ours, f"**{row['verdict']}**{why}", show]


def _numbers(records: Sequence[Mapping[str, object]]) -> list[str]:
    """The lines of a table of numbers, one a record."""
    head = list(records[0])
    rows = [[_shown(record.get(name)) for name in head] for record in records]
    return [_row(head), _row(["---"] * len(head)), *map(_row, rows)]


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
