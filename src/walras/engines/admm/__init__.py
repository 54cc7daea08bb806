"""The first-order engine: two-block splitting over resources and demands."""

from walras.engines.admm.engine import admm
from walras.engines.admm.settings import AdmmSettings

__all__ = ["AdmmSettings", "admm"]
