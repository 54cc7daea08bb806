"""Text and CSV files: encodings, separators and lines, case by case."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras.predict.logs.text import Lines, read_csv, read_text


def read(folder: Path, content: bytes | str, *columns: str) -> Lines:
    path = folder / "file.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_csv(path, columns)


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("text", ["a,b\n1,2\n", "x" * 400 + "\u0394" * 300, "ab", "\u0394a"])
def test_utf_16_without_a_mark_is_known_by_its_zeros(text: str, order: str, tmp_path: Path) -> None:
    """Where over half of the first characters are plain ones."""
    path = tmp_path / "file"
    path.write_bytes(text.encode(f"utf-16-{order}"))
    plain = 2 * sum(ord(c) < 256 for c in text[:128]) > min(len(text), 128)
    assert (read_text(path) == text) is plain


def test_a_zero_in_plain_text_is_no_utf_16(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for raw in (b"a\0bcd,e", b"", b"\0", b"ab"):
        path.write_bytes(raw)
        if raw == b"\0":
            with pytest.raises(ValueError, match="truncated"):
                read_text(path)
        else:
            assert read_text(path) == raw.decode()


def test_lines_are_utf_8_or_else_latin_1_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes("é\n".encode() + "é\n".encode("latin-1") + b"e")
    assert read_text(path) == "é\né\ne"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_what_puts_the_columns_into_the_first_line(
    separator: str, tmp_path: Path
) -> None:
    text = f'\n "a"{separator} b{separator}c,d\n1{separator}2{separator}x\n'
    if separator == ",":
        text = text.replace("c,d", "c")
    found = read(tmp_path, text, "a", "b")
    assert found.header[1] == "b"
    assert found.rows == [["1", "2", "x"]]
    alone = read(tmp_path, f"a{separator}b\n1{separator}2\n")
    assert alone.header == (("a", "b") if separator == "," else (f"a{separator}b",))
    other = read(tmp_path, f"a{separator}b\n1{separator}2\n", "a", "z")
    assert other.header == alone.header


def test_lines_have_their_numbers_and_those_that_do_not_fit_are_reported(tmp_path: Path) -> None:
    text = "a, b ,,\n\n1,2\n3\n , \n4,5,\n6,7,8\n9, ,,,\n"
    found = read(tmp_path, text)
    assert found.header == ("a", "b")
    assert found.rows == [["1", "2"], ["4", "5"], ["9", ""]]
    assert found.numbers == [1, 3, 5]
    assert found.ragged == (2, 4)


def test_empty_cells_within_the_header_are_kept(tmp_path: Path) -> None:
    found = read(tmp_path, "a,b,c\n1,,\n,,3\n,2,,\n")
    assert found.rows == [["1", "", ""], ["", "", "3"], ["", "2", ""]]
    assert found.ragged == ()


def test_files_that_are_empty_or_quote_without_end_are_refused(tmp_path: Path) -> None:
    for text in ("", "\n\n", " , ,\n"):
        with pytest.raises(ValueError, match="the file is empty"):
            read(tmp_path, text)
    with pytest.raises(ValueError, match="line 3: "):
        read(tmp_path, 'a,b\n1,2\n"3,4\n')
