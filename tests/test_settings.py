"""Settings of a solve: ranges, what is left of the time, and flags as other packages give them."""

from __future__ import annotations

import pytest

from walras.errors import InputError
from walras.machine import cores
from walras.settings import Settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tolerance", 0.0),
        ("tolerance", 2.0),
        ("time_limit", -1.0),
        ("threads", 0),
        ("threads", 1.5),
        ("max_iterations", 0),
        ("verbose", "yes"),
        ("on_progress", 3),
    ],
)
def test_a_setting_outside_its_range_is_named(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"setting {name}"):
        Settings(**{name: value})  # type: ignore[arg-type]


def test_time_is_used_up_and_never_negative() -> None:
    assert Settings().after(5.0).time_limit is None
    assert Settings(time_limit=8.0).after(5.0).time_limit == 3.0
    assert Settings(time_limit=8.0).after(50.0).time_limit == 0.0


def test_workers_are_the_threads_or_all_cores() -> None:
    assert Settings(threads=3).workers == 3
    assert Settings().workers == cores()
    assert Settings(verbose=1).verbose == 1  # type: ignore[arg-type]
