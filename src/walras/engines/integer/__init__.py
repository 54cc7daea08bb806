"""The integer engine: whole entries at sizes that branch and bound alone does not reach."""

from walras.engines.integer.engine import Integer

__all__ = ["Integer"]
