"""What is noted of the lines of MPS and LP files, line by line."""

from __future__ import annotations

import pytest

from walras.separable.mps_lines import scan_lp, scan_mps

MPS = """NAME t
ROWS
 N cost
 L cap
 G least
COLUMNS
 x cost 1 cap 2
 x least 1
 y cost -3 cap 1e2
RHS
 rhs cap 4
BOUNDS
 UP bnd x 5
ENDATA
"""


def scanned(text: str, *, fixed: bool = False) -> tuple[list[int], list[int], str]:
    found = scan_mps(text.splitlines(), fixed=fixed)
    words = "; ".join(what for _, what in found.notes + found.errors)
    return [n for n, _ in found.notes], [n for n, _ in found.errors], words


def test_a_sound_file_has_nothing_to_note() -> None:
    assert scanned(MPS) == ([], [], "")
    assert scanned("* a comment\n\n" + MPS.replace("\n", "\n\n")) == ([], [], "")


@pytest.mark.parametrize(
    ("old", "new", "lines", "words"),
    [
        (" x least 1", " x least 6,5", [8], "'6,5' is no number"),
        (" x least 1", " x least", [8], "'least' has no number behind it"),
        (" y cost -3 cap 1e2", " y cost -3\n x cap 1", [10], "column 'x' goes on after"),
        (" UP bnd x 5", " UP bnd", [13], "kind UP needs a column and a number"),
        (" UP bnd x 5", " UP bnd x five", [13], "'five' is no number"),
        ("BOUNDS\n UP bnd x 5\n", "BOUND\n", [12], "'BOUND' is no section"),
        ("ENDATA\n", "", [13], "without ENDATA"),
    ],
)
def test_what_is_wrong_is_an_error_of_its_line(
    old: str, new: str, lines: list[int], words: str
) -> None:
    notes, errors, said = scanned(MPS.replace(old, new))
    assert (notes, errors) == ([], lines)
    assert words in said


@pytest.mark.parametrize(
    ("old", "new", "lines", "words"),
    [
        (" L cap", " L cap\n E cap", [5], "row 'cap' is there already"),
        (" x least 1", " x least 1 least 2", [8], "a second value in row 'least': 2 is ignored"),
        (" x least 1", " x most 1", [8], "row 'most' of column 'x' is not defined"),
        (" rhs cap 4", " rhs cap 4 cap 5", [11], "has a right-hand side already: 5"),
        (" rhs cap 4", " rhs top 4", [11], "row 'top' of the right-hand side is not defined"),
        ("BOUNDS", "RANGES\n rng cost 1\nBOUNDS", [13], "is the objective, which has no range"),
        (" UP bnd x 5", " UP bnd z 5", [13], "column 'z' is not in COLUMNS"),
        (" UP bnd x 5", " UP bnd x 5\n UI bnd x 6", [14], "given its upper bound again"),
        (" UP bnd x 5", " UP bnd x 5\n FX bnd x 6", [14], "given its upper bound again"),
        (" UP bnd x 5", " LO bnd x 5\n MI bnd x", [14], "given its lower bound again"),
    ],
)
def test_what_is_passed_over_is_a_note_of_its_line(
    old: str, new: str, lines: list[int], words: str
) -> None:
    notes, errors, said = scanned(MPS.replace(old, new))
    assert (notes, errors) == (lines, [])
    assert words in said


def test_what_has_no_value_finds_its_column_with_and_without_a_name() -> None:
    for bound in (" FR bnd y", " FR y", " BV bnd y", " UP y 5"):
        assert scanned(MPS.replace(" UP bnd x 5", bound)) == ([], [], "")


def test_fields_in_columns_may_hold_spaces() -> None:
    text = "ROWS\n N  cost\n L  my cap\nCOLUMNS\n"
    text += f"    {'x one':10}{'cost':10}{'1.':>12}   {'my cap':10}{'2.':>12}\nENDATA"
    assert scanned(text, fixed=True) == ([], [], "")
    assert scanned(text)[1] != []


LP = """Minimize
 obj: x + 2 y
Subject To
 c1: x + y >= 1
 c2: x - y <= 3
Bounds
 0 <= x <= 4
 y free
End
"""


def test_a_sound_lp_file_has_nothing_to_note() -> None:
    found, costs = scan_lp(LP.splitlines())
    assert (found.notes, found.errors, costs) == ([], [], {})


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("c2:", "c1:", 5, "row 'c1' is given twice: both count"),
        ("y free", "x <= 3", 8, "upper bound of 'x' is given twice: the last counts"),
        ("y free", "x >= 1", 8, "lower bound of 'x' is given twice"),
        ("y free", "1 <= x", 8, "lower bound of 'x' is given twice"),
        ("y free", "x = 2", 8, "lower bound of 'x' is given twice"),
    ],
)
def test_what_an_lp_file_gives_twice_is_noted(old: str, new: str, line: int, words: str) -> None:
    found, _ = scan_lp(LP.replace(old, new).splitlines())
    assert found.notes[0][0] == line
    assert words in found.notes[0][1]


def test_terms_that_the_objective_names_twice_are_added() -> None:
    text = LP.replace("x + 2 y", "x + 2 y - - 3 x\n - 0.5 x + [ x ^ 2 ] / 2")
    found, costs = scan_lp(text.splitlines())
    assert costs == {"x": 3.5}
    assert [number for number, _ in found.notes] == [2, 3]
    comma, _ = scan_lp(LP.replace(">= 1", ">= 1,5").splitlines())
    assert comma.errors == [(4, "'1,5' is no number")]
