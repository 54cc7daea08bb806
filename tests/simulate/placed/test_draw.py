"""Tasks that are drawn have the rates and means that are asked for."""

from __future__ import annotations

import numpy as np
import pytest

import walras as wl
from walras.errors import InputError


def test_rates_means_and_errors() -> None:
    tasks = wl.simulate.draw_tasks(6000, rate=120.0, chance=0.9, tenants=3, largest=4, seed=1)
    assert tasks.arrival[-1] / 3600 == pytest.approx(50.0, rel=0.06)
    assert np.log(tasks.seconds / tasks.predicted_seconds).std() == pytest.approx(0.3, rel=0.05)
    own = np.exp(np.log(tasks.predicted_seconds).mean(axis=1))
    assert own.mean() == pytest.approx(300.0 * np.exp(0.5**2 / 2 / 2), rel=0.15)
    assert tasks.chance.mean() == pytest.approx(0.9, abs=0.01)
    assert set(tasks.tenant) == {"tenant 0", "tenant 1", "tenant 2"}
    assert set(tasks.size.tolist()) == {1, 2, 3, 4}
    assert "synthetic" in tasks.source
    again = wl.simulate.draw_tasks(6000, rate=120.0, chance=0.9, tenants=3, largest=4, seed=1)
    assert np.array_equal(again.seconds, tasks.seconds)


def test_sure_success_and_no_error() -> None:
    tasks = wl.simulate.draw_tasks(50, chance=1.0, error=0.0)
    assert (tasks.chance == 1.0).all()
    assert np.array_equal(tasks.seconds, tasks.predicted_seconds)


@pytest.mark.parametrize(
    "given",
    [
        *({"tasks": 0}, {"rate": 0.0}, {"chance": 1.1}, {"tenants": 0}),
        *({"error": bad} for bad in (None, -1.0, "x", float("nan"))),
        *({"clusters": bad} for bad in (None, 3, "x", (), ("a", "a"), ("a", ""))),
    ],
)
def test_bad_numbers_are_named(given: dict) -> None:
    with pytest.raises(InputError, match=next(iter(given))):
        wl.simulate.draw_tasks(**given)
