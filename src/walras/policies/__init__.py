"""Policies: what decides a round, each a function from a snapshot to a decision."""

from __future__ import annotations

from walras.policies import exchange

__all__ = ["exchange"]
