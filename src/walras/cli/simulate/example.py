"""``walras simulate example``: a configuration to begin with."""

from __future__ import annotations

from typing import Annotated

import typer

from walras import checks
from walras.cli.common.streams import put
from walras.simulate.placed import tables
from walras.simulate.scenario import EXAMPLE

_EXAMPLES = {"time_shared": EXAMPLE, "placed": tables.EXAMPLE}


def example(
    world: Annotated[
        str, typer.Option(help="time_shared, or placed: tasks on clusters with slots.")
    ] = "time_shared",
) -> None:
    """Print a configuration."""
    put(_EXAMPLES[checks.one_of(world, "world", _EXAMPLES)], end="")
