"""Programs from files: names, senses, bounds, and what a bad file says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from walras.engines.exact import exact
from walras.engines.mps import read_mps
from walras.engines.settings import Settings
from walras.errors import DataError
from walras.status import Status

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
    found = exact(problem, Settings(threads=1))
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
    found = exact(problem, Settings(threads=1))
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
    found = exact(read_mps(path), Settings(threads=1))
    assert found.status is Status.OPTIMAL
    assert found.x == pytest.approx([3.0, 0.0])
