"""Options of engines: named numbers with ranges, checked when they are made."""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from walras import checks


def number(default: float, low: float, high: float, *, whole: bool = False) -> Any:
    """A field that holds a number within a range.

    Args:
        default: The value when the caller gives none.
        low: Least value.
        high: Largest value.
        whole: Whether it must be a whole number.
    """
    return field(default=default, metadata={"range": (low, high, whole)})


@dataclass(frozen=True, repr=False)
class Options:
    """Options whose fields are checked when they are made.

    Raises:
        InputError: A number is outside its range, or a group is of another class.
    """

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if "range" in item.metadata:
                low, high, whole = item.metadata["range"]
                where = f"setting {self._called(item.name)}"
                checks.setting(self, item.name, low, high, integer=whole, where=where)
            kind = group_of(item)
            if kind is not None:
                checks.of_kind(
                    value,
                    kind,
                    f"setting {item.name}",
                    f"a walras.engines.{kind.__name__}",
                    remedy=f"write {kind.__name__}(...), or leave {item.name} out",
                )

    def _called(self, name: str) -> str:
        """The name of an option in messages."""
        return name

    def __repr__(self) -> str:
        """The class with the options that differ from the defaults."""
        given = []
        for item in fields(self):
            value = getattr(self, item.name)
            default = item.default
            if default is MISSING and item.default_factory is not MISSING:
                default = item.default_factory()
            if value != default:
                given.append(f"{item.name}={value!r}")
        return f"{type(self).__name__}({', '.join(given)})"


@dataclass(frozen=True, repr=False)
class OptionGroup(Options):
    """Options of one subject within an engine's options."""

    def _called(self, name: str) -> str:
        return f"{type(self).__name__}.{name}"


def group_of(item: Field[Any]) -> type[OptionGroup] | None:
    """The class of the group that a field holds, or None.

    Args:
        item: A field of options; that of a group has its class as ``default_factory``.
    """
    kind: object = item.default_factory
    return kind if isinstance(kind, type) and issubclass(kind, OptionGroup) else None
