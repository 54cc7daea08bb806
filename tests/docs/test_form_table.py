"""The guide's table of the separable form is the generated one, and leaves nothing out."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import cvxpy as cp
import pytest

from walras.separable.cvxpy import atoms

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def form_table() -> ModuleType:
    """The script that writes the table, as a module."""
    spec = importlib.util.spec_from_file_location("form_table", ROOT / "docs/form_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_the_generated_one(form_table: ModuleType) -> None:
    page = form_table.PAGE.read_text(encoding="utf-8")
    assert form_table.with_table(page) == page, "run docs/form_table.py"


def test_examples_that_disagree_make_no_row(form_table: ModuleType) -> None:
    with pytest.raises(ValueError, match="some of these are inside"):
        form_table._one([True, False], "log, norm")


def test_every_atom_that_has_a_rule_is_in_the_table(form_table: ModuleType) -> None:
    def kinds(expression: Any) -> Iterator[str]:
        yield atoms._kind(expression)
        for arg in expression.args:
            yield from kinds(arg)

    shown = {
        kind
        for _, examples in form_table.ATOMS
        for example in examples
        for kind in kinds(example(cp.Variable(form_table.N, nonneg=True)))
    }
    assert {*atoms._SMOOTH, *atoms._EXTREME, *atoms._REWRITTEN} <= shown
    declared = {name for _, said in form_table.VARIABLES for one in said for name in one}
    assert set(cp.Variable().attributes) <= declared
