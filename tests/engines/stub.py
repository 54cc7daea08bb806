"""An engine that runs a function of a test, and functions in the place of an engine's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from walras.engines.base import Engine
from walras.iterate import Iterate
from walras.separable import Separable
from walras.settings import Settings

Run = Callable[[Separable, Settings], Iterate]


@dataclass(frozen=True, repr=False)
class Stub(Engine):
    """Runs a function."""

    name = "stub"

    run: Run = field()

    def accepts(self, problem: Separable) -> str | None:
        return None

    def solve(self, problem: Separable, settings: Settings) -> Iterate:
        return self.run(problem, settings)


def replace_solve(patch: pytest.MonkeyPatch, engine: type[Engine], run: Run) -> None:
    """Let an engine run a function in the place of its own."""
    patch.setattr(engine, "solve", lambda _, problem, settings: run(problem, settings))
