"""The limit of open files: raise it if allowed, and refuse early if it is too low."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from walras.errors import EngineError

if sys.platform != "win32":  # deployments do not run there
    import resource

_OPEN = Path("/dev/fd")


def ensure(needed: int, spare: int = 0) -> None:
    """Raise the limit of open files by the needed number, and by spare ones if the system allows.

    The soft limit is raised when it is too low, never beyond the hard one.

    Args:
        needed: Number of files that the process needs.
        spare: Number of further files that it could use.

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
