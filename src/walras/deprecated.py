"""Old keywords of public functions that still work for one release, with a warning."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

GOES_IN = "0.3"  # the release that drops old names


def warn_renamed(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn that an old name is used.

    Args:
        old: The old name, with what it belongs to.
        new: The name to use in its place.
        stacklevel: As of :func:`warnings.warn`, so that the caller's line is shown.
    """
    warnings.warn(
        f"{old} is now {new}; the old name goes in {GOES_IN}",
        DeprecationWarning,
        stacklevel=stacklevel,
    )


def renamed_keywords(
    adapt: Callable[[Any], Any] | None = None, **renamed: str
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function, or the constructor of a class, take old keywords, too.

    Args:
        adapt: Turns a value given under an old keyword into one of the new; None passes it on.
        **renamed: Old keyword -> new keyword.

    Example:
        >>> @renamed_keywords(callback="on_progress")
        ... def solve(*, on_progress=None):
        ...     return on_progress
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        if isinstance(function, type):
            function.__init__ = decorate(function.__init__)  # type: ignore[misc]
            return function

        @functools.wraps(function)
        def with_old(*given: P.args, **named: P.kwargs) -> T:
            for old, new in renamed.items():
                if old not in named:
                    continue
                warn_renamed(f"{function.__qualname__}({old}=)", f"{new}=")
                value = named.pop(old)
                named[new] = adapt(value) if adapt is not None and value is not None else value
            return function(*given, **named)

        return with_old

    return decorate


def renamed_attribute(old: str, new: str) -> property:
    """An attribute that has a new name: the old one gives its value, and warns.

    Args:
        old: The old name, with its class, such as ``Plan.objective``.
        new: The new name alone.
    """

    def value(self: Any) -> Any:
        warn_renamed(old, f"{old.partition('.')[0]}.{new}")
        return getattr(self, new)

    return property(value, doc=f"The old name of :attr:`{new}`, until {GOES_IN}.")
