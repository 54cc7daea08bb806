"""How the tests run the exchange's commands."""

from __future__ import annotations

from collections.abc import Callable

Run = Callable[..., str]
"""Runs a command as the admin; what it prints."""
