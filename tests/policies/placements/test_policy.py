"""The policy as a document, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from walras.errors import InputError
from walras.policies.placements import Policy, decayed
from walras.rounds import Rules


def test_documents_round_trip() -> None:
    policy = Policy(Rules(0.9, 2.0, 0.5), explore=0.1, reserve=3, avoid_tried=False)
    assert Policy.from_document(policy.document()) == policy
    assert Policy.from_document({"rules": {"min_success": 1}}) == Policy(Rules(1.0))
    assert Policy.from_document("{}") == Policy()
    assert json.loads(policy.document())["rules"]["window"] == 2.0


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[1]", "is no policy"),
        ("{", "is no policy"),
        ('{"rules": 3}', "is no policy"),
        ('{"explor": 1}', "has no 'explor'"),
        ('{"rules": {"floor": 1}}', "has no 'floor'"),
        ('{"explore": 2}', r"policy\.explore"),
        ('{"explore": "1"}', r"policy\.explore"),
        ('{"explore": NaN}', r"policy\.explore"),
        ('{"reserve": 1.5}', r"policy\.reserve"),
        ('{"avoid_tried": 1}', r"policy\.avoid_tried"),
        ('{"rules": {"window": -1}}', r"Rules\.window"),
        ('{"rules": {"window": "a"}}', r"Rules\.window: is not numeric"),
    ],
)
def test_what_cannot_be_used_is_named(text: str, where: str) -> None:
    with pytest.raises(InputError, match=where):
        Policy.from_document(text)


@pytest.mark.parametrize(("seconds", "left"), [(0.0, 8.0), (10.0, 4.0), (30.0, 1.0), (-5.0, 8.0)])
def test_what_was_used_halves(seconds: float, left: float) -> None:
    assert decayed(8.0, seconds, 10.0) == pytest.approx(left)


def test_settings_are_plain_numbers() -> None:
    made: Any = Policy(explore=1, reserve=2.0)  # type: ignore[arg-type]
    assert (type(made.explore), type(made.reserve)) == (float, int)
