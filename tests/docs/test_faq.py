"""The messages that the page of errors explains are the ones that are raised."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import walras as wl

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/faq.md").read_text(encoding="utf-8")
cs = wl.domains.cluster_scheduling
ONES = np.ones((2, 3))
FRAME = pd.DataFrame(ONES, ["a", "b"], ["x", "y", "z"])
SIZE = pd.Series({"x": 1, "y": 1, "w": 1})


def _fair() -> wl.Separable:
    return cs.max_min(FRAME, [1, 1, 1], [1, 1])


def _cvxpy(*constraints: Callable[[cp.Variable], cp.Constraint]) -> object:
    x = cp.Variable(3)
    return wl.Problem(cp.Maximize(cp.sum(x)), [state(x) for state in constraints]).solve()


RAISED: dict[str, Callable[[], object]] = {
    "has shape (2,)": lambda: cs.max_min(ONES, [1, 1], [1, 1]),
    "is NaN": lambda: cs.max_min(ONES * np.nan, [1, 1, 1], [1, 1]),
    "labels of size: has no demand 'z'": lambda: cs.max_min(FRAME, SIZE, [1, 1]),
    "no resource of the problem occurs in the earlier solution": lambda: wl.solve(
        _fair(), start=pd.DataFrame(ONES, ["k", "l"], ["m", "n", "o"])
    ),
    "is convex, so its optimum cannot be certified": lambda: wl.Problem(
        cp.Maximize(cp.sum_squares(cp.Variable(3))), []
    ),
    "a churn penalty needs the previous allocation": lambda: cs.max_min(
        ONES, [1, 1, 1], [1, 1], churn=0.1
    ),
    "there is no engine": lambda: wl.solve(_fair(), engine="nonsense"),
    "there is no data set": lambda: wl.data.load("gravel"),
    "no placement reaches a mean success of": lambda: wl.matching.match(
        ONES, ONES / 2, min_success=0.9
    ),
    "the objective improves without end": lambda: _cvxpy(lambda x: x >= 0),
}
ELSEWHERE = {"finds no GPU", "is not installed"}  # their own tests raise them


@pytest.mark.parametrize("message", RAISED)
def test_the_message_is_raised(message: str) -> None:
    with pytest.raises(wl.WalrasError, match=re.escape(message)):
        RAISED[message]()


def test_every_message_on_the_page_is_raised() -> None:
    shown = set(re.findall(r"^`([^`\n]+)`\n:", PAGE, re.MULTILINE))
    assert shown == {*RAISED, *ELSEWHERE}
