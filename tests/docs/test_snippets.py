"""Every snippet of README and the documentation runs: Python blocks, and ``$ walras`` commands.

Blocks of one page run in order and share their names, in a folder of their own; a block with a
caption becomes the file of that name. A text block right below a Python block is what it prints.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from walras.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("[!_]*/*.md"), ROOT / "docs/index.md"])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

FILE = re.compile(
    r"^```\{code-block\} \w+\n:caption: (\S+)\n\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def _blocks(page: Path) -> list[tuple[str, str, int]]:
    """Language, content and line number of each fenced block."""
    text = page.read_text(encoding="utf-8")
    return [
        (found[1], found[2], text[: found.start()].count("\n") + 2)
        for found in FENCE.finditer(text)
    ]


def _runs(page: Path) -> bool:
    return any(language in ("python", "console") for language, _, _ in _blocks(page))


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if _runs(page)], ids=_name)
def test_snippets_run(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for caption, content in FILE.findall(page.read_text(encoding="utf-8")):
        (tmp_path / caption).write_text(content, encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    printed, ends = "", _ends(page)
    for language, content, line in _blocks(page):
        if language == "python":
            # Blank lines in front, so that a traceback shows the page's own line numbers.
            exec(compile("\n" * (line - 1) + content, str(page), "exec"), names)
            printed = capsys.readouterr().out
            assert printed or "print(" not in content
        elif language == "text" and line - 3 in ends:
            assert _lines(printed) == _lines(content), f"{_name(page)}, line {line}"
        elif language == "console":
            for command in re.findall(r"^\$ (.+)$", content, re.MULTILINE):
                _run(command)


def _ends(page: Path) -> set[int]:
    """Lines on which Python blocks end; what they print may stand in a text block right after."""
    return {
        line + content.count("\n")
        for language, content, line in _blocks(page)
        if language == "python"
    }


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _run(command: str) -> None:
    command, _, target = command.partition(" > ")
    program, *arguments = shlex.split(command)
    assert program == "walras", (
        f"only walras is run here; put other commands in a sh block: {command}"
    )
    run = subprocess.run(
        [sys.executable, "-m", "walras", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, f"$ {command}\n{run.stdout}{run.stderr}"
    if target:
        Path(target).write_text(run.stdout, encoding="utf-8")


def test_there_are_snippets_to_run() -> None:
    assert sum(_runs(page) for page in PAGES) >= 6


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs/reference/command_line.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`walras {name}" not in page] == []
