"""Policies: what decides a round, each a function from a snapshot to a decision."""

from __future__ import annotations

from walras.policies import exchange
from walras.policies.fifo import fifo
from walras.policies.las import las

__all__ = ["exchange", "fifo", "las"]
