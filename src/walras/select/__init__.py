"""Which engine solves a problem: the registry, the cost model, and the choice."""
