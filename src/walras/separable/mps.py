"""Linear and mixed-integer programs from MPS and LP files, through HiGHS' reader."""

from __future__ import annotations

import codecs
import gzip
import re
import tempfile
import warnings
import zlib
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp

from walras.errors import DataError, InfeasibleError
from walras.quiet_highs import new_highs
from walras.separable.form import Family, Rows, Separable, Side
from walras.separable.mps_lines import Lines, scan_lp, scan_mps
from walras.types import Floats

_SUFFIXES = (".mps", ".lp", ".mps.gz", ".lp.gz")
_MOST_NOTES = 10
# Warnings of HiGHS that repeat, without line numbers, what is reported already.
_SEEN = re.compile(
    r"is not defined: ignored|duplicate|ignored \d+|is not valid: ignored|inconsistent bounds|"
    r"have the same name|fixed format|summing them yielded|section entries contain"
)


def read_mps(path: str | Path) -> Separable:
    """Read a program as a problem of coupled rows, with the file's names.

    Every column is a demand of its own, named as in the file; rows belong to no side. What a file
    gives twice or for a row that it has not is read as HiGHS does, with a warning that names the
    line.

    Args:
        path: An ``.mps`` or ``.lp`` file, plain or gzipped.

    Raises:
        DataError: The file is missing, not in the format its name says, has no columns or
            semi-continuous ones, or holds a quadratic objective that is not a sum of squares of
            single columns; says HiGHS' reason, or the line.
        InfeasibleError: Bounds of a column contradict one another; names it.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(
            "there is no such file",
            where=str(path),
            allowed="an .mps or .lp file",
            remedy="check the path",
        )
    if not path.name.lower().endswith(_SUFFIXES):
        raise DataError(
            "has an unknown ending",
            where=str(path),
            allowed=", ".join(_SUFFIXES),
            remedy="rename the file after its format",
        )
    return _problem(_read(path), path)


def _read(path: Path) -> Any:
    """HiGHS' model of a file, once its lines have been looked at.

    Raises:
        DataError: HiGHS cannot read it, or a number in it is none.
    """
    solver = new_highs()
    text, is_utf8 = _text(path)
    with tempfile.TemporaryDirectory(prefix="walras-") as scratch:
        source = path if is_utf8 else _as_utf8(path, text, Path(scratch))
        status, said = _read_model(solver, source, Path(scratch) / "highs.log")
    said = [words.replace(str(source), str(path)) for words in said]
    reasons = [_plain(words) for words in said if words.startswith("ERROR")]
    lines = text.splitlines()
    costs = dict[str, float]()
    if ".mps" in path.suffixes:
        found = scan_mps(lines, fixed=any("fixed format" in line for line in said))
    else:
        found, costs = scan_lp(lines)
        found.notes += _alone(solver.getModel(), lines)
    model = solver.getModel()
    if found.errors or status == highspy.HighsStatus.kError:
        _refuse(path, found, reasons)
    for name, cost in costs.items():
        model.lp_.col_cost_ = _with(model.lp_, name, cost)
    _warn(path, found, said, lines)
    return model


def _read_model(solver: Any, source: Path, log: Path) -> tuple[Any, list[str]]:
    """Read a model; return HiGHS' status and its messages.

    The messages come through a file, since HiGHS before 1.14 calls no callback while it reads.
    """
    solver.setOptionValue("output_flag", True)
    solver.setOptionValue("log_to_console", False)
    solver.setOptionValue("log_file", str(log))
    status = solver.readModel(str(source))
    solver.setOptionValue("log_file", "")  # closes the file
    text = log.read_text(encoding="utf-8", errors="replace")
    return status, [words.strip() for words in re.split(r"^(?=[A-Z]+: )", text, flags=re.M)]


def _as_utf8(path: Path, text: str, folder: Path) -> Path:
    """A copy for HiGHS, whose names are UTF-8."""
    copy = folder / f"model{'.mps' if '.mps' in path.suffixes else '.lp'}"
    copy.write_text(text, encoding="utf-8")
    return copy


def _text(path: Path) -> tuple[str, bool]:
    """A file's text, and whether it is plain UTF-8; Latin-1 where it is neither that nor UTF-16.

    HiGHS before 1.12 does not skip the byte order mark of a packed file.
    """
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"cannot be unpacked ({error})",
            where=str(path),
            allowed="a gzipped .mps or .lp file",
            remedy="fetch it again; compare its size with the source's",
        ) from error
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace"), False
    if data.startswith(codecs.BOM_UTF8):
        return data.decode("utf-8-sig", errors="replace"), False
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        return data.decode("latin-1"), False


def _alone(model: Any, lines: list[str]) -> list[tuple[int, str]]:
    """Columns that stand in bounds or types alone, and where."""
    lp = model.lp_
    names, matrix = list(lp.col_names_), _rows(lp).matrix
    used = (np.diff(matrix.indptr) > 0) | (np.asarray(lp.col_cost_) != 0)
    used[np.asarray(model.hessian_.index_, dtype=np.int64)] = True
    found = []
    for q in np.flatnonzero(~used):
        word = re.compile(rf"(?<![\w.]){re.escape(names[q])}(?![\w.])")
        at = [number for number, line in enumerate(lines, 1) if word.search(line)]
        what = f"column {names[q]!r} stands in no row and costs nothing"
        found.append((at[0] if at else 1, what))
    return found


def _refuse(path: Path, found: Lines, reasons: list[str]) -> None:
    where, words = str(path), f"cannot read it: {'; '.join(reasons) or 'HiGHS does not say why'}"
    if found.errors:
        (line, what), more = found.errors[0], len(found.errors) - 1
        others = f" (and {more} more)" if more else ""
        words = f"{what}{others}; HiGHS {words}" if reasons else f"{what}{others}"
        where = f"{path}, line {line}"
    raise DataError(
        words,
        where=where,
        allowed="a program in MPS or LP format, numbers with a decimal point",
        remedy="correct the line, or check the sections and the numbers of fields",
    )


def _with(lp: Any, name: str, cost: float) -> Floats:
    """The costs, with that of one column replaced."""
    costs = np.array(lp.col_cost_, dtype=np.float64)
    costs[list(lp.col_names_).index(name)] = cost
    return costs


def _warn(path: Path, found: Lines, said: list[str], lines: list[str]) -> None:
    """Warn of what HiGHS has passed over or read in its own way, line by line."""
    notes = [f"line {line}: {what}" for line, what in found.notes]
    for text in (_plain(line) for line in said if line.startswith("WARNING")):
        if not _SEEN.search(text):
            notes.append(_placed(text, lines))
    more = len(notes) - _MOST_NOTES
    for note in notes[:_MOST_NOTES]:
        warnings.warn(f"{path}, {note}", stacklevel=4)
    if more > 0:
        warnings.warn(f"{path}: {more} more of the kind", stacklevel=4)


def _plain(text: str) -> str:
    """HiGHS' words in one line, behind the line of the file where they name one (from 1.16 on)."""
    words = text.partition(":")[2].strip().splitlines()
    at = re.search(r"^\s*--> .*:(\d+):\d+$", text, re.MULTILINE)
    return f"line {at[1]}: {words[0]}" if at else " ".join(words)


