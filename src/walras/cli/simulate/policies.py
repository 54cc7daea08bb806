"""``walras simulate policies``: what can decide."""

from __future__ import annotations

from typing import Any

from walras.cli.common.output import Format, OutputOption, emit
from walras.policies.named import NAMED, NEEDED, defaults_of
from walras.policies.named_placements import PLACEMENTS, placement_defaults
from walras.reports.tables import Table


def policies(output: OutputOption = Format.TABLE) -> None:
    """List the policies, their options with defaults, and what they do.

    An option is given as `--option NAME=VALUE` of `walras simulate run`, or in a
    configuration. An option without a value has no default: `needed` has to be
    given, `none` may be left out.
    """
    shared = ((name, "time_shared", make, defaults_of(make)) for name, make in NAMED.items())
    placed = ((name, "placed", make, placement_defaults(name)) for name, make in PLACEMENTS.items())
    rows = [
        (name, world, ", ".join(map(_shown, options.items())), (make.__doc__ or "").split("\n")[0])
        for name, world, make, options in (*shared, *placed)
    ]
    emit(Table(("policy", "world", "options", "does"), rows), output)


def _shown(option: tuple[str, Any]) -> str:
    """An option as ``--option`` takes it."""
    name, default = option
    if default is NEEDED:
        return f"{name} (needed)"
    if default is None:
        return f"{name} (none)"
    return f"{name}={str(default).lower() if isinstance(default, bool) else default}"
