"""Whether two problems can be compared by the names of their resources and demands."""

from __future__ import annotations

from collections.abc import Collection

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
    check_sizes(new, old.shape, {*new.numbered, *old.numbered}, where)


def check_sizes(
    new: Separable, shape: tuple[int, ...], numbered: Collection[str], where: str
) -> None:
    """Refuse another size on a side that has only numbers; see :func:`check_comparable`.

    Args:
        new: The problem.
        shape: (resources, demands) of what it is compared with.
        numbered: The sides without names.
        where: What compares them.

    Raises:
        InputError: As there.
    """
    for side, count, before in zip(("resource", "demand"), new.shape, shape, strict=True):
        if side in numbered and count != before:
            raise InputError(
                f"has {count} {side}s, the earlier problem {before}, and they have no names",
                where=where,
                allowed=f"the same number of {side}s, or {side}s with names",
                remedy=f"give both problems {side}_names=[...], one name each",
            )
