"""Engines by name, as objects, and what is neither."""

from __future__ import annotations

import pytest

import walras as wl
from walras.select.registry import ENGINES, engine_of


def test_a_name_stands_for_the_defaults() -> None:
    for name, kind in ENGINES.items():
        assert engine_of(name) == kind()
        assert engine_of(name).name == name


def test_an_engine_is_taken_as_it_is() -> None:
    engine = wl.engines.ADMM(mode="paper")
    assert engine_of(engine) is engine


@pytest.mark.parametrize(
    ("asked", "remedy"),
    [
        ("magic", "use one of these names"),
        (3, "use one of these names"),
        (None, "use one of these names"),
        (wl.engines.ADMM, "write ADMM()"),
    ],
)
def test_what_is_no_engine_is_refused(asked: object, remedy: str) -> None:
    with pytest.raises(wl.InputError, match="there is no engine") as caught:
        engine_of(asked)
    assert "auto, interior, admm, exact, integer, pop" in caught.value.allowed
    assert remedy in caught.value.remedy
