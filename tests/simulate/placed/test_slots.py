"""Clusters with slots: failures that are drawn, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from walras.errors import InputError
from walras.simulate import Outage, Slots


def test_failures_have_the_means_that_are_asked_for() -> None:
    slots = Slots({f"c{i}": 1 for i in range(20)}).with_failures(1000.0, 250.0, 1e5, seed=2)
    down = np.array([outage.end - outage.begin for outage in slots.outages])
    assert down.mean() == pytest.approx(250.0, rel=0.1)
    assert len(down) == pytest.approx(20 * 1e5 / 1250.0, rel=0.1)
    assert [o.begin for o in slots.outages] == sorted(o.begin for o in slots.outages)
    again = Slots(slots.counts).with_failures(1000.0, 250.0, 1e5, seed=2)
    assert again.outages == slots.outages


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"counts": {}}, "Slots"),
        ({"counts": {"a": 0}}, r"Slots\['a'\]"),
        ({"labels": {"b": {}}}, "unknown key 'b'"),
        ({"price": {"a": -1.0}}, r"Slots.price\['a'\]"),
        ({"weights": {"u": 0.0}}, r"Slots.weights\['u'\]"),
        ({"quotas": {"u": -2}}, r"Slots.quotas\['u'\]"),
        ({"listed": 0}, "Slots.listed"),
        ({"half_life": 0.0}, "Slots.half_life"),
        ({"outages": [Outage("a", 5.0, 5.0)]}, r"outages\[0\].end"),
        ({"outages": [Outage("a", 1.0, 2.0, "up")]}, r"outages\[0\].state"),
        *(
            ({name: bad}, rf"Slots\.{name}")
            for name in ("labels", "price", "provider", "weights", "quotas", "rules", "outages")
            for bad in (None, 3, "a", True, float("nan"))
        ),
        ({"labels": {"a": 3}}, r"Slots.labels\['a'\]"),
        ({"labels": {"a": {"gpu": 3}}}, r"Slots.labels\['a'\]\['gpu'\]"),
        ({"labels": {"a": {3: "gpu"}}}, r"Slots.labels\['a'\]"),
        ({"provider": {"a": 3}}, r"Slots.provider\['a'\]"),
        ({"provider": {"a": ""}}, r"Slots.provider\['a'\]"),
        ({"outages": [3]}, r"Slots.outages\[0\]"),
        ({"outages": ["down"]}, r"Slots.outages\[0\]"),
        ({"outages": [("a",)]}, r"Slots.outages\[0\]"),
        ({"outages": [("a", "soon")]}, r"Slots.outages\[0\].begin"),
        ({"outages": [("a", 0.0, float("nan"))]}, r"Slots.outages\[0\].end"),
        ({"outages": [("b", 0.0)]}, r"Slots.outages\[0\].cluster"),
        ({"outages": [Outage("a", 0.0, 9.0), Outage("a", 5.0, 6.0)]}, "before the last one"),
    ],
)
def test_what_cannot_be_used_is_named(given: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Slots(**{"counts": {"a": 1}} | given)


def test_too_many_failures_are_refused() -> None:
    with pytest.raises(InputError, match="fewer"):
        Slots({"a": 1}).with_failures(1.0, 1.0, 1e9)
