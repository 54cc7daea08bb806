"""Domain words to the separable form: one package a kind of allocation problem."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from walras.domains import cluster_scheduling, load_balancing, traffic_engineering

__all__ = ["cluster_scheduling", "load_balancing", "traffic_engineering"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module 'walras.domains' has no attribute {name!r}")
    return importlib.import_module(f"walras.domains.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)
