"""Names of a package that load when they are first used, and old names that still work."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping
from operator import attrgetter
from typing import Any

from walras.deprecated import warn_renamed
from walras.extras import need_torch


def lazy_names(
    package: str,
    homes: Mapping[str, str],
    public: Collection[str],
    *,
    torch: Mapping[str, str] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a package's ``__getattr__`` and ``__dir__`` (PEP 562).

    Args:
        package: The package's name.
        homes: Public name -> the module that defines it; a module of that name is the value itself.
        public: The package's ``__all__``.
        torch: Public name -> the module that defines it, for names that need torch.
        renamed: Old name -> new name, such as ``Round.of``; the old one warns.

    Raises:
        EngineError: A name needs torch, and torch is not installed (raised on use).
    """
    torch, renamed = torch or {}, renamed or {}

    def load(name: str) -> Any:
        if name in renamed:
            warn_renamed(f"{package}.{name}", f"{package}.{renamed[name]}")
            return attrgetter(renamed[name])(importlib.import_module(package))
        if name in torch:
            need_torch(f"{package}.{name}")
        home = homes.get(name) or torch.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(home)
        return module if home == f"{package}.{name}" else getattr(module, name)

    def listed() -> list[str]:
        return sorted(public)

    return load, listed
