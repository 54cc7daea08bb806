"""Checks of what callers give, in one style of error.

Each check gives the value back in its plain type, Python's or NumPy's own, or raises an
:class:`~walras.errors.InputError` that says what is wrong, where (the argument and the place in
it), what is allowed and what to do. The same arguments mean the same everywhere:

- ``where`` names what was given; a function from a place to words stands for an array whose rows
  and columns have names.
- ``low`` to ``high`` is what is allowed, both included; infinity admits infinite numbers. ``above``
  and ``below`` are ends that are not included.
- ``words`` follow the range in the error and say what it is; ``remedy`` says what to do.
- ``kind`` is what a name is of, such as ``node``.
"""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from numbers import Integral, Real
from typing import Any, NoReturn, Protocol, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from walras.errors import InputError
from walras.types import Bools, Floats

Place = tuple[int, ...]
Where = str | Callable[[Place], str]

LARGEST = sys.float_info.max  # as the upper end of a range: any finite number
# As the upper end of a range of whole numbers: the largest int64, beyond which a caller has to name
# an end of its own.
_ENDLESS = 2**63 - 1
_EXACT = 2**53  # beyond, a number with a point stands for several whole numbers
_SHOWN = 60  # characters of a value in a message
_FEW, _MANY = 5, 20  # names in a message: so many of more than that
_COMPARED = 10_000  # names among which the nearest is looked for
_GIVE_NUMBER = "give a number within what is allowed"

_Kind = TypeVar("_Kind")
_Other = TypeVar("_Other")
_Scalar = TypeVar("_Scalar", bound=np.generic)
_Array = TypeVar("_Array", bound=npt.NDArray[Any])
_Shaped = TypeVar("_Shaped", bound="_HasShape")


