"""What an error says where an optional package is not installed."""

from __future__ import annotations

import importlib.util

import pytest

from walras.errors import EngineError
from walras.extras import install_hint, need_torch


def test_the_hint_can_be_typed_in_a_checkout() -> None:
    assert install_hint("plot") == "pip install '.[plot]' in the checkout of Walras"


def test_a_missing_torch_names_who_needs_it_and_what_serves_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EngineError) as caught:
        need_torch("device='cuda'", "device='cpu'")
    error = caught.value
    assert (error.where, error.allowed) == ("device='cuda'", "device='cpu'")
    assert error.remedy == install_hint("torch")


def test_an_installed_torch_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    need_torch("device='cuda'")
