"""Run the samples of a page, and write below each what it prints.

    python docs/samples.py docs/tutorial/first_steps.md

Python blocks of one page run in order and share their names, in a folder of their own. A block with
a caption becomes the file of that name. A text block right below a Python block is what that block
prints; below a command of a console block stands what that command prints. ``...`` stands for
anything: for what differs between computers, such as seconds, and for what is too long.

A command runs in a process of its own. It is forked from one that has imported what commands
import, since that takes a second each time.

A command that ends in ``&`` runs until the page ends; the next one begins when it serves. ``export
NAME=VALUE`` holds for the rest of the page. Port 8765 of a page is any free port when it runs.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import re
import runpy
import shlex
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from walras.cli.main import COMMANDS

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(
    r"^```\{code-block\} \w+\n:caption: (\S+)\n\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_PICTURE = re.compile(r"^!\[[^\]]*\]\(([^)]*\.png)\)", re.MULTILINE)
_COMMAND = re.compile(r"^\$ (.+)$\n?((?:(?!\$ ).*\n)*)", re.MULTILINE)
_WIDTH = "100"
PORT = "8765"  # of a page's services
_HEAD, _TAIL = 7, 9  # lines of a long output that are written
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        *{command.target.partition(":")[0] for command in COMMANDS.values()},
        "walras.exchange.api.http",  # of a service
        "walras.exchange.runtime.service",
    ]
)


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
        if self.is_command:
            return not self.source.startswith("export ") and not self.source.endswith("&")
        return "print(" in self.source


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
        (folder / caption).parent.mkdir(parents=True, exist_ok=True)
        (folder / caption).write_text(content, encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    shell = Shell(folder)
    with shell, shell.environment():
        for sample in samples(text):
            if sample.is_command:
                yield sample, shell.output(sample.source)
            else:
                printed = io.StringIO()
                # Blank lines in front, so that a traceback shows the page's own line numbers.
                source = shell.with_port(sample.source)
                code = compile("\n" * (sample.line - 1) + source, str(page), "exec")
                with contextlib.redirect_stdout(printed), contextlib.chdir(folder):
                    exec(code, names)
                yield sample, shell.as_written(printed.getvalue())


class Shell(contextlib.ExitStack):
    """What the console blocks of a page run in: a folder, variables and services.

    Args:
        folder: Where commands run.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.port = ""

    @contextlib.contextmanager
    def environment(self) -> Iterator[None]:
        """The page's variables in this process, for its Python blocks; undone afterwards."""
        before = dict(os.environ)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def with_port(self, text: str) -> str:
        """A text with the port that this run uses."""
        if PORT in text and not self.port:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = str(free.getsockname()[1])
            os.environ["WALRAS_SERVER"] = f"http://127.0.0.1:{self.port}"
        return text.replace(PORT, self.port) if self.port else text

    def as_written(self, text: str) -> str:
        """What was printed, with the page's port."""
        return text.replace(self.port, PORT) if self.port else text

    def output(self, command: str) -> str:
        """What a ``walras`` command prints on standard output; it may end in ``> file``.

        Raises:
            RuntimeError: It is no walras command, or ended with an error.
        """
        command, _, target = command.partition(" > ")
        words = shlex.split(self.with_port(command))
        if words[0] == "export":
            os.environ.update(word.split("=", 1) for word in words[1:])
            return ""
        if words[0] != "walras":
            raise RuntimeError(f"only walras is run here; put others in a sh block: {command}")
        if words[-1] == "&":
            self._serve(words[:-1])
            return ""
        with tempfile.TemporaryDirectory() as place:
            output, errors = Path(place, "output"), Path(place, "errors")
            started = self._started(words, output, errors)
            started.join(120.0)
            _ended(started)
            printed = output.read_text(encoding="utf-8")
            if started.exitcode != 0:
                raise RuntimeError(f"$ {command}\n{printed}{errors.read_text(encoding='utf-8')}")
        if target:
            (self.folder / target).write_text(printed, encoding="utf-8")
            return ""
        return self.as_written(printed)

    def _started(self, words: list[str], output: Path, errors: Path) -> Any:
        """The process of a command that has begun."""
        output.touch()
        errors.touch()
        variables = os.environ | {"COLUMNS": _WIDTH, "NO_COLOR": "1"}
        given = (words, self.folder, variables, output, errors)
        started = _FORKS.Process(target=run_command, args=given)
        started.start()
        return started

    def _serve(self, words: list[str]) -> None:
        """Start a service; return when it says on standard error that it serves."""
        log = self.folder / f"service-{len(list(self.folder.glob('service-*')))}.log"
        started = self._started(words, log, log)
        self.callback(_ended, started)
        last = time.monotonic() + 60.0
        while b"serv" not in log.read_bytes():
            if not started.is_alive() or time.monotonic() > last:
                raise RuntimeError(f"{' '.join(words)}\n{log.read_text(encoding='utf-8')}")
            time.sleep(0.05)


def run_command(
    words: list[str], folder: Path, variables: Mapping[str, str], output: Path, errors: Path
) -> None:
    """Be ``python -m walras`` in a folder, with variables and files for what it prints."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    for number, file in ((1, output), (2, errors)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_APPEND), number)
    sys.argv = words
    runpy.run_module("walras", run_name="__main__", alter_sys=True)


def _ended(started: Any) -> None:
    """End a process in order, or by force; one that has ended stays as it is."""
    started.terminate()
    started.join(20.0)
    started.kill()
    started.join()


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
    text = re.sub(r"\b([tk])-[0-9a-f]{20}\b", r"\1-...", text)  # uids
    text = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "...", text)
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
