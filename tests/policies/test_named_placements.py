"""Policies of placements by name and from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.policies.placements.small import stated, trusted

import walras as wl
from walras.errors import DataError, InputError
from walras.policies.placements import Policy

_OPTIONS = tuple(name for name in Policy.__dataclass_fields__ if name != "rules")


@pytest.mark.parametrize("name", sorted(wl.policies.PLACEMENTS))
def test_each_name_is_a_policy(name: str) -> None:
    found = wl.policies.named_placement(name)(stated(3, trusted(2)))
    assert found.placed.sum() == 2


def test_options_of_the_exchange_are_its_settings() -> None:
    policy = wl.policies.named_placement("exchange", explore=0.5, seed=3)
    assert '"explore":0.5' in policy(stated(1, trusted(1))).policy


def test_a_function_of_a_file_is_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from walras.rounds import planned\n"
        "def none(snapshot):\n"
        "    return planned(snapshot, [-1] * len(snapshot.tasks))\n",
        encoding="utf-8",
    )
    policy = wl.policies.named_placement(f"{path}:none")
    assert policy(stated(2, trusted(1))).placed.sum() == 0
    with pytest.raises(InputError, match="set them in the file"):
        wl.policies.named_placement(f"{path}:none", seed=1)
    with pytest.raises(InputError, match="has no function 'other'"):
        wl.policies.named_placement(f"{path}:other")


def test_what_a_function_of_a_file_raises_is_one_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def crash(snapshot):\n    return 1 / 0\n", encoding="utf-8")
    for named in (wl.policies.named_placement, wl.policies.named):
        policy: Any = named(f"{path}:crash")
        with pytest.raises(DataError, match="ZeroDivisionError") as caught:
            policy(stated(1, trusted(1)))
        assert "line 2" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("fist_fit", {}, "fist_fit"),
        ("first_fit", {"explore": 0.1}, "explore"),
        ("exchange", {"colour": 1}, "colour"),
        ("exchange", {"rules": 1}, "rules"),
        ("exchange", {"explore": 7.0}, "explore"),
    ],
)
def test_bad_names_and_options_are_named(name: str, options: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        wl.policies.named_placement(name, **options)


_NEVER: tuple[Any, ...] = ("x", -1, float("nan"), float("inf"), [1], 10**400)


@pytest.mark.parametrize("option", [*_OPTIONS, "seed", "time_limit"])
def test_every_option_of_the_exchange_is_checked(option: str) -> None:
    for given in _NEVER:
        with pytest.raises(InputError) as caught:
            wl.policies.named_placement("exchange", **{option: given})
        assert caught.value.where == f"{option} of policy exchange"
        assert caught.value.allowed
        assert caught.value.remedy
