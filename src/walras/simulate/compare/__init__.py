"""Comparing policies: every policy on every trace and seed, in processes, resumable, one table."""

from __future__ import annotations

from walras.simulate.compare.comparison import NO_POLICY, Comparison
from walras.simulate.compare.over_seeds import compare

__all__ = ["NO_POLICY", "Comparison", "compare"]
