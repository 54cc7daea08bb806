"""Whether torch is there, for what needs it."""

from __future__ import annotations

from importlib.util import find_spec

from walras.errors import EngineError


def need_torch(what: str) -> None:
    """Refuse politely where torch is not installed.

    Raises:
        EngineError: It is not.
    """
    if find_spec("torch") is None:
        raise EngineError(
            "torch is not installed", where=what, allowed="models that need only NumPy: 'linear'",
            remedy="pip install 'walras[torch]', or choose model='linear'",
        )  # fmt: skip
