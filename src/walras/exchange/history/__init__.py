"""An exchange's own history, and what another policy would have decided from it.

history = read_history("exchange")
print(replay(history, {"min_success": 0.95}).frame())
print(carry(history, {"min_success": 0.95}).frame())
"""

from __future__ import annotations

from walras.exchange.history.carried import Carried, carry
from walras.exchange.history.read import History, Outcome, Recorded, read_history
from walras.exchange.history.recorded_tasks import RecordedTasks, recorded_tasks
from walras.exchange.history.replay import Replayed, replay

__all__ = [
    "Carried",
    "History",
    "Outcome",
    "Recorded",
    "RecordedTasks",
    "Replayed",
    "carry",
    "read_history",
    "recorded_tasks",
    "replay",
]
