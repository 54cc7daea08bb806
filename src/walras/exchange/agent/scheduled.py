"""What Slurm and Kubernetes have in common: runs that the agent cannot see on its own disk.

Such a run cannot end itself with its lease. A token is submitted at most once, since a submission
can fail *and* take effect: what is not seen by its name for a while is given up, and cancelled by
its name should it appear after all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from walras.exchange.agent import shim
from walras.exchange.agent.backend import Exit
from walras.exchange.agent.clock import now
from walras.exchange.agent.machine import Key
from walras.exchange.service.messages import Grant

_LOST = 120.0  # seconds after which a run that was submitted and is not seen is given up
_TURN = 5.0  # seconds in which runs are submitted; the others wait, so that leases are renewed


class OutsideError(Exception):
    """The scheduler does not answer, or not as expected: nothing is known."""


@dataclass(frozen=True)
class Seen:
    """What the scheduler says of a run.

    Attributes:
        state: ``waiting``, ``running`` or an outcome. A run that waits has no time limit that runs.
        seconds: How long it has run, or None.
        exit_code: Of the command, or None.
    """

    state: str
    seconds: float | None = None
    exit_code: int | None = None

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.state not in ("waiting", "running")


class Scheduled:
    """A backend whose runs belong to another scheduler.

    A subclass defines ``_submit``, ``_look``, ``_cancel`` and ``_log``; each raises
    :class:`OutsideError` where the scheduler does not answer.

    Args:
        home: Folder of the agent; what was asked for lies in ``home/jobs``.
    """

    name = ""
    fences = False

    def __init__(self, home: Path) -> None:
        self._jobs = home / "jobs"
        self._jobs.mkdir(parents=True, exist_ok=True)
        self._runs: dict[Key, Grant] = {}
        self._stopping: set[Key] = set()
        self._cancelled: set[Key] = set()
        self._tried: dict[Key, float] = {}  # when each was submitted, or last seen
        self._ended: dict[Key, Exit] = {}
        self._began: set[Key] = set()  # seen running at the last look
        self._until = 0.0  # when the turn of submitting ends

    # ---- what a subclass defines --------------------------------------------------------------

    def _submit(self, key: Key, grant: Grant) -> None:
        raise NotImplementedError

    def _look(self, names: Mapping[str, Key]) -> dict[Key, Seen]:
        """What is known of runs, by name; a run that was never submitted is left out."""
        raise NotImplementedError

    def _cancel(self, key: Key) -> None:
        raise NotImplementedError

    def _log(self, key: Key) -> str:
        return ""

    def _remove(self, key: Key) -> None:
        """Remove what the scheduler keeps of a run."""

    # ---- the interface of a backend -----------------------------------------------------------

    def adopt(self) -> list[Key]:
        """Every run that was asked for and is not forgotten: it may be alive."""
        for path in sorted(self._jobs.glob("*.json")):
            record = json.loads(path.read_bytes())
            grant = Grant(**record)
            key = (grant.placement, grant.token)
            self._runs[key] = grant
            if self._mark(key).exists():
                self._tried[key] = now()
        return sorted(self._runs)

    def start(self, grant: Grant, until: float) -> None:
        """Note the run; :meth:`poll` submits it once it is known not to be there."""
        key = (grant.placement, grant.token)
        shim.write(str(self._jobs), self._file(key), asdict(grant))
        self._runs[key] = grant

    def extend(self, key: Key, until: float) -> None:
        """Nothing: the run cannot end itself."""

    def stop(self, key: Key) -> None:
        """Cancel a run; one that was not submitted yet never will be."""
        self._stopping.add(key)

    def poll(self) -> list[Exit]:
        """Look all runs up at once, submit those that are not there, cancel those told to end."""
        open_ = {self.job_name(k): k for k in self._runs if k not in self._ended}
        self._until = now() + _TURN
        if open_:
            with suppress(OutsideError):  # nothing is known then; the service holds what it must
                self._review(open_)
        return [self._ended[key] for key in sorted(self._ended)]

    def waiting(self) -> set[Key]:
        """Runs that were not seen running; after a start of the agent nothing was seen yet."""
        return self._runs.keys() - self._began

    def forget(self, key: Key) -> None:
        """Remove the note of a run."""
        self._remove(key)
        (self._jobs / self._file(key)).unlink(missing_ok=True)
        self._mark(key).unlink(missing_ok=True)
        self._runs.pop(key, None)
        self._ended.pop(key, None)
        self._tried.pop(key, None)
        self._began.discard(key)
        self._stopping.discard(key)
        self._cancelled.discard(key)

    # ---- -------------------------------------------------------------------------------------

    def _review(self, names: Mapping[str, Key]) -> None:
        found = self._look(names)
        for key in names.values():
            seen = found.get(key)
            if seen is None:
                self._missing(key)
                continue
            self._tried[key] = now()
            (self._began.discard if seen.state == "waiting" else self._began.add)(key)
            if seen.ended:
                self._ended[key] = Exit(
                    key, seen.state, seen.seconds, seen.exit_code, self._log(key)
                )
            elif key in self._stopping:
                self._cancel(key)
                self._cancelled.add(key)

    def _missing(self, key: Key) -> None:
        """A run that the scheduler does not know."""
        tried = self._tried.get(key)
        if key in self._cancelled or (tried is None and key in self._stopping):
            self._ended[key] = Exit(key, "cancelled")
        elif tried is None:
            if now() < self._until:
                self._tried[key] = now()
                self._mark(key).touch()
                self._submit(key, self._runs[key])
        elif now() - tried > _LOST:
            self._cancel(key)
            self._ended[key] = Exit(key, "unreachable")

    def job_name(self, key: Key) -> str:
        """The run's name at the scheduler: ``walras-<task>-<token>``."""
        return f"walras-{self._runs[key].task}-{key[1]}"[-63:]

    def _mark(self, key: Key) -> Path:
        """The file that says that a run was submitted, or may have been."""
        return self._jobs / f"{key[0]}-{key[1]}.tried"

    @staticmethod
    def _file(key: Key) -> str:
        return f"{key[0]}-{key[1]}.json"
