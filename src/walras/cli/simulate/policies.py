"""``walras simulate policies``: what can decide."""

from __future__ import annotations

from walras.cli.common.output import Format, OutputOption, emit
from walras.policies.named import NAMED
from walras.policies.named_placements import PLACEMENTS
from walras.reports.tables import Table


def policies(output: OutputOption = Format.TABLE) -> None:
    """List the policies and what they do."""
    worlds = (("time_shared", NAMED), ("placed", PLACEMENTS))
    rows = [
        (name, world, (make.__doc__ or "").split("\n")[0])
        for world, policies_of in worlds
        for name, make in policies_of.items()
    ]
    emit(Table(("policy", "world", "does"), rows), output)
