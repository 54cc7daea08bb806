"""Features read from a table: names as an index, and one error for a file that is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras.errors import DataError
from walras.predict import read_features


def test_a_table_has_one_row_a_task(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("task,layers,width\na,3,64\nb,5,32\n")
    found = read_features(path)
    assert list(found.index) == ["a", "b"]
    assert found.astype(float)["width"].tolist() == [64.0, 32.0]


@pytest.mark.parametrize("content", ["task,layers\na,3,4\n", None])
def test_what_is_no_table_is_one_error(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DataError, match="cannot be read") as caught:
        read_features(path)
    assert caught.value.where == str(path)
