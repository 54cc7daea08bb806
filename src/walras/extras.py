"""Whether an optional package is there, for what needs it."""

from __future__ import annotations

import importlib.util

from walras.errors import EngineError


def install_hint(extra: str) -> str:
    """What to type for an extra; Walras is not on an index yet, so that it names the checkout."""
    return f"pip install '.[{extra}]' in the checkout of Walras"


def need_torch(what: str, otherwise: str = "what needs no torch") -> None:
    """Refuse politely where torch is not installed.

    Args:
        what: Who needs it.
        otherwise: What the caller can use without it.

    Raises:
        EngineError: It is not installed.
    """
    if importlib.util.find_spec("torch") is None:
        raise EngineError(
            "torch is not installed",
            where=what,
            allowed=otherwise,
            remedy=install_hint("torch"),
        )


def need_pyarrow() -> None:
    """Refuse politely where pyarrow is not installed.

    Raises:
        EngineError: It is not installed.
    """
    if importlib.util.find_spec("pyarrow") is None:
        raise EngineError(
            "pyarrow is not installed",
            where="Parquet files",
            allowed="CSV files without it",
            remedy=install_hint("parquet"),
        )
