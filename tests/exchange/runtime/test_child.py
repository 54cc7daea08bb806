"""The process that computes: (function, bytes) in, bytes out, and nothing else on its output."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from walras.exchange.runtime import child

_FUNCTIONS = {
    name: f"tests.exchange.runtime.functions:{name}" for name in ("noise", "fail", "refuse")
}


def _question(name: bytes, data: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "big") + part for part in (name, data))


def test_questions_are_answered_in_order_until_the_pipe_is_closed() -> None:
    root = str(Path(__file__).resolve().parents[3])
    given = [f"{name}={where}" for name, where in _FUNCTIONS.items()]
    run = subprocess.run(
        [sys.executable, "-m", child.__name__, *given],
        input=_question(b"noise", b"x") + _question(b"fail", b"") + b"\0\0",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([root, *sys.path])},
        timeout=60.0,
        check=True,
    )
    answers = io.BytesIO(run.stdout)
    assert child._take(answers) == b"\0x", "what it prints is no answer"
    assert child._take(answers) == b"\1ValueError: no good"
    assert child._take(answers) is None
    assert b"a banner" in run.stderr


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("noise2", (b"\1", b"KeyError: 'noise2'")),
        ("fail", (b"\1", b"ValueError: no good")),
        ("refuse", (b"\1", b"where: what; allowed: this")),
        ("echo", (b"\0", b"data")),
    ],
)
def test_what_raises_is_told(name: str, wanted: tuple[bytes, bytes]) -> None:
    functions = {**_FUNCTIONS, "echo": f"{child.__name__}:echo"}
    assert child._answered(functions, name, b"data") == wanted


@pytest.mark.parametrize("cut", [0, 5, 8, 11])
def test_a_message_that_is_cut_short_is_none(cut: int) -> None:
    whole = (4).to_bytes(8, "big") + b"abcd"
    assert child._take(io.BytesIO(whole)) == b"abcd"
    assert child._take(io.BytesIO(whole[:cut])) is None


def test_a_parent_that_is_gone_ends_it_quietly() -> None:
    root = str(Path(__file__).resolve().parents[3])
    with subprocess.Popen(
        [sys.executable, "-m", child.__name__, f"echo={child.__name__}:echo"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([root, *sys.path])},
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None  # nobody reads the answers
        _, errors = process.communicate(_question(b"echo", b"x"), 60.0)
    assert (process.returncode, errors) == (0, b"")
