"""Blockers: one table of words, sorted arrays."""

from __future__ import annotations

import numpy as np
import pytest

from walras.errors import InputError
from walras.rounds import CODES, Blocker, Blockers
from walras.rounds.blockers import MEANINGS, USED, WORDS


def test_each_code_says_its_numbers() -> None:
    assert USED.keys() == WORDS.keys()
    said = {
        "behind": (Blocker("behind", (412.0,)), "behind 412 tasks"),
        "turn": (
            Blocker("turn", (1_234_567.0, 8.0)),
            "higher priority: 1234567 waiting tasks; the same, due earlier or older: 8",
        ),
        "slots": (Blocker("slots", (4.0, 3.0)), "slots asked 4, free 3"),
        "label": (Blocker("label", (0.0, 12.0), "gpu=h100"), "label gpu=h100: 0 of 12 clusters"),
        "quota": (Blocker("quota", (40.0, 40.0, 1.0)), "quota 40 of 40 slots, asked 1"),
        "success": (Blocker("success", (0.95, 0.91)), "least success 0.95, best 0.91"),
        "deadline": (Blocker("deadline", (12.4,)), "deadline passed 12 s ago"),
    }
    for blocker, words in said.values():
        assert str(blocker) == words
    for code in CODES:
        numbers = tuple(float(k) for k in range(USED[code]))
        text = str(Blocker(code, numbers, "WORD"))
        assert "{" not in text
        assert ("WORD" in text) == ("{word}" in WORDS[code])
        for k in range(USED[code], 3):
            assert f"{{{k}" not in WORDS[code]


def test_they_are_sorted_and_read_by_task() -> None:
    found = Blockers.of(
        [
            (2, Blocker("behind", (7.0,))),
            (0, Blocker("label", (0.0, 2.0), "b=1")),
            (2, Blocker("quota", (1.0, 1.0, 1.0))),
            (0, Blocker("label", (0.0, 2.0), "a=1")),
        ]
    )
    assert [b.word for b in found.about(0)] == ["b=1", "a=1"]
    assert found.about(1) == []
    assert [b.code for b in found.about(2)] == ["quota", "behind"]
    assert found.counts == {"label": 1, "quota": 1, "behind": 1}
    assert len(found) == len(list(found)) == 4
    assert found.about(2)[0].document() == {
        "code": "quota",
        "numbers": [1.0, 1.0, 1.0],
        "word": "",
        "text": "quota 1 of 1 slots, asked 1",
    }


def test_none() -> None:
    assert len(Blockers.none()) == 0
    assert Blockers.of([]).counts == {}


def test_what_cannot_be_used_is_named() -> None:
    one = np.zeros(1, np.int64)
    with pytest.raises(InputError, match=r"Blockers\.code"):
        Blockers(one, one + len(CODES), np.zeros((1, 3)), one - 1, ())
    with pytest.raises(InputError, match=r"Blockers\.word"):
        Blockers(one, one, np.zeros((1, 3)), one, ())
    with pytest.raises(InputError, match="not sorted"):
        Blockers(np.array([1, 0]), np.zeros(2, np.int64), np.zeros((2, 3)), np.full(2, -1), ())


def test_every_code_has_a_meaning_without_numbers() -> None:
    assert tuple(MEANINGS) == CODES
    assert not any("{" in text for text in MEANINGS.values())
