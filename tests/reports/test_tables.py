"""The same rows as text, JSON, CSV: what each form does with what is missing or not finite."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest

from walras.reports.tables import Cell, Table, is_number, show, to_csv, to_json

TABLE = Table(("name", "gap", "ok"), [("a,b", 0.5, True), ('say "x"', math.inf, None)])


def test_records_are_strict_json_with_null_for_what_is_not_finite() -> None:
    records = TABLE.records()
    assert records == [
        {"name": "a,b", "gap": 0.5, "ok": True},
        {"name": 'say "x"', "gap": None, "ok": None},
    ]
    assert json.loads(to_json(records)) == records
    with pytest.raises(ValueError, match="JSON"):
        to_json({"gap": math.nan})


def test_csv_is_read_back_as_it_was() -> None:
    head, *rows = csv.reader(io.StringIO(to_csv(TABLE)))
    assert head == list(TABLE.columns)
    assert rows == [["a,b", "0.5", "True"], ['say "x"', "inf", ""]]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "–"),
        (True, "yes"),
        (False, "no"),
        (0.123456789, "0.123457"),
        (12, "12"),
        ("two\nlines", "two\\nlines"),
    ],
)
def test_cells_as_people_read_them(cell: Cell, text: str) -> None:
    assert show(cell) == text


def test_digits_are_significant() -> None:
    assert show(1234.5678, 2) == "1.2e+03"


def test_rows_of_another_length_are_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        Table(("a", "b"), [(1,)]).records()


@pytest.mark.parametrize(
    ("cell", "number"), [(None, True), (1, True), (0.5, True), (True, False), ("1", False)]
)
def test_truth_values_and_words_are_no_numbers(cell: Cell, number: bool) -> None:
    assert is_number(cell) is number
