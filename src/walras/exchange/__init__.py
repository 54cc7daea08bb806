"""The exchange: clusters offer, tasks ask, rounds match, agents run, outcomes teach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walras.lazy import lazy_names

if TYPE_CHECKING:
    from walras.exchange.client import Client
    from walras.exchange.errors import ExchangeError

__all__ = ["Client", "ExchangeError"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"Client": "walras.exchange.client", "ExchangeError": "walras.exchange.errors"},
    __all__,
)
