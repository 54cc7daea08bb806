"""Where compiled kernels are kept: a read-only installation without a home still works."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import walras
from walras.kernels import compiling

Walras = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def read_only(tmp_path: Path) -> Walras:
    """Runs commands of an installation that cannot keep kernels, for root neither; no home."""
    package = tmp_path / "site" / "walras"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(walras.__file__).parent, package, ignore=ignored)
    kernels = package / "kernels"
    for folder in (kernels, *(path for path in kernels.iterdir() if path.is_dir())):
        (folder / "__pycache__").write_text("a file, so that no folder can be made")

    def run(*arguments: str, temporary: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        nowhere = "/proc/nowhere"
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {
            "PYTHONPATH": str(package.parent),
            "HOME": nowhere,
            "XDG_CACHE_HOME": nowhere,
            "TMPDIR": str(temporary),
        }
        return subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
        )

    return run


SUM = (
    "import numpy as np\nfrom walras.kernels import parallel as runs\n"
    "from walras.kernels.compiling import *\n"
    "@runs.jit\ndef twice(x):\n    return 2 * x\n"
    "print(twice(21), cache_of(twice), nb.config.CACHE_DIR)"
)


def _cache(run: Walras, **options: Path) -> dict[str, Any]:
    shown = run("-m", "walras", "doctor", "-o", "json", **options)
    assert shown.returncode == 0, shown.stderr
    (row,) = [row for row in json.loads(shown.stdout) if row["item"] == "cache"]
    return dict(row)


def test_a_temporary_folder_serves(read_only: Walras, tmp_path: Path) -> None:
    assert read_only("-m", "walras", "solve", "cluster", "--help").returncode == 0
    row = _cache(read_only)
    assert row["ok"]
    assert row["found"].startswith(f"{tmp_path}/{compiling.TEMPORARY}")
    assert "temporary, no other place can be written to; set NUMBA_CACHE_DIR" in row["found"]
    (folder,) = tmp_path.glob(f"{compiling.TEMPORARY}*")
    assert folder.stat().st_mode & 0o777 == 0o700
    file = tmp_path / "script.py"
    file.write_text(SUM)
    shown = read_only(str(file))
    assert shown.stdout.startswith("42 "), shown.stderr
    assert shown.stdout.rstrip().endswith("__pycache__")  # the caller's own setting is as it was


def test_without_any_place_every_process_compiles_anew(read_only: Walras, tmp_path: Path) -> None:
    full = tmp_path / "taken"
    full.mkdir()
    (full / f"{compiling.TEMPORARY}{os.getuid()}").write_text("not a folder")
    assert read_only("-m", "walras", "solve", "--help", temporary=full).returncode == 0
    row = _cache(read_only, temporary=full)
    assert not row["ok"]
    assert row["found"].startswith("none: every process compiles anew; set NUMBA_CACHE_DIR")


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write_to_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = tmp_path / f"{compiling.TEMPORARY}{os.getuid()}"
    folder.mkdir()
    folder.chmod(mode)
    assert compiling.temporary_folder.__wrapped__() is None
    folder.chmod(0o700)
    assert compiling.temporary_folder.__wrapped__() == folder
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert compiling.temporary_folder.__wrapped__() is None


@pytest.mark.parametrize("folder", ["kernels", "simulate"])
def test_a_kernel_is_compiled_anew_when_what_it_takes_in_changes(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = f"stale_{folder}_a", f"stale_{folder}_b"
    above, within = (tmp_path / folder / f"{name}.py" for name in names)
    above.parent.mkdir()
    start = "from walras.kernels.parallel import inner, jit\n"
    above.write_text(f"{start}from {names[1]} import f\n@jit\ndef g(x):\n    return f(x) + 1\n")
    monkeypatch.syspath_prepend(above.parent)
    monkeypatch.setattr(compiling, "PACKAGE", tmp_path)

    def result(factor: float) -> tuple[int, bool]:
        """g of a new process with this source of f, and whether the cache had it."""
        within.write_text(f"{start}@inner\ndef f(x):\n    return {factor} * x\n")
        compiling.sources.cache_clear()
        for name in names:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        g = importlib.import_module(names[0]).g
        return g(10), bool(g.stats.cache_hits)

    assert result(2) == (21, False)
    assert result(2) == (21, True)
    assert result(300) == (3001, False)
    assert result(300) == (3001, True)
    compiling.sources.cache_clear()
    for name in names:
        del sys.modules[name]


def test_sources_that_cannot_be_read_are_told_apart_by_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = tmp_path / "archive.zip" / "walras"
    digests = []
    for number in ("1.0", "2.0"):
        monkeypatch.setattr(compiling, "version", lambda _, number=number: number)
        digests.append(compiling.sources.__wrapped__(nowhere))
    assert digests[0] != digests[1]


def test_a_full_disk_does_not_stop_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    @compiling.compiler()
    def thrice(x: int) -> int:
        return 3 * x

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(thrice._cache._impl.locator, "ensure_cache_path", full)
    assert thrice(2) == 6


def test_a_kernel_called_by_a_kernel_has_no_machine_code_of_its_own() -> None:
    assert _calling(2.0) == 5.0
    assert _called.signatures == []
    assert _called(3.0) == 6.0
    assert len(_called.signatures) == 1


@compiling.compiler()
def _called(x: float) -> float:
    return 2.0 * x


@compiling.compiler()
def _calling(x: float) -> float:
    return float(_called(x)) + 1.0