def _placed(text: str, lines: list[str]) -> str:
    """HiGHS' words, behind the line where the row that they name begins."""
    row = re.search(r'in row \d+ \(name "([^"]+)"\)', text)
    label = re.compile(rf"^\s*{re.escape(row[1])}\s*:") if row else None
    for number, line in enumerate(lines, 1):
        if label and label.match(line):
            return f"line {number}: {text}"
    return text


def _problem(model: Any, path: Path) -> Separable:
    lp = model.lp_
    columns = int(lp.num_col_)
    if columns == 0:
        raise DataError(
            "has no columns",
            where=str(path),
            allowed="at least one column",
            remedy="check that the file is complete",
        )
    sign = -1.0 if lp.sense_ == highspy.ObjSense.kMaximize else 1.0
    kinds = list(lp.integrality_)
    whole = np.array([kind != highspy.HighsVarType.kContinuous for kind in kinds], dtype=bool)
    names = list(lp.col_names_) or [f"C{k}" for k in range(columns)]
    _check_bounds(lp, names, path)
    _check_kinds(kinds, names, path)
    none = np.zeros(0)
    return Separable(
        resource=np.full(columns, -1, np.int32),
        demand=np.arange(columns, dtype=np.int32),
        cost=sign * np.asarray(lp.col_cost_, dtype=np.float64),
        quadratic=sign * _diagonal(model.hessian_, columns, path),
        lower=np.asarray(lp.col_lower_, dtype=np.float64),
        upper=np.asarray(lp.col_upper_, dtype=np.float64),
        scalar_cost=none,
        scalar_lower=none,
        scalar_upper=none,
        rows=_rows(lp),
        resource_names=[],
        demand_names=names,
        integer=whole if np.any(whole) else None,
        maximize=sign < 0,
        constant=sign * float(lp.offset_),
        objective=path.name,
        namer=names.__getitem__,
    )


