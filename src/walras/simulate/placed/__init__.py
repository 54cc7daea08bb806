"""The world in which tasks run on clusters with slots, placed round by round."""

from __future__ import annotations

from walras.simulate.placed.draw import draw_tasks
from walras.simulate.placed.result import PlacedRun
from walras.simulate.placed.run import run_placed
from walras.simulate.placed.slots import Outage, Slots
from walras.simulate.placed.tasks import TaskTrace
from walras.simulate.placed.world import Placer

__all__ = ["Outage", "PlacedRun", "Placer", "Slots", "TaskTrace", "draw_tasks", "run_placed"]
