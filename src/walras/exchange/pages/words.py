"""Numbers and times as people read them."""

from __future__ import annotations

import datetime
import math

BINDING = {
    "": "–",
    "only": "no other could take it",
    "quickest": "no other is quicker",
    "full": "quicker ones are full",
    "floor": "a quicker one would break the floor of mean success",
    "provider": "quicker ones are of providers at their bound",
    "drawn": "it was drawn at random",
    "reserved": "quicker ones keep their slots for a larger task",
    "no gain": "a quicker one would gain the plan nothing",
}
"""Why a task is on its cluster (:data:`walras.rounds.decision.BINDS`), in words."""


def number(value: float | None, digits: int = 3) -> str:
    """A number with few digits and thousands apart; a dash for none.

    Example:
        >>> number(1234567), number(0.12345), number(None)
        ('1,234,567', '0.123', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == int(value) or abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def percent(value: float | None) -> str:
    """A share of one as per cent.

    Example:
        >>> percent(0.0449), percent(1.0), percent(None)
        ('4.5 %', '100 %', '–')
    """
    return "–" if value is None else f"{100.0 * value:.2g} %" if value < 0.995 else "100 %"


def seconds(value: float | None) -> str:
    """A length of time in two units at most.

    Example:
        >>> seconds(0.0421), seconds(7.25), seconds(2460), seconds(11520), seconds(190000)
        ('42 ms', '7.2 s', '41 min', '3 h 12 min', '2 d 5 h')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value < 0.0:
        return "−" + seconds(-value)
    if value < 1.0:
        return f"{1000.0 * value:.0f} ms"
    if value < 60.0:
        return f"{value:.2g} s"
    if value < 3600.0:
        return _two(value, 60.0, "min", 1.0, "s", 600.0)
    if value < 86400.0:
        return _two(value, 3600.0, "h", 60.0, "min", 36000.0)
    return _two(value, 86400.0, "d", 3600.0, "h", 864000.0)


def _two(value: float, large: float, one: str, small: float, other: str, alone: float) -> str:
    """Two units, or the larger alone from some length on."""
    whole = round(value / large) if value >= alone else int(value // large)
    rest = 0 if value >= alone else round((value - whole * large) / small)
    if rest * small >= large:
        whole, rest = whole + 1, 0
    return f"{whole} {one} {rest} {other}" if rest else f"{whole} {one}"


def moment(at: float | None) -> str:
    """A time in UTC, to the second.

    Example:
        >>> moment(0.0)
        '1970-01-01 00:00:00 UTC'
    """
    if at is None:
        return "–"
    made = datetime.datetime.fromtimestamp(at, datetime.UTC)
    return made.strftime("%Y-%m-%d %H:%M:%S UTC")


def ago(at: float | None, now: float) -> str:
    """How long ago something was, or how soon it is.

    Example:
        >>> ago(100.0, 160.0), ago(220.0, 160.0), ago(None, 0.0)
        ('1 min ago', 'in 1 min', 'never')
    """
    if at is None:
        return "never"
    if abs(now - at) < 1.0:
        return "now"
    return f"{seconds(now - at)} ago" if at < now else f"in {seconds(at - now)}"
