"""The end of an output, however large it is and whatever it holds."""

from __future__ import annotations

from pathlib import Path

from walras.exchange.agent.backend import LOG_BYTES, tail, tail_of


def test_the_end_of_a_file_is_read_without_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as file:
        file.truncate(2**40)  # takes no place on the disk
        file.seek(0, 2)
        file.write(b"end\n")
    assert tail_of(path) == "\0" * (LOG_BYTES - 4) + "end\n"


def test_what_cannot_be_read_is_empty_and_no_byte_is_refused(tmp_path: Path) -> None:
    assert tail_of(tmp_path / "none") == ""
    assert tail(b"\xff\xfea") == "\ufffd\ufffda"
