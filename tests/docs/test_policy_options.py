"""The options of policies in docs/howto/simulate.md are those of their functions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from walras.policies.named import NAMED, defaults_of

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "simulate.md"
ROWS = re.findall(
    r"^\| `(\w+)` \| ((?:`\w+`(?:, )?)+) \|",
    PAGE.read_text("utf-8").split("| option | of |")[1].split("\n\n")[0],
    re.MULTILINE,
)
OPTIONS = {name: set(defaults_of(make)) for name, make in NAMED.items()}


@pytest.mark.parametrize(("option", "policies"), ROWS)
def test_an_option_is_that_of_the_policies_that_are_named(option: str, policies: str) -> None:
    has = {name for name, options in OPTIONS.items() if option in options}
    assert set(re.findall(r"`(\w+)`", policies)) == has


def test_every_option_of_several_policies_is_there() -> None:
    several = [option for options in OPTIONS.values() for option in options]
    assert {option for option, _ in ROWS} == {o for o in several if several.count(o) > 1}
