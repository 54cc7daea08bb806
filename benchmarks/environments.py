"""Environments of peers that would change the project's own by what they need or add."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = "project"
_RUNNING = ".".join(map(str, sys.version_info[:2]))

_PYTHON = {"dede": "3.11"}  # the Python that an environment needs; that of the project elsewhere


def interpreter(environment: str) -> Path | None:
    """Python of an environment, None if it has not been made."""
    if environment == PROJECT:
        return Path(sys.executable)
    python = _folder(environment) / "bin" / "python"
    return python if (_folder(environment) / "complete").exists() else None


def prepare(environment: str) -> str:
    """Make an environment that is missing; returns why it could not be made, or nothing."""
    if interpreter(environment) is not None:
        return ""
    wanted = _PYTHON.get(environment, _RUNNING)
    base = _base_python(wanted)
    if base is None:
        return f"needs python{wanted} on the PATH"
    folder = _folder(environment)
    requirements = HERE / f"requirements-{environment}.txt"
    python = str(folder / "bin" / "python")
    for command in (
        [base, "-m", "venv", "--clear", str(folder)],
        [python, "-m", "pip", "install", "--quiet", "-r", str(requirements)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{' '.join(command[1:4])} failed: {done.stderr.strip()[-300:]}"
    (folder / "complete").touch()
    return ""


def _folder(environment: str) -> Path:
    return HERE / ".environments" / environment


def _base_python(version: str) -> str | None:
    if version == _RUNNING:
        return sys.executable
    return shutil.which(f"python{version}")
