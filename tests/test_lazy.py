"""Names that load when they are first used: homes, modules, old names and names that need torch."""

from __future__ import annotations

import pytest

import walras as wl
from walras.lazy import lazy_names


def test_names_come_from_their_homes() -> None:
    load, listed = lazy_names(
        "walras", {"Status": "walras.status", "status": "walras.status"}, ["status", "Status"]
    )
    assert load("Status") is wl.Status
    assert load("status").__name__ == "walras.status"  # a module of that name is the value
    assert listed() == ["Status", "status"]
    with pytest.raises(AttributeError, match="module 'walras' has no attribute 'Stat'"):
        load("Stat")


def test_an_old_name_warns_and_is_the_new_one() -> None:
    load, _ = lazy_names("walras", {}, [], renamed={"State": "Status.OPTIMAL"})
    with pytest.warns(DeprecationWarning, match=r"walras\.State .*walras\.Status\.OPTIMAL"):
        assert load("State") is wl.Status.OPTIMAL


def test_a_name_that_needs_torch_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    load, _ = lazy_names("walras", {}, [], torch={"Status": "walras.status"})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(wl.EngineError, match=r"walras\.Status"):
        load("Status")
