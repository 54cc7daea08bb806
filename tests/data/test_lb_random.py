"""The numbers of the load-balancing rounds: derived, read, drawn again from their generator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from walras.data import lb_random
from walras.data.synthetic import lb_random as lb_random_stand_in
from walras.errors import DataError


def test_a_list_in_a_python_file_becomes_the_table(tmp_path: Path) -> None:
    numbers = lb_random_stand_in.stand_in(3).numbers
    source = f"import os\nrandomNums = [\n    {', '.join(map(repr, numbers.tolist()))},\n]\n"
    (tmp_path / lb_random.FILE).write_bytes(lb_random.derive([source.encode()]))
    assert np.array_equal(lb_random.read(tmp_path).numbers, numbers)


@pytest.mark.parametrize("text", ["", "randomNums = [1, x]", "other = [0.5]"])
def test_a_file_without_the_list_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="no list randomNums"):
        lb_random.derive([text.encode()])


@pytest.mark.parametrize("text", ["", "round,u\n0,0.5\n", "a,b\n1,2\n", "round,u\n0,x\n"])
def test_a_wrong_table_is_one_clear_error(text: str, tmp_path: Path) -> None:
    (tmp_path / lb_random.FILE).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="cannot be read as data set"):
        lb_random.read(tmp_path)