class _HasShape(Protocol):
    """An array, dense or sparse."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""


def number(
    value: object,
    where: str,
    low: float = -LARGEST,
    high: float = LARGEST,
    *,
    above: float | None = None,
    below: float | None = None,
    words: str = "",
    remedy: str = _GIVE_NUMBER,
) -> float:
    """A real number from ``low`` to ``high``, as a float.

    Raises:
        InputError: It is out of range, NaN, or no number, such as True, a complex number or text.
    """
    if not isinstance(value, bool) and isinstance(value, Real):
        found = _float(value)
        if _is_inside(found, found, low, high, above, below):
            return found
    raise InputError(
        f"is {shown(value)}",
        where=where,
        allowed=f"a number, {_range(low, high, above, below)}{words}",
        remedy=remedy,
    )


def whole(
    value: object,
    where: str,
    low: int = 0,
    high: int = _ENDLESS,
    *,
    words: str = "",
    remedy: str = _GIVE_NUMBER,
) -> int:
    """A whole number from ``low`` to ``high``, as an int; 2.0 is one, too.

    Raises:
        InputError: It is out of range, or no whole number.
    """
    found = _whole(value)
    if found is not None and low <= found <= high:
        return found
    ends = f">= {_brief(low)}"
    if high < _ENDLESS or (found or 0) > high:
        ends = f"{_brief(low)} to {_brief(high)}"
    raise InputError(
        f"is {shown(value)}",
        where=where,
        allowed=f"a whole number, {ends}{words}",
        remedy=remedy,
    )


def setting(
    owner: object,
    name: str,
    low: float = -LARGEST,
    high: float = LARGEST,
    *,
    above: float | None = None,
    below: float | None = None,
    integer: bool = False,
    optional: bool = False,
    words: str = "",
    where: str = "",
) -> None:
    """Check a number among the fields of a frozen dataclass, and keep it as Python's own.

    Solvers in other languages take Python's numbers alone, and 32-bit ones overflow.

    ``owner``: the dataclass; its field is replaced by the plain number. ``name``: the field.
    ``integer``: whether it must be whole. ``optional``: whether None is allowed, too. ``where``:
    what errors call the field; by default, the setting of its name.

    Raises:
        InputError: As :func:`number` and :func:`whole`.
    """
    value = getattr(owner, name)
    if value is None and optional:
        return
    where, plain = where or f"setting {name}", 0.0
    if integer:
        plain = whole(value, where, int(low), int(min(high, _ENDLESS + 1)), words=words)
    else:
        plain = number(value, where, low, high, above=above, below=below, words=words)
    object.__setattr__(owner, name, plain)


def flag(value: object, where: str, words: str = "") -> bool:
    """True or False, as Python's own.

    Raises:
        InputError: It is something else, 0 and 1 included.
    """
    if not isinstance(value, bool | np.bool_):
        raise InputError(
            f"is {shown(value)}",
            where=where,
            allowed=f"True or False{words}",
            remedy="use one of these",
        )
    return bool(value)


def text(value: object, where: str, *, blank: bool = True) -> str:
    """Words. ``blank``: whether there may be none that are seen, as in "" and " ".

    Raises:
        InputError: It is something else.
    """
    if not isinstance(value, str) or not (blank or value.strip()):
        raise InputError(
            f"is {shown(value)}",
            where=where,
            allowed="text" if blank else "text that is not blank",
            remedy="write it between quotes",
        )
    return value


def one_of(
    value: object, where: str, choices: Collection[str], kind: str = "", *, remedy: str = ""
) -> str:
    """One of some names.

    ``choices``: the names; a set or dict where many. ``remedy``: by default a name that is near.

    Raises:
        InputError: It is no such name.
    """
    if isinstance(value, str) and value in choices:
        return value
    use = "use one of these names" if len(choices) else "leave it out"
    raise InputError(
        f"there is no {kind} {shown(value)}" if kind else f"is {shown(value)}",
        where=where,
        allowed=few(choices, len(choices) if len(choices) <= _MANY else _FEW) or "none: no names",
        remedy=remedy or _meant(value, choices, use),
    )


@overload
def of_kind(
    value: object, kind: type[_Kind], where: str, allowed: str = "", *, remedy: str = ""
) -> _Kind: ...


@overload
def of_kind(
    value: object,
    kind: tuple[type[_Kind], type[_Other]],
    where: str,
    allowed: str = "",
    *,
    remedy: str = "",
) -> _Kind | _Other: ...


@overload
def of_kind(
    value: object, kind: type, where: str, allowed: str = "", *, remedy: str = ""
) -> object: ...


def of_kind(
    value: object,
    kind: type | tuple[type, ...],
    where: str,
    allowed: str = "",
    *,
    remedy: str = "",
) -> object:
    """An object of a class, and not the class itself.

    ``allowed``: what errors call the class; its name by default.

    Raises:
        InputError: It is something else.
    """
    if isinstance(value, kind) and not isinstance(value, type):
        return value
    first = (kind if isinstance(kind, tuple) else (kind,))[0].__name__
    raise InputError(
        f"is {shown(value)}",
        where=where,
        allowed=allowed or f"an object of {first}",
        remedy=remedy or f"{where}={first}(...)",
    )


def object_with(value: object, method: str, where: str, example: str) -> None:
    """Refuse what lacks a method that an object of its kind has, such as the kind's class.

    ``method``: the name of the method. ``example``: how such an object is made.

    Raises:
        InputError: It is a class, or has no such method.
    """
    if isinstance(value, type) or not hasattr(value, method):
        raise InputError(
            f"is {shown(value)}",
            where=where,
            allowed=f"an object such as {example}",
            remedy=f"{where}={example}",
        )


def function_or_none(value: object, where: str, *, remedy: str = "pass a function") -> None:
    """Refuse what is neither a function nor None.

    Raises:
        InputError: It is something else.
    """
    if value is not None and not callable(value):
        raise InputError(
            f"is {shown(value)}", where=where, allowed="a function or None", remedy=remedy
        )


def reals(given: object) -> Floats:
    """Any array-like as float64; not a copy where it is that already.

    Raises:
        TypeError: It holds complex numbers, dates or text, which a cast would change, or no number.
        ValueError: Something in it is no number or is masked, or its rows differ in length.
        OverflowError: A whole number in it has more than 308 digits.
    """
    if np.ma.is_masked(given):
        raise ValueError("it has masked entries")
    array = np.asarray(given)
    if array.dtype.kind == "c":
        raise TypeError("complex numbers have no order")
    if array.dtype.kind in "mM":
        raise TypeError("dates and durations are no numbers")
    texts = array.dtype.kind == "O" and any(isinstance(v, str | bytes) for v in array.flat)
    if array.dtype.kind in "US" or texts:
        raise TypeError("text is no number")
    return array.astype(np.float64, copy=False)


def numeric(
    given: object, where: str, *, allowed: str = "numbers", remedy: str = "", copy: bool = False
) -> Floats:
    """Any array-like as float64, with the refusals of :func:`reals`.

    ``copy``: whether the array must be the caller's own.

    Raises:
        InputError: Something in it is no real number, or its rows differ in length.
    """
    try:
        found = reals(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"is not numeric: {error}",
            where=where,
            allowed=allowed,
            remedy=remedy or "remove text and empty cells, and give every row the same length",
        ) from error
    return found.copy() if copy and np.may_share_memory(found, given) else found


def shaped(
    array: _Shaped, shape: tuple[int, ...], where: str, words: str = "", *, remedy: str = ""
) -> _Shaped:
    """An array of a shape.

    ``words``: what the shape means, such as ``one number a job``.

    Raises:
        InputError: It has another shape.
    """
    if tuple(array.shape) != shape:
        raise InputError(
            f"has shape {tuple(array.shape)}",
            where=where,
            allowed=f"{shape}, {words}" if words else f"{shape}",
            remedy=remedy or "give an array of that shape",
        )
    return array


def within(
    array: _Array,
    where: Where,
    low: float = -LARGEST,
    high: float = LARGEST,
    *,
    above: float | None = None,
    below: float | None = None,
    words: str = "",
    remedy: str = "correct that number",
) -> _Array:
    """An array whose numbers all lie from ``low`` to ``high``.

    Raises:
        InputError: One does not, or is NaN; names the first.
    """
    if array.size == 0:
        return array
    least, most = float(array.min()), float(array.max())  # NaN where one is NaN
    if _is_inside(least, most, low, high, above, below):
        return array
    good = (array >= low) & (array <= high)
    if above is not None:
        good &= array > above
    if below is not None:
        good &= array < below
    allowed = _range(low, high, above, below) + words
    return refuse_first(~good, array, where, allowed=allowed, remedy=remedy)


def refuse_first(
    bad: Bools,
    array: _Array,
    where: Where,
    *,
    allowed: str,
    remedy: str,
    what: str | Callable[[Place], str] = "",
) -> _Array:
    """The array, or an error that names its first number that is marked.

    ``bad``: which numbers are refused. ``what``: what is wrong, or a function that tells it of a
    place; by default the number.

    Raises:
        InputError: One is marked.
    """
    if not np.any(bad):
        return array
    at = tuple(int(k) for k in np.unravel_index(int(np.argmax(bad)), bad.shape))
    index = f"[{', '.join(map(str, at))}]" if at else ""
    named = where(at) if callable(where) else f"{where}{index}"
    said = what(at) if callable(what) else what
    count = int(np.count_nonzero(bad))
    raise InputError(
        said or f"is {_brief(array[at])}",
        where=named,
        allowed=allowed,
        remedy=f"{remedy}; {count} such entries" if count > 1 else remedy,
    )


def one_each(
    given: object,
    where: str,
    count: int,
    kind: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    remedy: str = "",
) -> Floats:
    """(count,) numbers from one number each, or one number for all.

    ``count``: how many there must be. ``high``: largest number allowed; by default, infinite ones
    and NaN are, too.

    Raises:
        InputError: It is no array of real numbers, has another shape, or a number is out of range.
    """
    remedy = remedy or f"give one number a {kind}"
    found = numeric(given, where, remedy=remedy, copy=True)
    if found.shape not in ((), (count,)):
        raise InputError(
            f"has shape {found.shape}",
            where=where,
            allowed=f"({count},), or one number for all",
            remedy=remedy,
        )
    if low > -math.inf or high < math.inf:
        within(found, where, low, high, remedy=remedy)
    return np.full(count, found) if found.ndim == 0 else found


def distinct(
    given: object, where: str, kind: str = "label", *, count: int | None = None, remedy: str = ""
) -> tuple[str, ...]:
    """Names as strings, of which no two are the same.

    ``count``: how many there must be, or None.

    Raises:
        InputError: It is no sequence, has another length, or two names are the same.
    """
    listed = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    if not listed or getattr(given, "ndim", 1) == 0:
        raise InputError(
            f"is {shown(given)}",
            where=where,
            allowed=f"a sequence of {kind}s",
            remedy=remedy or f"put the {kind}s in a list",
        )
    names = tuple(map(str, cast("Iterable[object]", given)))
    if count is not None and len(names) != count:
        raise InputError(
            f"has {len(names)} {kind}s",
            where=where,
            allowed=f"{count} distinct {kind}s",
            remedy=remedy or f"give one {kind} each",
        )
    if len(set(names)) < len(names):
        _refuse_second(names, where, kind, remedy)
    return names


def same_names(
    own: Sequence[str],
    wanted: Sequence[str],
    where: str,
    kind: str,
    *,
    allowed: str,
    remedy: str,
) -> None:
    """Refuse names that are not the wanted ones, in any order.

    ``wanted``: the names that are needed. ``allowed``: which names are needed.

    Raises:
        InputError: One is missing or unknown; names the first.
    """
    held, needed = set(own), set(wanted)
    missing = next((name for name in wanted if name not in held), None)
    unknown = next((name for name in own if name not in needed), None)
    if missing is None and unknown is None:
        return
    what = f"has no {kind} '{missing}'" if missing is not None else f"unknown {kind} '{unknown}'"
    raise InputError(what, where=where, allowed=allowed, remedy=remedy)


def known_keys(given: Iterable[str], known: Collection[str], where: str) -> None:
    """Refuse a key of a table that nobody reads.

    Raises:
        InputError: Names the first one, and the nearest that is known.
    """
    for key in given:
        if key not in known:
            raise InputError(
                f"has the unknown key '{key}'",
                where=where,
                allowed=", ".join(known),
                remedy=_meant(key, known, "leave it out"),
            )


def _meant(value: object, known: Collection[str], otherwise: str) -> str:
    """What to do about a name that is not known: the nearest one, if any is near."""
    some = islice(known, _COMPARED)
    near = difflib.get_close_matches(value, some, n=1) if isinstance(value, str) else []
    return f"did you mean '{near[0]}'?" if near else otherwise


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """The same numbers as an array that cannot be written to; no copy."""
    view = array.view()
    view.flags.writeable = False
    return view


def few(names: Iterable[str], most: int = _FEW) -> str:
    """The first names, and how many there are where not all are shown."""
    listed = [str(name) for name in names]
    more = f", ... ({len(listed)} in all)" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def shown(value: object) -> str:
    """A value as messages show it: short, and of large objects their type alone."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value != value:
        return "NaN"
    if isinstance(value, int) and value.bit_length() > 4 * _SHOWN:
        return f"a whole number of {value.bit_length()} bits"
    if value is None or isinstance(value, str | bytes | Real | complex | type):
        shown = repr(value[: _SHOWN + 1] if isinstance(value, str | bytes) else value)
        return shown if len(shown) <= _SHOWN + 2 else f"{shown[:_SHOWN]}..."
    return f"a {type(value).__name__}"


