"""The numbers of the load-balancing rounds: derived, read, drawn again from their generator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from walras import data
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


def test_the_seed_is_found_again_from_the_numbers() -> None:
    drawn = lb_random_stand_in.stand_in(0, lb_random_stand_in.Model(2**40 + 17))
    assert lb_random_stand_in.fit(drawn).seed == 2**40 + 17


def test_numbers_of_another_generator_have_no_seed() -> None:
    other = lb_random.RoundNumbers(np.linspace(0, 0.99, 100), "measured", "elsewhere")
    with pytest.raises(DataError, match="not drawn"):
        lb_random_stand_in.fit(other)


@pytest.mark.real_data("lb_random")
def test_the_stand_in_is_the_published_sequence() -> None:
    published = data.load("lb_random", synthetic=False)
    drawn = data.load("lb_random", synthetic=True)
    assert np.array_equal(published.numbers, drawn.numbers)
    assert drawn.source == "synthetic stand-in"
