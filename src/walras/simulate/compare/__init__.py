"""Comparing policies: every policy on every trace and seed, in processes, resumable, one table."""

from __future__ import annotations

from walras.simulate.compare.comparison import NO_POLICY, Comparison
from walras.simulate.compare.over_seeds import compare
from walras.simulate.compare.store import UnkeptError

__all__ = ["NO_POLICY", "Comparison", "UnkeptError", "compare"]
