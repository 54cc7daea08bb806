"""An item of a paper: an equation, theorem, algorithm, table, figure or claim, and its check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

Verdict = Literal["reproduced", "refuted", "not reproducible"]
"""What we find: it holds here, it does not hold, or what it needs is not to be had."""


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Attributes:
        ours: Our value or finding, in one line.
        verdict: Whether it holds.
        why: Why it does not hold, or what to know of how it was checked; may be empty.
        table: The numbers behind it, printed by the command and below the page's table; None where
            one line says all.
    """

    ours: str
    verdict: Verdict
    why: str = ""
    table: pd.DataFrame | None = None


@dataclass(frozen=True)
class Item:
    """One item of a paper.

    Attributes:
        name: As the paper calls it, in lower case: ``table 1``, ``equation 6``, ``theorem 2``.
        claim: What it says, in our words.
        published: The value it prints; empty where it prints none.
        show: The call or command of the library that does what it describes.
        check: From whether to be quick to the outcome; what a quick check leaves out it says.
    """

    name: str
    claim: str
    published: str
    show: str
    check: Callable[[bool], Outcome]


def verdict_if(holds: bool) -> Verdict:
    """``reproduced`` where it holds, else ``refuted``."""
    return "reproduced" if holds else "refuted"
