"""The interface of every engine: a name, options, the problems it takes, and ``solve``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from walras.engines.options import Options
from walras.errors import EngineError
from walras.iterate import Iterate
from walras.separable.form import Separable
from walras.settings import Settings


@dataclass(frozen=True, repr=False)
class Engine(Options, ABC):
    """A method that solves problems, with its options.

    Each engine is one frozen dataclass: its fields are its options, checked when it is made. Hand
    it to ``engine=``; a name, such as ``"admm"``, stands for the engine with its default options.

    Attributes:
        name: What the engine is called in ``engine=``, in solutions and on the command line.
        runs_on_gpu: Whether it takes a ``device`` other than ``cpu``.

    Example:
        >>> import walras as wl
        >>> [engine.name for engine in (wl.engines.ADMM(), wl.engines.Exact())]
        ['admm', 'exact']
    """

    name: ClassVar[str]
    runs_on_gpu: ClassVar[bool] = False

    @abstractmethod
    def accepts(self, problem: Separable) -> str | None:
        """Say why the engine cannot solve a problem, or None if it can.

        Args:
            problem: The problem.

        Returns:
            The reason in a few words, or None.
        """

    @abstractmethod
    def solve(self, problem: Separable, settings: Settings) -> Iterate:
        """Solve a problem.

        Args:
            problem: The problem.
            settings: The settings that every engine honours.

        Returns:
            The best point with its prices. :mod:`walras.certificate` trusts none of it and measures
            it against the problem.

        Raises:
            EngineError: The engine does not take the problem, or it broke down.
        """

    def persistent(self) -> AbstractContextManager[Engine]:
        """Keep the engine's workers, where it has any, for several solves in a row."""
        return nullcontext(self)

    def require(self, problem: Separable) -> None:
        """Refuse a problem that the engine does not accept.

        Args:
            problem: The problem.

        Raises:
            EngineError: Says why.
        """
        reason = self.accepts(problem)
        if reason is not None:
            raise EngineError(
                reason,
                where=f"problem for engine {self.name!r}",
                allowed="a problem that the engine accepts",
                remedy="use engine='auto', or engine='exact'",
            )


def has_integers(problem: Separable) -> bool:
    """Whether some entries must be integers.

    Args:
        problem: The problem.
    """
    return problem.integer is not None and bool(np.any(problem.integer))
