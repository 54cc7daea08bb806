"""Reading a certificate: why a demand got what it got, what resources are worth, what changed."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from walras.certificate import Certificate
from walras.separable import Separable


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a demand got what it got."""


@dataclass(frozen=True, eq=False)
class Difference:
    """Why an allocation changed between two rounds."""


def explain(problem: Separable, certificate: Certificate, demand: str | int) -> Explanation:
    """Why a demand got what it got."""
    return Explanation()


def worth(problem: Separable, certificate: Certificate) -> pd.DataFrame:
    """What one more unit of each resource buys."""
    return pd.DataFrame()


def difference(
    now: tuple[Separable, Certificate], before: tuple[Separable, Certificate]
) -> Difference:
    """Why the allocation changed."""
    return Difference()
