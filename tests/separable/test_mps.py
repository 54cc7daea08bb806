"""Programs from files: names, senses, bounds, and what a bad file says."""

from __future__ import annotations

import gzip
import warnings
from importlib.metadata import version
from pathlib import Path

import highspy
import numpy as np
import pytest

from walras.engines.exact.engine import Exact
from walras.errors import DataError, InfeasibleError
from walras.separable.mps import read_mps
from walras.settings import Settings
from walras.status import Status

HIGHS = tuple(int(part) for part in version("highspy").split(".")[:2])

PLAN = """NAME          PLAN
OBJSENSE
    MAX
ROWS
 N  PROFIT
 L  HOURS
 G  LEAST
COLUMNS
    MARKER                 'MARKER'                 'INTORG'
    CHAIRS    PROFIT       3.0   HOURS        2.0
    CHAIRS    LEAST        1.0
    MARKER                 'MARKER'                 'INTEND'
    PAINT     PROFIT       1.0   HOURS        1.0
RHS
    RHS       HOURS        7.5   LEAST        1.0
BOUNDS
 UP BND       CHAIRS       10.0
 UP BND       PAINT        4.0
ENDATA
"""


def test_a_file_keeps_its_names_sense_and_integers(tmp_path: Path) -> None:
    path = tmp_path / "plan.mps"
    path.write_text(PLAN)
    problem = read_mps(path)
    found = Exact().solve(problem, Settings(threads=1))
    assert problem.demand_names == ["CHAIRS", "PAINT"]
    assert problem.rows.name(0) == "HOURS"
    assert problem.maximize
    assert problem.integer is not None
    assert problem.integer.tolist() == [True, False]
    assert found.status is Status.OPTIMAL
    # Three chairs take 6 of 7.5 hours; the rest is paint.
    assert found.x == pytest.approx([3.0, 1.5])
    assert problem.reported(float(problem.cost @ found.x)) == pytest.approx(10.5)


