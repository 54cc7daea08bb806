"""Figures need an extra: it is asked for before the work that they would show, not after it."""

from __future__ import annotations

from importlib.util import find_spec

from walras.errors import EngineError
from walras.extras import install_hint

_PACKAGES = ("matplotlib", "jinja2")


def can_draw() -> bool:
    """Whether the packages that figures and reports need are installed."""
    return all(find_spec(name) is not None for name in _PACKAGES)


def need_figures(where: str) -> None:
    """Refuse to begin without these packages.

    Args:
        where: The option or command that draws.

    Raises:
        EngineError: One is missing.
    """
    if not can_draw():
        raise EngineError(
            f"draws, and needs {' and '.join(_PACKAGES)}",
            where=where,
            allowed="with the extra plot",
            remedy=install_hint("plot"),
        )
