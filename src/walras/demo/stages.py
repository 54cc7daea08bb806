"""What the demo needs of whoever shows how far it is: a terminal, a service, a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from walras.progress import Progress

Callback = Callable[[Progress], bool]
"""Called once a step of a solve; True stops it."""


class Stages(Protocol):
    """Called at each stage as it begins and as it goes on; may ask to stop."""

    @property
    def stopped(self) -> bool:
        """Whether the user has asked to stop."""

    def begin(self, name: str) -> Callback:
        """Begin a stage; returns what a solve in it calls after each step."""

    def advance(self, done: int, total: int) -> None:
        """Take note of the steps done in this stage, of all its steps."""


class Silent:
    """Shows nothing and never stops."""

    stopped = False

    def begin(self, name: str) -> Callback:
        """Nothing is shown of the stage."""
        return lambda step: False

    def advance(self, done: int, total: int) -> None:
        """Nothing is shown of the steps."""