def test_squares_of_columns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "square.lp"
    path.write_text("min\n obj: - 4 x + [ 2 x ^2 + 4 y ^2 ] / 2\nst\n c: x + y >= 1\nend\n")
    problem = read_mps(path)
    found = Exact().solve(problem, Settings(threads=1))
    assert np.sort(problem.quadratic) == pytest.approx([2.0, 4.0])
    assert found.x == pytest.approx([2.0, 0.0], abs=1e-3)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("absent.mps", None, "no such file"),
        ("plan.txt", PLAN, "unknown ending"),
        ("broken.mps", "hello\n1 2 3\n", "cannot read"),
        (
            "products.lp",
            "min\n obj: [ 2 x ^2 + 2 x * y + 2 y ^2 ] / 2\nst\n c: x >= 1\nend\n",
            "products of two columns",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_one_clear_error(
    tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_mps(path)
    assert name in str(caught.value)
    assert caught.value.remedy


def test_semi_continuous_columns_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "plan.lp"
    path.write_text(
        "Maximize\n obj: x\nSubject To\n c2: x <= 3.3\nBounds\n 2.5 <= x <= 3.5\n"
        "Semi-continuous\n x\nEnd\n"
    )
    with pytest.raises(DataError, match="column 'x' is semi-continuous") as caught:
        read_mps(path)
    assert "binary column" in caught.value.remedy


def test_whole_columns_may_have_bounds_between_numbers(tmp_path: Path) -> None:
    path = tmp_path / "plan.lp"
    path.write_text(
        "Minimize\n obj: x + 10 y\nSubject To\n c1: x + y >= 0.5\n c2: x <= 3.3\n"
        "Bounds\n 2.5 <= x <= 3.5\n y <= 5\nGeneral\n x\nEnd\n"
    )
    found = Exact().solve(read_mps(path), Settings(threads=1))
    assert found.status is Status.OPTIMAL
    assert found.x == pytest.approx([3.0, 0.0])


SMALL = """NAME          SMALL
ROWS
 N  COST
 L  R1
 G  R2
COLUMNS
    X         COST         1.0   R1           2.0
    X         R2           1.0
    Y         COST         2.0   R1           1.0
    Y         R2           1.0
RHS
    RHS       R1           7.5   R2           1.0
RANGES
    RNG       R1           2.5
BOUNDS
 UP BND       X           10.0
 UP BND       Y            4.0
ENDATA
"""
SMALL_LP = (
    "min\n obj: x + 2 y\nst\n c1: 2 x + y <= 7.5\n c2: x + y >= 1\nbounds\n x <= 10\n y <= 4\nend\n"
)
X_R2, RHS, RNG, UP_X = (
    "    X         R2           1.0\n",
    "    RHS       R1           7.5",
    "    RNG       R1 ",
    " UP BND       X           10.0\n",
)


def changed(old: str, new: str) -> tuple[str, str]:
    text = SMALL if old in SMALL else SMALL_LP
    assert text.count(old) == 1
    return text.replace(old, new), ".mps" if old in SMALL else ".lp"


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        (X_R2, X_R2 + "    X         R2           5.0\n", "line 9: column 'X' has a second value"),
        (X_R2, X_R2 + "    X         COST         5.0\n", "line 9: column 'X' has a second value"),
        (X_R2, X_R2 + "    X         R7           5.0\n", "line 9: row 'R7' .* not defined"),
        (RHS, "    RHS       R1           7.5\n    RHS       R1  8.5", "line 13: row 'R1' has a"),
        (RHS, "    RHS       R9           3.5\n" + RHS, "line 12: row 'R9' .* not defined"),
        (RNG, "    RNG       COST         2.5\n" + RNG, "line 14: .* no range"),
        (RNG, "    RNG       R8           2.5\n" + RNG, "line 14: row 'R8' .* not defined"),
        (
            UP_X,
            UP_X + " UP BND       X  8.0\n",
            "line 17: column 'X' is given its upper bound again",
        ),
        (UP_X, UP_X + " UP BND       Z  8.0\n", "line 17: column 'Z' is not in COLUMNS"),
        (" G  R2\n", " G  R2\n G  R2\n", "line 6: row 'R2' is there already"),
        ("y <= 4", "z <= 4\n y <= 4", "line 8: column 'z' stands in no row"),
    ],
)
def test_what_highs_passes_over_is_read_with_a_warning_of_the_line(
    tmp_path: Path, old: str, new: str, note: str
) -> None:
    text, ending = changed(old, new)
    path = tmp_path / f"small{ending}"
    path.write_text(text)
    with pytest.warns(UserWarning, match=f"small{ending}, {note}"):
        problem = read_mps(path)
    found = Exact().solve(problem, Settings(threads=1))
    solver = highspy.Highs()
    solver.silent()
    solver.readModel(str(path))
    solver.run()
    optimum = solver.getInfo().objective_function_value
    assert float(problem.cost @ found.x) == pytest.approx(optimum)


def test_terms_that_are_given_twice_are_added(tmp_path: Path) -> None:
    """In rows as HiGHS does from 1.12 on, and in the objective, of which it takes the last."""
    path = tmp_path / "twice.lp"
    path.write_text(SMALL_LP.replace("2 x + y <=", "2 x + y + 3 x <="))
    if HIGHS < (1, 12):
        with pytest.raises(DataError, match=r"twice\.lp: .*duplicate"):
            read_mps(path)
    else:
        with pytest.warns(UserWarning, match=r"line 4: .*x.* (occurs 2|more than once)"):
            assert read_mps(path).rows.matrix.toarray()[0] == pytest.approx([5.0, 1.0])
    path.write_text(SMALL_LP.replace("x + 2 y", "x + 2 y - 4 x\n + 1.5e0 y"))
    with pytest.warns(UserWarning, match="the objective has '[xy]' twice"):
        assert read_mps(path).cost == pytest.approx([-3.0, 3.5])


