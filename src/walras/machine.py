"""What this process may use of the machine: its affinity, and the CPU quota of its container.

A quota is no affinity: a container with two CPUs of 64 may run on all of them, but two at a time on
average, and 64 threads would be stopped most of the time.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath


def cores() -> int:
    """Cores that this process may keep busy: of its affinity, as many as its quota pays for."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux alone has it
    own = os.cpu_count() or 1 if affinity is None else len(affinity(0))
    return max(1, min(own, math.ceil(min(quota(), own))))


@cache
def quota(root: Path = Path("/")) -> float:
    """CPUs that the control groups of this process allow, ``inf`` without a limit; read once.

    The limits of a group hold for those below it: the least of all above counts.

    Args:
        root: Where ``proc`` and ``sys`` are.
    """
    try:
        groups = (root / "proc/self/cgroup").read_text().splitlines()
        mounts = (root / "proc/self/mountinfo").read_text().splitlines()
    except (OSError, UnicodeDecodeError):  # another system than Linux, or a locked one
        return math.inf
    paths: dict[str, PurePosixPath] = {}  # by controllers; those of version 2 have no name
    for line in groups:
        _, names, path = line.split(":", 2)
        paths |= dict.fromkeys(names.split(","), PurePosixPath(path))
    found = [_limit(folder) for line in mounts for folder in _folders(root, line, paths)]
    return min(found, default=math.inf)


def _folders(root: Path, mount: str, paths: dict[str, PurePosixPath]) -> Iterator[Path]:
    """The folders of this process's group and of those above it, in a mount of control groups."""
    own, _, kind = mount.partition(" - ")
    words, kinds = own.split(), kind.split()
    if len(words) < 5 or len(kinds) < 3 or kinds[0] not in ("cgroup", "cgroup2"):
        return
    controller = "" if kinds[0] == "cgroup2" else "cpu"
    if controller not in paths or (controller and controller not in kinds[2].split(",")):
        return
    top, at = PurePosixPath(words[3]), root / words[4].lstrip("/")
    yield at
    path = paths[controller]
    # In a container the path may be the host's, of which the mount shows a part or nothing.
    below = path.relative_to(top) if path.is_relative_to(top) else path.relative_to("/")
    for part in below.parts:
        at = at / part
        yield at


def _limit(folder: Path) -> float:
    """CPUs that one group allows: ``cpu.max`` of version 2, ``cpu.cfs_quota_us`` of version 1."""
    try:
        if (folder / "cpu.max").exists():
            most, period = (folder / "cpu.max").read_text().split()
        else:
            most = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
        allowed = float("inf") if most == "max" else float(most) / float(period)
    except (OSError, ValueError, ZeroDivisionError):
        return math.inf
    return allowed if allowed > 0 else math.inf
