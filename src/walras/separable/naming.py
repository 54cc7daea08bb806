"""Whether two problems can be compared by the names of their resources and demands."""

from __future__ import annotations

from walras.errors import InputError
from walras.separable.form import Separable


def check_comparable(new: Separable, old: Separable, where: str) -> None:
    """Refuse problems of different size whose resources or demands have only numbers.

    Their numbers say nothing: demand 3 of the one need not be demand 3 of the other.

    Args:
        new: The one problem.
        old: The other.
        where: What compares them, for the error.

    Raises:
        InputError: Says which side has no names, and how to give them.
    """
    for side, count, before in zip(("resource", "demand"), new.shape, old.shape, strict=True):
        bare = [p for p in (new, old) if side in p.numbered]
        if bare and count != before:
            raise InputError(
                f"has {count} {side}s, the earlier problem {before}, and they have no names",
                where=where,
                allowed=f"the same number of {side}s, or {side}s with names",
                remedy=f"give both problems {side}_names=[...], one name each",
            )