@pytest.mark.parametrize(
    ("bounds", "lower", "upper", "notes"),
    [
        ("x >= 1\n x <= 4", 1.0, 4.0, []),
        ("1 <= x <= 4", 1.0, 4.0, []),
        ("x >= 1\n x >= 2", 2.0, np.inf, ["line 8: lower bound of 'x' is given twice"]),
        ("1 <= x\n x <= 4\n x <= 3", 1.0, 3.0, ["line 9: upper bound of 'x' is given twice"]),
        ("4 >= x\n x = 2", 2.0, 2.0, ["line 8: upper bound of 'x' is given twice"]),
        ("1 <= x <= 4\n x free", -np.inf, np.inf, ["line 8: lower bound", "line 8: upper bound"]),
        ("x free\n y <= 4", -np.inf, np.inf, []),
    ],
)
def test_bounds_of_an_lp_file_that_are_given_twice_are_named(
    bounds: str, lower: float, upper: float, notes: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "bounds.lp"
    path.write_text(
        f"minimize\n obj: x + y\nsubject to\n c1: x + y >= 2\n c2: x <= 40\n"
        f"bounds\n {bounds}\nend\n"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem = read_mps(path)
    said = [str(one.message) for one in caught]
    assert len(said) == len(notes)
    assert all(note in text for note, text in zip(notes, said, strict=True))
    assert problem.lower[0] == lower
    assert problem.upper[0] == upper


def test_rows_of_one_name_in_an_lp_file_are_named_and_both_count(tmp_path: Path) -> None:
    path = tmp_path / "rows.lp"
    path.write_text("minimize\n x\nsubject to\n c1: x >= 1\n c1: x >= 3\nend\n")
    with pytest.warns(UserWarning, match=r"line 5: row 'c1' is given twice: both count"):
        problem = read_mps(path)
    assert problem.rows.lower.tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (RHS, RHS.replace("7.5", "6,5"), "line 12: '6,5' is no number"),
        (X_R2, X_R2.replace("1.0", "6,5"), "line 8: '6,5' is no number"),
        (UP_X, UP_X.replace("10.0", "6,5"), "line 16: '6,5' is no number"),
        (RHS, RHS.replace("7.5", "7.5kg"), "line 12: '7.5kg' is no number"),
        (X_R2, X_R2.replace("1.0", "nan"), "line 8: 'nan' is no number"),
        (X_R2, "    X         R2\n", "line 8: 'R2' has no number behind it"),
        ("ENDATA\n", "", "without ENDATA"),
        ("ENDATA\n", "SOS\n S1 SOS SOS1 5\n    SOS X 1\nENDATA\n", "SOS not supported"),
        (UP_X, UP_X.replace("UP", "QQ"), 'type "QQ"'),
        (" G  R2\n", " Q  R2\n", "ROWS section of MPS file is unidentified"),
        ("7.5\n c2", "6,5\n c2", "line 4: '6,5' is no number"),
        ("7.5\n c2", "nan\n c2", "nan"),
        ("end\n", "sos\n s1: S1:: x:1 y:2\nend\n", "SOS .*not supported"),
        ("RHS\n    RHS", X_R2 + "RHS\n    RHS", "line 11: column 'X' goes on after"),
    ],
)
def test_what_is_wrong_is_refused_with_the_line_or_the_reason_of_highs(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    text, ending = changed(old, new)
    path = tmp_path / f"small{ending}"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_mps(path)
    assert f"small{ending}" in caught.value.where


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (UP_X, UP_X + " LO BND       X           11.0\n"),
        (UP_X, UP_X.replace("10.0", "-10.0")),
        ("x <= 10", "11 <= x <= 10"),
    ],
)
def test_bounds_that_contradict_one_another_name_file_and_column(
    tmp_path: Path, old: str, new: str
) -> None:
    text, ending = changed(old, new)
    path = tmp_path / f"small{ending}"
    path.write_text(text)
    with pytest.raises(InfeasibleError, match="above its upper bound") as caught:
        read_mps(path)
    assert f"small{ending}, column '" in caught.value.where