def _check_kinds(kinds: list[Any], names: list[str], path: Path) -> None:
    known = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    for kind, name in zip(kinds, names, strict=False):
        if kind not in known:
            raise DataError(
                f"column '{name}' is semi-continuous or semi-integer",
                where=str(path),
                allowed="continuous, integer and binary columns",
                remedy="state it by a binary column y: lower * y <= x <= upper * y",
            )


def _check_bounds(lp: Any, names: list[str], path: Path) -> None:
    low, high = np.asarray(lp.col_lower_), np.asarray(lp.col_upper_)
    bad = np.flatnonzero(low > high)
    if len(bad):
        q = int(bad[0])
        more = f" (and {len(bad) - 1:,} more)" if len(bad) > 1 else ""
        raise InfeasibleError(
            f"has a lower bound of {low[q]:.6g} above its upper bound of {high[q]:.6g}",
            where=f"{path}, column '{names[q]}'{more}",
            allowed="lower bounds up to the upper ones; 0 where the file states none",
            remedy="correct one of them, or state a lower bound below zero (MI, or LO)",
        )


def _rows(lp: Any) -> Rows:
    count = int(lp.num_row_)
    parts = (
        np.asarray(lp.a_matrix_.value_),
        np.asarray(lp.a_matrix_.index_),
        np.asarray(lp.a_matrix_.start_),
    )
    is_columnwise = lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    shape = (count, int(lp.num_col_))
    matrix = sp.csc_array(parts, shape=shape) if is_columnwise else sp.csr_array(parts, shape=shape)
    names = list(lp.row_names_) or [f"R{k}" for k in range(count)]
    families = (Family("row", 0, count, names, plain=True),) if count else ()
    return Rows(
        matrix=sp.csc_array(matrix),
        scalar_matrix=np.zeros((count, 0)),
        lower=np.asarray(lp.row_lower_, dtype=np.float64),
        upper=np.asarray(lp.row_upper_, dtype=np.float64),
        side=np.full(count, Side.COUPLED, np.int8),
        owner=np.full(count, -1, np.int32),
        utility=np.zeros(count, np.int8),
        weight=np.ones(count),
        parameter=np.zeros(count),
        families=families,
    )


def _diagonal(hessian: Any, columns: int, path: Path) -> Floats:
    """(columns,) second derivatives of a separable quadratic objective."""
    out = np.zeros(columns)
    if hessian.dim_ == 0:
        return out
    start = np.asarray(hessian.start_)
    column = np.repeat(np.arange(hessian.dim_), np.diff(start))
    row, value = np.asarray(hessian.index_), np.asarray(hessian.value_)
    if np.any(value[row != column] != 0):
        raise DataError(
            "its quadratic objective has products of two columns",
            where=str(path),
            allowed="squares of single columns",
            remedy="state it in cvxpy with quad_form and solve it as walras.Problem",
        )
    out[row] = value
    return out
