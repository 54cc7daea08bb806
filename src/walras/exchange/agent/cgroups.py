"""Limits of a run by cgroup v2, where this process may make one; elsewhere nothing is limited."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Limits:
    """What a slot may use.

    Attributes:
        memory: Bytes, or None.
        cores: Cores, or None.
    """

    memory: int | None = None
    cores: float | None = None


def make(folder: Path, limits: Limits, slots: int) -> bool:
    """Make a run's cgroup and write its path to ``folder/cgroup``; whether that worked."""
    if limits == Limits():
        return False
    group = _ROOT / "walras" / f"run-{folder.parent.parent.name}-{folder.name}"
    try:
        group.mkdir(parents=True, exist_ok=True)
        if limits.memory is not None:
            (group / "memory.max").write_text(str(limits.memory * slots))
        if limits.cores is not None:
            (group / "cpu.max").write_text(f"{round(100_000 * limits.cores * slots)} 100000")
        (folder / "cgroup").write_text(str(group), encoding="utf-8")
    except OSError:
        with contextlib.suppress(OSError):
            group.rmdir()
        return False
    return True


def available() -> bool:
    """Whether limits can be set here."""
    try:
        group = _ROOT / "walras"
        group.mkdir(exist_ok=True)
        (_ROOT / "cgroup.subtree_control").write_text("+memory +cpu")
        (group / "cgroup.subtree_control").write_text("+memory +cpu")
    except OSError:
        return False
    return True


def _of(folder: Path) -> Path | None:
    try:
        return Path((folder / "cgroup").read_text(encoding="utf-8").strip())
    except OSError:
        return None


def kill(folder: Path) -> None:
    """End every process of a run's cgroup."""
    group = _of(folder)
    if group is not None:
        with contextlib.suppress(OSError):
            (group / "cgroup.kill").write_text("1")


def remove(folder: Path) -> None:
    """Remove a run's cgroup; it is empty by then."""
    group = _of(folder)
    if group is not None:
        kill(folder)
        with contextlib.suppress(OSError):
            group.rmdir()
