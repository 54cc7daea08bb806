"""The integer engine: integer entries at sizes that branch and bound alone cannot solve."""

from walras.engines.integer.engine import Integer

__all__ = ["Integer"]
