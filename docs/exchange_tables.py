"""Write the exchange's reference pages from its code: states and their moves, routes, codes.

python docs/exchange_tables.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from walras.exchange import errors, states
from walras.exchange.api.address import Address
from walras.exchange.api.http import build
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.service import Service

FOLDER = Path(__file__).resolve().parent / "reference"


def moves(table: states.Moves) -> str:
    """A table of states and those that may follow."""
    rows = [f"| `{one}` | {_listed(after)} |" for one, after in table.items()]
    return "\n".join(["| state | may become |", "|---|---|", *rows])


def _listed(after: tuple[str, ...]) -> str:
    return ", ".join(f"`{one}`" for one in after) or "nothing: it has ended"


def states_page() -> str:
    """The tables of tasks and placements."""
    return "\n".join(
        [
            "A task:",
            "",
            moves(states.TASK),
            "",
            "A placement, which is one attempt of a task on a cluster:",
            "",
            moves(states.PLACEMENT),
            "",
        ]
    )


def schema() -> Mapping[str, Any]:
    """The service's OpenAPI document."""
    with tempfile.TemporaryDirectory() as folder, Exchange.open(folder) as exchange:
        app, _ = build(Service.of(exchange), Address())
        found: Mapping[str, Any] = app.app.openapi()
    return found


def routes(document: Mapping[str, Any]) -> Iterator[str]:
    """A line a route: method, path, scope, summary."""
    for path, methods in sorted(document["paths"].items()):
        for method, described in methods.items():
            scope = described.get("x-walras-scope", "none")
            yield f"| `{method.upper()} {path}` | {scope} | {described.get('summary', '')} |"


def codes() -> Iterator[str]:
    """A line an error: code, HTTP status, meaning."""
    kinds = [k for k in vars(errors).values() if isinstance(k, type)]
    found = {k.code: k for k in kinds if issubclass(k, errors.ExchangeError)}
    for code, kind in sorted(found.items()):
        words = (kind.__doc__ or "").strip().splitlines()[0].replace("``", "`")
        yield f"| `{code}` | {int(kind.status)} | {words} |"


def api_page() -> str:
    """Routes and codes."""
    return "\n".join(
        [
            "# The exchange's HTTP API",
            "",
            "`GET /openapi.json` of a service is the whole contract: bodies, answers, problems.",
            "Every error is a problem of RFC 9457 with one of the codes below.",
            "",
            "| route | scope | what it does |",
            "|---|---|---|",
            *routes(schema()),
            "",
            "## Codes",
            "",
            "| code | HTTP | meaning |",
            "|---|---|---|",
            *codes(),
            "",
        ]
    )


PAGES = {"exchange_states.md": states_page, "exchange_api.md": api_page}

if __name__ == "__main__":
    for name, made in PAGES.items():
        (FOLDER / name).write_text(made(), encoding="utf-8")
