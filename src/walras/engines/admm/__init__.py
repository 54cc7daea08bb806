"""The first-order engine: two-block splitting over resources and demands."""

from walras.engines.admm.engine import ADMM

__all__ = ["ADMM"]
