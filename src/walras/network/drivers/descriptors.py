"""Open files that a process may have: raised where it is allowed, refused before it is too late."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from walras.errors import EngineError

if sys.platform != "win32":  # where there are no deployments
    import resource

_OPEN = Path("/dev/fd")


def ensure(needed: int, spare: int = 0) -> None:
    """Have so many files more, and some to spare where the system allows them.

    The soft limit is raised when it is too low, never beyond the hard one.

    Args:
        needed: Without them the process cannot work.
        spare: What it could use besides.

    Raises:
        EngineError: The hard limit is too low.
    """
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = sys.maxsize if hard == resource.RLIM_INFINITY else hard
    now = len(os.listdir(_OPEN)) if _OPEN.exists() else 32
    if now + needed > most:
        raise EngineError(
            f"may have {most} open files; it has {now} and needs {needed} more",
            where="this process",
            allowed=f"{now + needed} at least",
            remedy="raise the limit (ulimit -n), or take fewer centres or neighbours",
        )
    wanted = min(most, now + needed + spare)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
