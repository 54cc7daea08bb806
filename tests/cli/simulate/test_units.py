"""Durations are shown in one unit, which fits the largest of them."""

from __future__ import annotations

import pytest

from walras.cli.common.output import Format
from walras.cli.simulate.units import in_fitting_unit
from walras.reports.tables import Table

NAN = float("nan")


def _long(*values: float) -> Table:
    rows = [("jobs", 3, ""), *(("time", value, "h") for value in values), ("work", 2.0, "worker-h")]
    return Table(("measure", "value", "unit"), rows)


@pytest.mark.parametrize(
    ("largest", "unit", "factor"), [(1.5, "h", 1), (0.5, "min", 60), (0.01, "s", 3600)]
)
def test_the_unit_fits_the_largest(largest: float, unit: str, factor: float) -> None:
    found = in_fitting_unit(_long(largest, 0.005, NAN), Format.TABLE).rows
    assert found[0] == ("jobs", 3, "")
    assert found[1] == ("time", pytest.approx(largest * factor), unit)
    assert found[2] == ("time", pytest.approx(0.005 * factor), unit)
    assert found[-1] == ("work", pytest.approx(2.0 * factor), f"worker-{unit}")


def test_two_columns_have_one_unit() -> None:
    rows = [("mean", 0.5, 2.0, "h"), ("rate", 1.0, 2.0, "")]
    table = Table(("measure", "recorded", "replayed", "unit"), rows)
    assert in_fitting_unit(table, Format.TABLE).rows == rows
    short = Table(table.columns, [("mean", 0.005, 0.002, "h"), rows[1]])
    found = in_fitting_unit(short, Format.TABLE).rows
    assert found == [("mean", pytest.approx(18.0), pytest.approx(7.2), "s"), rows[1]]


@pytest.mark.parametrize("output", [Format.JSON, Format.CSV])
def test_data_stays_in_hours(output: Format) -> None:
    table = _long(0.01)
    assert in_fitting_unit(table, output) is table


def test_columns_are_named_with_their_unit() -> None:
    table = Table(("kind", "jobs", "mean h"), [("a", 2, 0.01), ("b", 1, NAN)])
    found = in_fitting_unit(table, Format.TABLE)
    assert found.columns == ("kind", "jobs", "mean s")
    assert found.rows[0] == ("a", 2, pytest.approx(36.0))


def test_a_table_without_hours_stays_as_it_is() -> None:
    table = Table(("measure", "value", "unit"), [("jobs", 3, ""), ("part", 0.5, "")])
    assert in_fitting_unit(table, Format.TABLE) == table
    assert in_fitting_unit(Table(("job",), [("a",)]), Format.TABLE).columns == ("job",)
