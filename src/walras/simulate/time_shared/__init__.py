"""The world in which jobs share types of workers in time, round by round."""

from __future__ import annotations

from walras.simulate.time_shared.world import Policy, World

__all__ = ["Policy", "World"]
