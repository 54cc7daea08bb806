"""Options of the first-order engine: what goes with which mode, and ranges."""

from __future__ import annotations

from typing import Any

import pytest

from walras.engines import ADMM
from walras.engines.admm.options import MODES
from walras.errors import InputError


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_goes_without_collapse_and_restarts(mode: str) -> None:
    assert ADMM(mode=mode).mode == mode
    for name in ("collapse", "restarts"):
        off: dict[str, Any] = {name: False}
        on: dict[str, Any] = {name: True}
        assert getattr(ADMM(mode=mode, **off), name) is False
        if mode == "hard":
            assert getattr(ADMM(**on), name) is True
            continue
        with pytest.raises(InputError, match=f"setting {name}.*mode 'hard' alone, not '{mode}'"):
            ADMM(mode=mode, **on)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mode", "soft"),
        ("collapse", "yes"),
        ("rho", 0.0),
        ("relaxation", 2.0),
        ("iterations", 0),
        ("iterations", 1.5),
        ("executor", 4),
        ("penalty", 4),
    ],
)
def test_an_option_outside_its_range_is_named(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"setting {name}"):
        ADMM(**{name: value})


def test_only_what_differs_from_the_defaults_is_shown() -> None:
    assert repr(ADMM()) == "ADMM()"
    assert repr(ADMM(rho=2.0, mode="paper")) == "ADMM(mode='paper', rho=2.0)"
