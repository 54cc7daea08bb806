"""What this machine lets the tests do."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path


def mount(folder: Path, size: str, *, again: bool = False) -> None:
    """Mount a file system of this size in memory, or give it another size."""
    options = f"remount,size={size}" if again else f"size={size}"
    _run("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder))


def unmount(folder: Path) -> None:
    """Take it away, whoever still uses it."""
    _run("umount", "--lazy", str(folder))


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, timeout=30)


@cache
def can_mount() -> bool:
    """Whether a file system can be mounted here."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            mount(Path(folder), "64k")
        except (OSError, subprocess.SubprocessError):
            return False
        unmount(Path(folder))
    return True


@cache
def can_make_networks() -> bool:
    """Whether network namespaces, and devices in them, can be made here."""
    if shutil.which("ip") is None or not Path("/dev/net/tun").exists():
        return False
    name = f"walras-probe-{os.getpid()}"  # two processes of tests ask at the same time
    try:
        _run("ip", "netns", "add", name)
        _run("ip", "-n", name, "tuntap", "add", "dev", "probe", "mode", "tun")
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=30, check=False)
    return True
