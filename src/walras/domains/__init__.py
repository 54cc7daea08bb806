"""Domains: each package turns one kind of allocation problem into the separable form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walras.lazy import lazy_names

if TYPE_CHECKING:
    from walras.domains import cluster_scheduling, load_balancing, placement, traffic_engineering

__all__ = ["cluster_scheduling", "load_balancing", "placement", "traffic_engineering"]

__getattr__, __dir__ = lazy_names(
    __name__, {name: f"walras.domains.{name}" for name in __all__}, __all__
)