def test_names_with_spaces_stand_in_fixed_columns(tmp_path: Path) -> None:
    path = tmp_path / "fixed.mps"
    path.write_text(
        "NAME          FIXED\nROWS\n N  COST\n G  ROW ONE\nCOLUMNS\n"
        "    COL ONE   COST               1.0   ROW ONE            2.0\nRHS\n"
        "    RHS       ROW ONE          3.0\nENDATA\n"
    )
    problem = read_mps(path)
    assert problem.demand_names == ["COL ONE"]
    assert problem.rows.lower == pytest.approx([3.0])


def test_many_notes_are_reported_in_few(tmp_path: Path) -> None:
    path = tmp_path / "many.mps"
    path.write_text(SMALL.replace(X_R2, X_R2 + 30 * X_R2))
    with pytest.warns(UserWarning, match="many") as warned:
        read_mps(path)
    assert len(warned) == 11
    assert "20 more" in str(warned[-1].message)


def test_a_packed_file_that_was_cut_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "cut.mps.gz"
    path.write_bytes(gzip.compress(SMALL.encode())[:-20])
    with pytest.raises(DataError, match=r"cut.mps.gz"):
        read_mps(path)


OBJECTIVES = {
    "no rows": ("min\n o: x\nbounds\n x >= 2\nend\n", {"x": 1.0}),
    "on one line": ("min 2 x + x bounds x >= 2 end\n", {"x": 3.0}),
    "on two lines": ("min\n o: 3\n x + 2 x + y\nst\n c: x + y >= 1\nend\n", {"x": 5.0}),
    "two signs": ("min\n o: 3 x - -2 x + y\nst\n c: x + y >= 1\nend\n", {"x": 5.0, "y": 1.0}),
    "squares on two lines": (
        "min\n o: 2 x + [ x ^2 +\n 3 y ^2 ] / 2\nst\n c: x + y >= 1\nend\n",
        {"x": 2.0, "y": 0.0},
    ),
    "whole columns behind": (
        "max\n o: 2 x\nst\n c: x + y <= 1\ninteger\n x\nend\n",
        {"x": 2.0, "y": 0.0},
    ),
}


@pytest.mark.filterwarnings("ignore:.*twice|.*stands in no row")
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_an_objective_ends_where_its_terms_do(tmp_path: Path, kind: str) -> None:
    text, costs = OBJECTIVES[kind]
    path = tmp_path / "program.lp"
    path.write_text(text)
    if kind == "on one line" and HIGHS >= (1, 16):  # whose sections begin on lines of their own
        with pytest.raises(DataError, match="line 1: expected"):
            read_mps(path)
        return
    problem = read_mps(path)
    stated = dict(zip(problem.demand_names, np.abs(problem.cost).tolist(), strict=True))
    assert {name: stated[name] for name in costs} == costs


FREE = """NAME T
ROWS
 N cost
 L r1
 G r2
COLUMNS
    x cost 1 r1 1
    x r2 1
    y cost 2 r1 1
    y r2 1
RHS
    RHS r1 4 r2 1
ENDATA
"""


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("    y r2 1\n", "    y r2 1\n    y r7 1\n"), 11, "row 'r7' is not in ROWS"),
        (("RHS\n", "FEES\n"), 11, "'FEES' is no section"),
    ],
)
def test_a_row_or_section_that_is_unknown_is_named_with_its_line(
    tmp_path: Path, change: tuple[str, str], line: int, words: str
) -> None:
    """HiGHS then reads the whole file as one in fixed columns, which it is not."""
    path = tmp_path / "small.mps"
    path.write_text(FREE.replace(*change, 1))
    with pytest.raises(DataError, match=rf"line {line}: {words}"):
        read_mps(path)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("packed", [False, True])
def test_names_come_in_other_encodings(tmp_path: Path, encoding: str, packed: bool) -> None:
    raw = PLAN.replace("CHAIRS", "CHÄIRS").encode(encoding)
    path = tmp_path / ("plan.mps.gz" if packed else "plan.mps")
    path.write_bytes(gzip.compress(raw) if packed else raw)
    problem = read_mps(path)
    assert problem.demand_names == ["CHÄIRS", "PAINT"]
    assert Exact().solve(problem, Settings(threads=1)).x == pytest.approx([3.0, 1.5])
