"""Examples of inner parts give what they show; those of public names are in test_docstrings."""

from __future__ import annotations

import doctest

import pytest

from walras.kernels import envelope
from walras.programs import central_path, embedding


@pytest.mark.parametrize("module", [central_path, embedding, envelope])
def test_examples_of_inner_parts_give_what_they_show(module: object) -> None:
    found = doctest.testmod(module)  # type: ignore[arg-type]
    assert found.attempted > 0
    assert found.failed == 0
