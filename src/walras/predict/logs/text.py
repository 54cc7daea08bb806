"""Text and CSV files as other programs write them: byte-order marks, UTF-16, bytes of Latin-1."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PACKED: Mapping[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}
_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = 256  # bytes looked at for UTF-16 without a mark


def read_text(path: str | Path) -> str:
    """The text of a file, without its byte-order mark.

    The mark names the encoding. Without one, every second byte is zero in UTF-16; else a line is
    UTF-8, or Latin-1 where it is not valid UTF-8. Files that end in .gz, .bz2 or .xz are unpacked.

    Raises:
        OSError: The file cannot be read.
        ValueError: It ends within a character, or is not packed as its name says.
    """
    return text_of(_bytes(Path(path)))


def text_of(raw: bytes) -> str:
    """The text of bytes, without a byte-order mark, as :func:`read_text` decodes it.

    Raises:
        ValueError: They end within a character.
    """
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return raw.decode(encoding)
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        sample = raw[first:_SAMPLE:2]
        if 2 * sample.count(0) > len(sample):
            return raw.decode(encoding)
    return "\n".join(map(_line, raw.split(b"\n")))


def _bytes(path: Path) -> bytes:
    unpack = _PACKED.get(path.suffix.lower())
    raw = path.read_bytes()
    if unpack is None:
        return raw
    try:
        return unpack(raw)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"it is no whole {path.suffix} file: {error}") from error


def _line(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


@dataclass(frozen=True)
class Lines:
    """The lines of a CSV file that are not blank, by their number below the header, from 1.

    Attributes:
        header: Names of the columns.
        rows: Cells, one a column.
        numbers: Number of each row.
        ragged: Numbers of lines with more or fewer cells than the header.
        line_of: Line of the file, from 1, in which each number's row ends; of the header at 0.
    """

    header: tuple[str, ...]
    rows: list[list[str]]
    numbers: list[int]
    ragged: tuple[int, ...]
    line_of: tuple[int, ...]


def read_csv(path: str | Path, columns: Sequence[str] = ()) -> Lines:
    """Read a CSV file. Empty cells at the end of a line beyond the header are dropped.

    Args:
        path: The file.
        columns: Columns by which a separator other than the comma is recognised.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no text, has no header, or a quotation does not end.
    """
    text = read_text(path)
    lines = io.StringIO(text, newline="")
    try:
        reader = csv.reader(lines, delimiter=_separator(text, columns), strict=True)
        numbered = [
            (reader.line_num, [cell.strip() for cell in row])
            for row in reader
            if any(map(str.strip, row))
        ]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error
    if not numbered:
        raise ValueError("the file is empty")
    found = [row for _, row in numbered]
    header = _trimmed(found[0], 0)
    width = len(header)
    rows = [row if len(row) == width else _trimmed(row, width) for row in found[1:]]
    good = [k for k, row in enumerate(rows) if len(row) == width]
    ragged = tuple(k + 1 for k, row in enumerate(rows) if len(row) != width)
    line_of = tuple(line for line, _ in numbered)
    return Lines(tuple(header), [rows[k] for k in good], [k + 1 for k in good], ragged, line_of)


def _trimmed(row: list[str], width: int) -> list[str]:
    end = len(row)
    while end > width and not row[end - 1]:
        end -= 1
    return row[:end]


def _separator(text: str, columns: Sequence[str]) -> str:
    """The separator that puts every wanted column into the first line; else the comma."""
    first = text.lstrip().partition("\n")[0]
    for separator in _SEPARATORS if columns else ():
        cells = [cell.strip().strip('"') for cell in first.split(separator)]
        if all(name in cells for name in columns):
            return separator
    return ","
