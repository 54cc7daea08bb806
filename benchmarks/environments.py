"""Environments of peers whose dependencies are too old for the project's own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = "project"

_PYTHON = {"dede": "3.11"}  # the Python that each environment needs


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
    base = _base_python(_PYTHON[environment])
    if base is None:
        return f"needs python{_PYTHON[environment]} on the PATH"
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
    running = ".".join(map(str, sys.version_info[:2]))
    if running == version:
        return sys.executable
    return shutil.which(f"python{version}")
