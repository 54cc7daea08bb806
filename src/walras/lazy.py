"""Names of a package that load when they are first used, and old names that still work."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping
from operator import attrgetter
from types import ModuleType
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
        homes: Public name -> the module that defines it; a module of that name that does not is
            the value itself.
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
        is_value = home == f"{package}.{name}" and name not in vars(module)
        return module if is_value else getattr(module, name)

    def listed() -> list[str]:
        return sorted(public)

    return load, listed


class FunctionsFirst(ModuleType):
    """A package whose public names stay functions when modules of the same names are imported.

    Importing a module makes it an attribute of its package, in the place of the function: of
    ``walras.policies.fifo``, say, which is a function in a module of that name.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self.__all__):
            super().__setattr__(name, value)
