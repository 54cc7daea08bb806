"""Enforce a share with Linux control groups: ``cpu.max`` of the group that training runs in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from walras import checks
from walras.network.drivers.bundle import check_keys

_PERIOD = 100_000  # microseconds
_LEAST = 1_000  # least CPU time of a period that the kernel allows, in microseconds
_STEP = 0.01  # relative change below which the quota stays


class Enforcer:
    """Keeps a group's CPU time at the share in use; without a group it only advises.

    Args:
        group: A cgroup v2 directory with a writable ``cpu.max``, or None.
        processors: Number of processors for a share of 1.
    """

    def __init__(self, group: Path | None, processors: float = 1.0) -> None:
        self._group, self._processors = group, processors
        self._quota = -1

    @classmethod
    def of(cls, config: Any, say: Callable[[str], None]) -> Enforcer:
        """An enforcer from a configuration ``{"group": path, "processors": number}`` or None.

        Raises:
            InputError: The configuration has unknown keys, or no share can be enforced with it.
        """
        if config is None:
            say("no control group is given: shares are advice, nothing enforces them")
            return cls(None)
        check_keys(config, "cgroup", ("group", "processors"))
        group, remedy = Path(config["group"]), "say how many processors a share of 1 stands for"
        processors = checks.number(
            config["processors"], "cgroup.processors", above=0.0, remedy=remedy
        )
        why = unwritable(group)
        if why:
            say(f"{group} {why}: shares are advice, nothing enforces them")
            return cls(None)
        say(f"shares are enforced by {group}/cpu.max")
        return cls(group, processors)

    @property
    def active(self) -> bool:
        """Whether shares are enforced."""
        return self._group is not None

    def enforce(self, share: float) -> None:
        """Limit the group to a share, in the budget's unit."""
        if self._group is None:
            return
        quota = max(_LEAST, int(share * self._processors * _PERIOD))
        # Lower limits apply at once; higher ones in steps, so that a settling share costs few
        # writes.
        if self._quota > quota or quota > self._quota * (1.0 + _STEP):
            (self._group / "cpu.max").write_text(f"{quota} {_PERIOD}")
            self._quota = quota

    def close(self) -> None:
        """Set the least quota that the kernel allows, since an ended node has no share."""
        self.enforce(0.0)


def unwritable(group: Path) -> str:
    """The reason why a group's ``cpu.max`` cannot be written; empty if it can."""
    limit = group / "cpu.max"
    if not limit.exists():
        return "has no cpu.max (no cgroup v2 group with the cpu controller)"
    return "" if os.access(limit, os.W_OK) else "has a cpu.max that may not be written"
