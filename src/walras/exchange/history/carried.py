"""A history run anew, so that what another policy changes carries on to later rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras.exchange.history.read import History
from walras.exchange.history.recorded_tasks import RecordedTasks, recorded_tasks
from walras.exchange.history.replay import Makes, changed_policy, check_changes
from walras.policies import exchange
from walras.policies.placements import Policy
from walras.predict.logs.log import write_log
from walras.progress import OnProgress, Progress
from walras.simulate import PlacedRun, run, summary
from walras.simulate.placed import Placer

_SEEDS = 2**48  # of the exchange's policy
_SECONDS = ("policy", "simulator")  # measures of the computer, and not of the policy


@dataclass(frozen=True, eq=False)
class Carried:
    """Recorded tasks, run from their submission by the recorded policy and by another one.

    Attributes:
        history: What was recorded.
        given: The tasks and clusters.
        recorded: The run under the policy of the last recorded round.
        replayed: The run under the other one.
        policy: Name of the other one.
    """

    history: History
    given: RecordedTasks
    recorded: PlacedRun
    replayed: PlacedRun
    policy: str

    def frame(self) -> pd.DataFrame:
        """The comparison: columns ``measure``, ``recorded``, ``replayed`` and ``unit``, with the
        measures of :func:`walras.simulate.summary`. Both columns are simulated.
        """
        frame = summary(self.recorded).rename(columns={"value": "recorded"})
        frame.insert(2, "replayed", summary(self.replayed)["value"])
        return frame[~frame["measure"].isin(_SECONDS)].reset_index(drop=True)

    @property
    def calibration(self) -> tuple[float, float]:
        """Mean seconds from submission to end of the tasks that completed: as recorded, and as
        simulated under the recorded policy; NaN for none.
        """
        simulated = self.recorded.ended - self.recorded.arrival
        both = ~np.isnan(self.given.completion) & ~np.isnan(simulated)
        if not both.any():
            return float("nan"), float("nan")
        return float(self.given.completion[both].mean()), float(simulated[both].mean())

    def save_placements(self, path: str | Path) -> None:
        """Write the runs of the replayed policy as CSV, or as Parquet where the name ends so.

        Args:
            path: The file.

        Raises:
            EngineError: It is Parquet, and pyarrow is not installed.
            DataError: The file cannot be written.
        """
        write_log(self.replayed.runs, path)


def carry(
    history: History,
    settings: Mapping[str, Any] | None = None,
    *,
    policy: Makes | None = None,
    on_progress: OnProgress | None = None,
) -> Carried:
    """Run the tasks of a history anew, by the recorded policy and by another one.

    Both runs are simulated, so that they differ by the policies alone: what is measured of recorded
    runs counts in both, and what is predicted elsewhere as well.

    Args:
        history: The rounds.
        settings: Rules and settings that replace those recorded, as of
            :func:`walras.exchange.history.replay`.
        policy: Makes a policy of what predicts; the exchange's own if None.
        on_progress: Called a few times a second with a :class:`walras.progress.Progress` of tasks
            of both runs; True ends the runs there.

    Returns:
        Both runs.

    Raises:
        InputError: There is no such setting, or its value cannot be used.
        DataError: No task could run on any cluster.

    Example:
        >>> import walras as wl
        >>> from walras.exchange.history import History, Recorded, carry
        >>> from walras.policies.placements import Policy
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants
        >>> snapshot = Snapshot.of(
        ...     Tasks.of(["a", "b"]), Clusters.of(["east"], slots=[1]), Tenants.of(["lab"])
        ... )
        >>> decision = wl.policies.first_fit()(snapshot)
        >>> first = Recorded(1, Policy(), 0, "prior", snapshot, decision)
        >>> carry(History("one round", (first,), {}, {})).replayed.completion.tolist()
        [60.0, 120.0]
    """
    changed = dict(settings or {})
    check_changes(changed, policy)
    given, last = recorded_tasks(history), history.rounds[-1]
    tasks, halves = given.tasks, _Halves(on_progress, len(given.tasks))
    other = changed_policy(last.policy, changed)

    def own(stated: Policy) -> Placer:
        return exchange(stated, predict=tasks.predict, seed=last.seed % _SEEDS)

    made = own(other) if policy is None else policy(tasks.predict)
    runs = [
        run(
            tasks,
            replace(given.slots, rules=stated.rules),
            placer,
            round_seconds=given.round_seconds,
            on_progress=halves.hook(k),
        )
        for k, (stated, placer) in enumerate([(last.policy, own(last.policy)), (other, made)])
    ]
    words = ", ".join(f"{name}={value}" for name, value in changed.items())
    named = "the recorded policy" if policy is None else runs[1].policy
    return Carried(history, given, runs[0], runs[1], f"{named}{' with ' + words if words else ''}")


class _Halves:
    """Two runs as one piece of work; once stopped, the second one stops, too."""

    def __init__(self, hook: OnProgress | None, tasks: int) -> None:
        self._hook, self._tasks, self._stopped = hook, tasks, False

    def hook(self, half: int) -> OnProgress | None:
        """The hook of a run."""
        if self._hook is None:
            return None
        given = self._hook

        def on_half(step: Progress) -> bool:
            done, total = half * self._tasks + step.iteration, 2 * self._tasks
            whole = replace(step, iteration=done, total=total)
            self._stopped = self._stopped or bool(given(whole))
            return self._stopped

        return on_half
