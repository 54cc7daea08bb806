"""Standard output and error as real shells hand them over: full disks, old encodings, closed."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from walras.reports.tables import show
from walras.text import visible

FULL = Path("/dev/full")
# As a command ends that found one row, without the seconds that solving it would take.
EMIT = """
import sys
from walras.cli.common.output import Format, emit
from walras.reports.tables import Table
from walras.cli.common.streams import keep_stdout_for_results
keep_stdout_for_results()
emit(Table(("job", "share"), [(sys.argv[1], 0.5)], sys.argv[1]), Format(sys.argv[2]))
"""


def _walras(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return _run([sys.executable, "-m", "walras", *arguments], **options)


def _emitted(name: str, output: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return _run([sys.executable, "-c", EMIT, name, output], **options)


def _run(command: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60} | options
    return subprocess.run(command, check=False, **given)  # type: ignore[call-overload]


@pytest.mark.skipif(not FULL.exists(), reason="Linux alone has a disk that is always full")
@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("data", "list"), ("data", "list", "-o", "csv")]
)
def test_a_full_disk_is_one_error(arguments: tuple[str, ...]) -> None:
    with FULL.open("wb") as full:
        run = _walras(*arguments, stdout=full)
    assert run.returncode == 6
    what, where, *_ = run.stderr.decode().splitlines()
    assert what == "error[data]: cannot be written: No space left on device"
    assert where == "  where:   standard output"
    assert b"Traceback" not in run.stderr
    assert b"Exception ignored" not in run.stderr


def test_a_reader_that_leaves_ends_the_program_in_silence() -> None:
    read, write = os.pipe()
    os.close(read)
    run = _walras("data", "list", "-o", "json", stdout=write)
    os.close(write)
    assert run.returncode == 141
    assert run.stderr == b""


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_is_no_traceback(closed: int) -> None:
    command = [sys.executable, "-m", "walras", "data", "list", "-o", "csv"]
    code = f"import os; os.close({closed}); os.execv({command[0]!r}, {command!r})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert run.returncode == 0
    assert run.stderr == b""
    assert run.stdout.startswith(b"name,holds" if closed == 2 else b"")


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
@pytest.mark.parametrize("output", ["table", "csv", "json"])
def test_a_name_that_the_encoding_lacks(encoding: str, output: str) -> None:
    name = "😀 é"
    run = _emitted(name, output, env=os.environ | {"PYTHONIOENCODING": encoding})
    assert run.returncode == 0, run.stderr
    assert run.stderr == b""
    codes = {
        "csv": name.encode(),  # data are UTF-8 as the tables that are read
        "json": rb"\ud83d\ude00 \u00e9",
        "table": name.encode(encoding, "backslashreplace"),
    }
    assert codes[output] in run.stdout


def test_half_a_character_is_escaped() -> None:
    code = EMIT.replace("sys.argv[1]", repr("\ud800"))
    run = _run([sys.executable, "-c", code, "", "csv"])
    assert run.returncode == 0, run.stderr
    assert rb"\ud800" in run.stdout


@pytest.mark.parametrize("output", ["table", "csv"])
def test_a_name_cannot_steer_the_terminal(output: str) -> None:
    name = "\x1b]0;owned\x07\x1b[31mred\u202e\x9b2J"
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "150"}
    run = _emitted(name, output, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    shown = b""
    while chunk := _read(master):
        shown += chunk
    os.close(master)
    assert run.returncode == 0
    assert b"\\x1b]0;owned\\x07\\x1b[31mred\\u202e\\x9b2J" in shown
    for steering in ("\x1b]0;", "\x1b[31m", "\u202e", "\x9b"):
        assert steering.encode() not in shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side is closed, and all is read
        return b""


def test_a_pipe_gets_names_as_they_are() -> None:
    name = "\x1b[31mred"
    assert name.encode() in _emitted(name, "csv").stdout


def test_an_error_cannot_steer_the_terminal() -> None:
    run = _walras("data", "path", "\x1b[31mred")
    assert run.returncode == 2
    assert b"\\x1b[31mred" in run.stderr
    assert b"\x1b[31m" not in run.stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 😀 👩‍👧 漢字", "plain é 😀 👩‍👧 漢字"),
        ("a\x1b[2J", "a\\x1b[2J"),
        ("a\rb\x00\x7f\x85", "a\\rb\\x00\\x7f\\x85"),
        ("line\nline\tcell", "line\nline\tcell"),
        ("\u2066\u202e", "\\u2066\\u202e"),
        ("\udce9", "\\udce9"),
    ],
)
def test_control_characters_are_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_cell_takes_one_line() -> None:
    assert show("two\nlines") == "two\\nlines"
