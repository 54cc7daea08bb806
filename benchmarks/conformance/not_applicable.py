"""Tests of other projects that ask for what Walras does not claim, each with its reason."""

from __future__ import annotations

CVXPY: dict[str, str] = {}
