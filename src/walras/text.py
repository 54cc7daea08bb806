"""Text that people are shown: names come from anywhere, and may hold more than can be seen."""

from __future__ import annotations

import re

_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


_UNITS = (("h", 3600.0), ("min", 60.0), ("s", 1.0))


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number of things: the noun of one, or of several.

    Args:
        count: How many.
        noun: The word for one.
        plural: That for several; with an s if empty.

    Examples:
        >>> counted(1, "job"), counted(2, "job")
        ('1 job', '2 jobs')
    """
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def time_unit(seconds: float) -> tuple[str, float]:
    """The largest unit of time that a duration fills: h, min or s; and its seconds.

    Args:
        seconds: The duration; s where it is no finite number.

    Examples:
        >>> time_unit(5400.0), time_unit(-90.0), time_unit(0.5)
        (('h', 3600.0), ('min', 60.0), ('s', 1.0))
    """
    size = abs(seconds)
    return next((unit for unit in _UNITS if unit[1] <= size < float("inf")), _UNITS[-1])


def duration(seconds: float) -> str:
    """A duration in a unit that fits it.

    Args:
        seconds: The duration.

    Examples:
        >>> duration(5400.0), duration(90.0), duration(0.25)
        ('1.5 h', '1.5 min', '0.25 s')
    """
    unit, size = time_unit(seconds)
    return f"{seconds / size:.6g} {unit}"


def visible(text: str) -> str:
    r"""Text whose control characters can be read, as ``\x1b``, and do nothing to a terminal.

    Those of C0 and C1, the marks that turn the direction of writing, and lone surrogates; lines
    stay lines.

    Examples:
        >>> print(visible("a\x1b[2Jb"))
        a\x1b[2Jb
    """
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)
