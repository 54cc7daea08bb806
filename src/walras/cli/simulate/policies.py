"""``walras simulate policies``: what can decide."""

from __future__ import annotations

from walras.cli.common.output import Format, OutputOption, emit
from walras.policies.named import NAMED
from walras.reports.tables import Table


def policies(output: OutputOption = Format.TABLE) -> None:
    """List the policies and what they do."""
    rows = [(name, (make.__doc__ or "").split("\n")[0]) for name, make in NAMED.items()]
    emit(Table(("policy", "does"), rows), output)
