"""The machine that a measurement is made on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine() -> dict[str, object]:
    """Its processor, cores and system."""
    return {"cpu": _processor(), "cores": os.cpu_count(), "system": platform.system()}


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return platform.processor()
    names = [t for t in path.read_text().splitlines() if t.startswith("model name")]
    return names[0].split(":", 1)[1].strip() if names else platform.machine()
