"""Decimals in CSV files become the numbers that Python reads them as."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from walras.data.formats.csv_table import read_csv


def test_each_decimal_is_the_nearest_number(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).random(2000)
    text = "\n".join(["u", *map(repr, numbers.tolist())])
    assert np.array_equal(read_csv(io.StringIO(text))["u"], numbers)
    path = tmp_path / "numbers.csv"
    path.write_text(text)
    assert np.array_equal(read_csv(path, dtype={"u": float})["u"], numbers)