def _brief(value: float | np.generic) -> str:
    """A number: 1 in place of 1.0 where no digit is lost."""
    plain = value.item() if isinstance(value, np.generic) else value
    short = f"{plain:g}" if isinstance(plain, float) else ""
    return short if short and float(short) == plain else shown(plain)


def _float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("nan")


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    if isinstance(value, Integral):
        return int(value)
    found = _float(value)
    return int(found) if abs(found) < _EXACT and found.is_integer() else None


def _is_inside(
    least: float, most: float, low: float, high: float, above: float | None, below: float | None
) -> bool:
    if not (low <= least and most <= high):  # NaN is on no side
        return False
    return (above is None or least > above) and (below is None or most < below)


def _range(low: float, high: float, above: float | None, below: float | None) -> str:
    has_low, has_high = low > -LARGEST, high < LARGEST
    if has_low and has_high and above is None and below is None:
        return f"{_brief(low)} to {_brief(high)}"
    ends = ["finite"] if high == LARGEST and below is None else []
    if above is not None or has_low:
        ends.append(f">= {_brief(low)}" if above is None else f"> {_brief(above)}")
    if below is not None or has_high:
        ends.append(f"<= {_brief(high)}" if below is None else f"< {_brief(below)}")
    return " and ".join(ends) or "infinite ones too"


def _refuse_second(names: tuple[str, ...], where: str, kind: str, remedy: str) -> NoReturn:
    first: dict[str, int] = {}
    for k, name in enumerate(names):
        if first.setdefault(name, k) != k:
            break
    raise InputError(
        f"the {kind} '{name}' appears twice, at {first[name]} and {k}",
        where=where,
        allowed=f"distinct {kind}s",
        remedy=remedy or f"give each its own {kind}",
    )
