"""Options that the commands of the simulator share."""

from __future__ import annotations

import pytest

from walras.cli.simulate.options import range_of, value_of
from walras.errors import InputError


def test_values_are_truths_numbers_or_texts() -> None:
    assert [value_of(word) for word in ("true", "false", "3", "2.5", "v100")] == [
        True,
        False,
        3,
        2.5,
        "v100",
    ]


def test_a_range_is_two_whole_numbers() -> None:
    assert range_of("4000:5000") == [4000, 5000]
    assert range_of(None) is None
    for wrong in ("4000", "a:b", "1:", "-1:3"):
        with pytest.raises(InputError, match="FIRST:END"):
            range_of(wrong)
