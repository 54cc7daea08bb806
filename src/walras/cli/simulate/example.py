"""``walras simulate example``: a configuration to begin with."""

from __future__ import annotations

from walras.cli.common.streams import put
from walras.simulate.scenario import EXAMPLE


def example() -> None:
    """Print a configuration."""
    put(EXAMPLE, end="")
