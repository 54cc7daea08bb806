"""Ranges of the protocol's times, to their ends."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from walras.errors import InputError
from walras.network.protocol.settings import Settings

SHORT = Settings(lease=12, margin=2, heartbeat=3, patience=4, arrival=20, steps=1)


@pytest.mark.parametrize("name", [field.name for field in fields(Settings)])
def test_a_time_is_a_whole_number_from_1_to_2_to_the_40(name: str) -> None:
    longest = 2**40 - 1
    if name != "heartbeat":  # beside which the lease would be too short
        assert getattr(replace(SHORT, **{name: longest}), name) == longest
    if name != "lease":
        assert getattr(replace(SHORT, **{name: 1}), name) == 1
    for value in (0, -1, 2**40, True, 1.5, "5"):
        with pytest.raises(InputError) as error:
            replace(SHORT, **{name: value})  # type: ignore[arg-type]
        assert error.value.where == f"setting {name}"
        assert error.value.what == f"is {value!r}"
        assert error.value.allowed == "a whole number, 1 to 1099511627775"


def test_a_lease_lasts_four_beats_at_least() -> None:
    assert SHORT.lease == 4 * SHORT.heartbeat
    with pytest.raises(InputError) as error:
        replace(SHORT, lease=11)
    assert (error.value.where, error.value.what) == ("setting lease", "is 11")
    assert error.value.allowed.startswith("a whole number, 12 to 1099511627775: at least 4 heart")


def test_a_thousand_steps_are_made_where_nothing_is_said() -> None:
    assert Settings().steps == Settings.of_diameter(3).steps == 1000
    assert Settings.of_diameter(3).heartbeat == 2
