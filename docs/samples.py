"""Run the samples of a page, and write below each what it prints.

    python docs/samples.py docs/tutorial/first_steps.md

Python blocks of one page run in order and share their names, in a folder of their own. A block with
a caption becomes the file of that name. A text block right below a Python block is what that block
prints; below a command of a console block stands what that command prints. ``...`` stands for
anything: for what differs between computers, such as seconds, and for what is too long.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(
    r"^```\{code-block\} \w+\n:caption: (\S+)\n\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_PICTURE = re.compile(r"^!\[[^\]]*\]\(([^)]*\.png)\)", re.MULTILINE)
_COMMAND = re.compile(r"^\$ (.+)$\n?((?:(?!\$ ).*\n)*)", re.MULTILINE)
_WIDTH = "100"
_HEAD, _TAIL = 7, 9  # lines of a long output that are written


@dataclass(frozen=True)
class Sample:
    """A Python block or a command, with what the page says it prints.

    Attributes:
        source: The code, or the command without its ``$``.
        is_command: Whether it is a command.
        line: Line of the page on which it begins.
        shown: Output on the page; None where there is none.
        span: Where the output stands on the page, or where it would stand.
    """

    source: str
    is_command: bool
    line: int
    shown: str | None
    span: tuple[int, int]

    @property
    def prints(self) -> bool:
        """Whether it must print something."""
        return self.is_command or "print(" in self.source


def samples(text: str) -> Iterator[Sample]:
    """The samples of a page, in order."""
    for found in FENCE.finditer(text):
        line = text[: found.start()].count("\n") + 2
        if found[1] == "python":
            below = re.compile(r"\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
            output = below.match(text, found.end())
            span = output.span() if output else (found.end(), found.end())
            yield Sample(found[2], False, line, output[1] if output else None, span)
        elif found[1] == "console":
            for command in _COMMAND.finditer(text, found.start(2), found.end(2)):
                at = text[: command.start()].count("\n") + 1
                yield Sample(command[1], True, at, command[2] or None, command.span(2))


def run(page: Path, folder: Path) -> Iterator[tuple[Sample, str]]:
    """Run a page's samples in a folder; each with what it printed.

    Raises:
        RuntimeError: A command ended with an error.
    """
    text = page.read_text(encoding="utf-8")
    for caption, content in FILE.findall(text):
        (folder / caption).write_text(content, encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    for sample in samples(text):
        if sample.is_command:
            yield sample, command_output(sample.source, folder)
        else:
            printed = io.StringIO()
            # Blank lines in front, so that a traceback shows the page's own line numbers.
            code = compile("\n" * (sample.line - 1) + sample.source, str(page), "exec")
            with contextlib.redirect_stdout(printed), contextlib.chdir(folder):
                exec(code, names)
            yield sample, printed.getvalue()


def command_output(command: str, folder: Path) -> str:
    """What a ``walras`` command prints on standard output; it may end in ``> file``.

    Raises:
        RuntimeError: It is no walras command, or ended with an error.
    """
    command, _, target = command.partition(" > ")
    program, *arguments = shlex.split(command)
    if program != "walras":
        raise RuntimeError(f"only walras is run here; put others in a sh block: {command}")
    done = subprocess.run(
        [sys.executable, "-m", "walras", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
        env=os.environ | {"COLUMNS": _WIDTH, "NO_COLOR": "1"},
    )
    if done.returncode != 0:
        raise RuntimeError(f"$ {command}\n{done.stdout}{done.stderr}")
    if target:
        (folder / target).write_text(done.stdout, encoding="utf-8")
        return ""
    return done.stdout


def pictures(page: Path) -> list[Path]:
    """The pictures that a page shows and its samples draw, each under its own name."""
    found = _PICTURE.findall(page.read_text(encoding="utf-8"))
    return [(page.parent / name).resolve() for name in found]


def matches(shown: str, printed: str) -> bool:
    """Whether an output is the one shown; ``...`` matches anything."""
    pattern = re.escape(_trimmed(shown)).replace(re.escape("..."), ".*?")
    return re.fullmatch(pattern, _trimmed(printed), re.DOTALL) is not None


def shortened(printed: str) -> str:
    """An output as it is written to a page: digits and seconds that differ become ``...``."""
    text = _trimmed(printed)
    text = re.sub(r"\b\d\.?\d*e-(?:0[6-9]|1\d)\b", "...", text)
    text = re.sub(r"(\d\.\d{4})\d{3,}", r"\1...", text)
    text = re.sub(r"\b\d+(?:\.\d+)? s\b", "... s", text)
    text = re.sub(r"(seconds\b[^\n]*?)\d+\.\d+(?:\.\.\.)?", r"\1...", text)
    lines = text.splitlines()
    if len(lines) > _HEAD + _TAIL + 4:
        lines = [*lines[:_HEAD], "...", *lines[-_TAIL:]]
    return "\n".join(lines) + "\n" if lines else ""


def written(page: Path, folder: Path) -> str:
    """The page with the output of each sample that shows another, or none; copies its pictures."""
    text = page.read_text(encoding="utf-8")
    done = list(run(page, folder))
    for picture in pictures(page):
        shutil.copy(folder / picture.name, picture)
    for sample, printed in reversed(done):
        if sample.shown is not None and matches(sample.shown, printed):
            continue
        output = shortened(printed)
        if not output.strip() or "--help" in sample.source:
            output = ""
        elif not sample.is_command:
            output = f"\n\n```text\n{output}```"
        text = text[: sample.span[0]] + output + text[sample.span[1] :]
    return text


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as place:
            new = written(Path(name), Path(place))
        Path(name).write_text(new, encoding="utf-8")
