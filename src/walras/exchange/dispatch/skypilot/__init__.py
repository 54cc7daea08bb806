"""SkyPilot: run times for its optimizer, and its catalog of machines as clusters.

SkyPilot itself is never imported: resources are read by their attributes, the catalog as a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from walras.lazy import lazy_names

if TYPE_CHECKING:
    from walras.exchange.dispatch.skypilot.catalog import Selection, read_catalog
    from walras.exchange.dispatch.skypilot.estimating import Estimator, estimator

__all__ = ["Estimator", "Selection", "estimator", "read_catalog"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Estimator": "walras.exchange.dispatch.skypilot.estimating",
        "Selection": "walras.exchange.dispatch.skypilot.catalog",
        "estimator": "walras.exchange.dispatch.skypilot.estimating",
        "read_catalog": "walras.exchange.dispatch.skypilot.catalog",
    },
    __all__,
)
