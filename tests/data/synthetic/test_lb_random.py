"""The generator of the load-balancing numbers: its seed is found again."""

from __future__ import annotations

import numpy as np
import pytest

from walras import data
from walras.data import lb_random
from walras.data.synthetic import lb_random as lb_random_stand_in
from walras.errors import DataError


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
