"""A problem of shares whose rows are stated only when somebody asks for them.

The rows and columns of a million demands take many times the memory of their speeds. An engine of
few prices and its certificate need none of them; whoever does gets them by reading a field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from walras.separable.form import Separable
from walras.separable.shares import Shares
from walras.types import Floats


class StatedLater(Separable):
    """A :class:`Separable` of shares, with its fields stated when they are first read.

    ``dataclasses.replace``, copies and saved files are of the stated problem.

    Attributes:
        shares: The arrays that say all; None where the fields were given.
    """

    shares: Shares | None = None

    @classmethod
    def of(
        cls,
        shares: Shares,
        state: Callable[[], Separable],
        resource_names: Sequence[str],
        objective: str,
        gap_scale: float | None = None,
        gap_unit: str = "of the value",
    ) -> StatedLater:
        """A problem that ``state`` states when needed.

        Args:
            shares: The problem's arrays, checked.
            state: Gives the same problem with all its rows.
            resource_names: (resources,) labels.
            objective: The user's word for the objective.
            gap_scale: Denominator of the gap, or None for the value.
            gap_unit: What that is.
        """
        made = object.__new__(cls)
        scalars = 1 if shares.is_least else 0
        ceiling = float(np.min(shares.fastest() / shares.weight)) if shares.is_least else 0.0
        vars(made).update(
            shares=shares,
            _state=state,
            resource_names=resource_names,
            scalar_cost=np.full(scalars, -1.0),
            scalar_lower=np.zeros(scalars),
            scalar_upper=np.full(scalars, ceiling),
            maximize=True,
            objective=objective,
            gap_scale=gap_scale,
            gap_unit=gap_unit,
        )
        return made

    def __getattr__(self, name: str) -> Any:
        """A field that is not known yet: state the problem and keep all its fields."""
        state = vars(self).get("_state")
        if state is None or name not in _FIELDS:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        stated = vars(state())
        vars(self).update({each: stated[each] for each in _FIELDS if each in stated})
        return vars(self)[name]

    def __reduce__(self) -> tuple[type[Separable], tuple[Any, ...]]:
        return Separable, tuple(getattr(self, each) for each in _FIELDS)

    def __repr__(self) -> str:
        if self.shares is None:
            return super().__repr__()
        m, n = self.shape
        return f"Separable(maximize {self.objective}: {m} resources, {n} demands, stated later)"

    @property
    def entries(self) -> int:
        """Number of entries of x: all pairs."""
        return super().entries if self.shares is None else self.shares.speed.size

    @property
    def shape(self) -> tuple[int, int]:
        """(resources, demands)."""
        return super().shape if self.shares is None else self.shares.speed.shape

    @property
    def has_owned(self) -> bool:
        """Whether some entry belongs to a resource."""
        return super().has_owned if self.shares is None else True

    def dense(self, x: Floats) -> Floats:
        """(resources, demands) entries; a view.

        Args:
            x: (entries,) values.
        """
        if self.shares is None:
            return super().dense(x)
        m, n = self.shape
        return x.reshape(n, m).T


_FIELDS = tuple(field.name for field in fields(Separable))


def stated_later(problem: Separable) -> Shares | None:
    """The arrays of a problem whose rows are stated later, else None.

    Args:
        problem: Any problem.
    """
    return problem.shares if isinstance(problem, StatedLater) else None
