"""What the lines of an MPS or LP file say that HiGHS' reader passes over in silence.

HiGHS reads ``6,5`` as 6 and a word as 0, and of what it does warn about it names no line. Here each
line is looked at: a field that should be a number and is none is an error; what is given twice, or
for a row that is not there, is a note. Values are HiGHS' own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?)", re.IGNORECASE)
_SECTIONS = (
    *("NAME", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA", "OBJSENSE", "OBJNAME"),
    *("QUADOBJ", "QMATRIX", "QSECTION", "QCMATRIX", "CSECTION", "SOS", "SETS", "INDICATORS"),
    *("DELAYEDROWS", "MODELCUTS", "USERCUTS", "LAZYCONS"),
)
_WIDE = ("ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS")  # whose lines have several fields
_FIXED = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))
_NO_VALUE = ("FR", "MI", "PL", "BV")
_UPPER, _LOWER = ("UP", "UI", "SC", "SI", "PL"), ("LO", "LI", "MI")


@dataclass
class Lines:
    """What was seen in a file.

    Attributes:
        notes: Line numbers and what HiGHS makes of what stands there.
        errors: Line numbers and what is wrong there.
    """

    notes: list[tuple[int, str]] = field(default_factory=list)
    errors: list[tuple[int, str]] = field(default_factory=list)


class _Mps:
    """Reads MPS line by line.

    Args:
        fixed: Whether fields stand in fixed columns, as where names hold spaces.
    """

    def __init__(self, *, fixed: bool) -> None:
        self.found = Lines()
        self._fixed = fixed
        self._rows: set[str] = set()
        self._objectives: list[str] = []
        self._columns: set[str] = set()
        self._last, self._met = "", set[str]()
        self._given: set[tuple[str, str]] = set()
        self._number = 0
        self.undefined: list[tuple[int, str]] = []

    def read(self, lines: Sequence[str]) -> Lines:
        """All lines, and whether there is an end."""
        section, ends = "", False
        for self._number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("*"):
                continue
            first = line.split()[0].upper()
            if not line[0].isspace() and first in _SECTIONS:
                section = first
                if section == "ENDATA":
                    ends = True
                    break
                continue
            self._data(section, line)
        if not ends:
            self._number = max(self._number, 1)
            self._wrong("the file ends without ENDATA")
        return self.found

    def _data(self, section: str, line: str) -> None:
        fields = self._fields(line)
        if section in _WIDE and not line[0].isspace() and len(line.split()) == 1:
            self._wrong(f"{line.strip()!r} is no section")
        elif section == "ROWS":
            self._row(fields)
        elif section == "COLUMNS":
            self._column(fields)
        elif section in ("RHS", "RANGES"):
            self._side(section, fields)
        elif section == "BOUNDS":
            self._bound(fields)

    def _fields(self, line: str) -> list[str]:
        if not self._fixed:
            return line.split()
        return [part for a, b in _FIXED if (part := line[a:b].strip())]

    def _say(self, what: str) -> None:
        self.found.notes.append((self._number, what))

    def _wrong(self, what: str) -> None:
        self.found.errors.append((self._number, what))

    def _is_number(self, text: str) -> bool:
        if _NUMBER.fullmatch(text):
            return True
        self._wrong(f"{text!r} is no number")
        return False

    def _row(self, fields: list[str]) -> None:
        if len(fields) < 2:
            return  # HiGHS says so
        kind, name = fields[0].upper(), fields[1]
        if name in self._rows or name in self._objectives:
            self._say(f"row {name!r} is there already")
        elif kind == "N":
            self._objectives.append(name)
        else:
            self._rows.add(name)

    def _pairs(self, fields: list[str]) -> list[tuple[str, str]]:
        """Names and numbers in turn."""
        if len(fields) % 2:
            self._wrong(f"{fields[-1]!r} has no number behind it")
            return []
        pairs = list(zip(fields[::2], fields[1::2], strict=True))
        return [pair for pair in pairs if self._is_number(pair[1])]

    def _column(self, fields: list[str]) -> None:
        if len(fields) > 1 and fields[1].strip("'").upper() == "MARKER":
            return
        name = fields[0]
        if name != self._last:
            if name in self._columns:
                self._wrong(f"column {name!r} goes on after other columns have begun")
            self._last, self._met = name, set()
            self._columns.add(name)
        for row, value in self._pairs(fields[1:]):
            if row in self._met:
                self._say(f"column {name!r} has a second value in row {row!r}: {value} is ignored")
            elif row not in self._rows and row not in self._objectives:
                self._say(f"row {row!r} of column {name!r} is not defined: {value} is ignored")
                self.undefined.append((self._number, f"row {row!r} is not in ROWS"))
            self._met.add(row)

    def _side(self, section: str, fields: list[str]) -> None:
        fields = fields[1:] if len(fields) % 2 else fields
        what = "right-hand side" if section == "RHS" else "range"
        for row, value in self._pairs(fields):
            is_objective = row in self._objectives
            if (section, row) in self._given:
                self._say(f"row {row!r} has a {what} already: {value} is ignored")
            elif is_objective and section == "RANGES":
                self._say(f"row {row!r} is the objective, which has no range: {value} is ignored")
            elif not is_objective and row not in self._rows:
                self._say(f"row {row!r} of the {what} is not defined: {value} is ignored")
            self._given.add((section, row))

    def _bound(self, fields: list[str]) -> None:
        kind, rest = fields[0].upper(), fields[1:]
        if kind in _NO_VALUE:
            at = min(1, len(rest) - 1)
            if len(rest) == 2 and rest[0] in self._columns and rest[1] not in self._columns:
                at = 0
            name = rest[at] if rest else ""
        elif len(rest) < 2:
            self._wrong(f"a bound of kind {kind} needs a column and a number")
            return
        else:
            name = rest[-2]
            if not self._is_number(rest[-1]):
                return
        self._bounded(kind, name)

    def _bounded(self, kind: str, name: str) -> None:
        if name not in self._columns:
            self._say(f"column {name!r} is not in COLUMNS: a new one with this bound alone")
            self._columns.add(name)
        sides = {"upper": kind not in _LOWER, "lower": kind not in _UPPER}
        for side in (side for side, held in sides.items() if held):
            if (side, name) in self._given:
                self._say(f"column {name!r} is given its {side} bound again: this one is ignored")
            self._given.add((side, name))


def scan_mps(lines: Sequence[str], *, fixed: bool) -> Lines:
    """What the lines of an MPS file say.

    Args:
        lines: The lines.
        fixed: Whether HiGHS took fields by their columns. It does so where names hold spaces, and
            where it does not know a row or a section, which is then the error.
    """
    found = _Mps(fixed=fixed).read(lines)
    if fixed and found.errors:
        free = _Mps(fixed=False)
        errors = sorted(free.read(lines).errors + free.undefined)
        if 0 < len(errors) < len(found.errors):
            return Lines(errors=errors)
    return found


# HiGHS takes these words for the end of an objective wherever they stand.
_LP_END = re.compile(
    r"(?<!\S)(subject\s+to|such\s+that|s\.t\.?|st\.?|bounds?|gen(erals?)?|integers?|bin(ary|aries)?|"
    r"semi(-continuous|s)?|sos|end)(?!\S)",
    re.IGNORECASE,
)
_LP_SENSE = re.compile(r"(?<!\S)(min|max)(imi[sz]e|imum)?(?!\S)", re.IGNORECASE)
_LP_TERM = re.compile(
    r"((?:[+-]\s*)*)(?:((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*\*?\s*)?([A-Za-z_!\"#$%&()/,;?@`'{}|~]"
    r"[\w!\"#$%&()/,.;?@`'{}|~\[\]]*)",
    re.IGNORECASE,
)
_LP_SQUARES = re.compile(r"\[.*?\](\s*/\s*2)?", re.DOTALL)
_LP_SECTION = re.compile(
    r"\s*(subject\s+to|such\s+that|s\.t\.?|st\.?|bounds?|gen(erals?)?|integers?|bin(ary|aries)?|"
    r"semi(-continuous|s)?|sos|end)(?!\S)",
    re.IGNORECASE,
)
_LP_LABEL = re.compile(r"\s*([^\s:]+)\s*:(?!:)")
_LP_BOUND = re.compile(
    r"\s*(?:(?P<left>\S+)\s*(?P<first><=?|>=?|=<|=>|=)\s*)?(?P<name>[^\s<>=]+)"
    r"\s*(?:(?P<second><=?|>=?|=<|=>|=)\s*\S+|free)?\s*$",
    re.IGNORECASE,
)
_LP_COMMA = re.compile(r"(?<![\w.,])[+-]?\d+,\d+(?![\w,])")


def scan_lp(lines: Sequence[str]) -> tuple[Lines, dict[str, float]]:
    """What the lines of an LP file say, and the costs of what its objective names twice.

    HiGHS adds up terms that a row gives twice, but of the objective's it takes the last.
    """
    found, costs, twice = Lines(), dict[str, float](), set[str]()
    plain = [line.split("\\")[0] for line in lines]
    for number, text in enumerate(plain, 1):
        for comma in _LP_COMMA.findall(text):
            found.errors.append((number, f"{comma!r} is no number"))
    whole = "\n".join(plain)
    for sign, size, name, at in _lp_objective(whole):
        value = float(size or 1.0) * (-1.0 if sign.count("-") % 2 else 1.0)
        if name in costs:
            number = whole.count("\n", 0, at) + 1
            found.notes.append((number, f"the objective has {name!r} twice: both are added"))
            twice.add(name)
        costs[name] = costs.get(name, 0.0) + value
    found.notes += _lp_twice(plain)
    return found, {name: costs[name] for name in twice}


def _lp_twice(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Lines with a row's name or a column's bound that an earlier line has given."""
    section, seen = "", set[tuple[str, str]]()
    for number, line in enumerate(lines, 1):
        opened = _LP_SECTION.match(line)
        if opened:
            section, line = opened[1].lower()[:2], line[opened.end() :]
        label = _LP_LABEL.match(line) if section in ("su", "s.", "st") else None
        given = _lp_sides(line) if section == "bo" else set[tuple[str, str]]()
        if label:
            given = {("row", label[1])}
        for what, name in sorted(given & seen):
            rest = "both count" if what == "row" else "the last counts"
            yield number, f"{what} {name!r} is given twice: {rest}"
        seen |= given


def _lp_sides(line: str) -> set[tuple[str, str]]:
    """The bounds that a line gives, each with its column: ``1 <= x <= 2`` gives both."""
    found = _LP_BOUND.match(line)
    if not found:
        return set()
    name, first, second = found["name"], found["first"], found["second"]
    if first and not second and _NUMBER.fullmatch(name):  # x >= 2, not 2 <= x
        name, first, second = found["left"], None, first
    sides = [] if second or first else ["upper", "lower"]  # free
    for sign, less, more in ((first, "lower", "upper"), (second, "upper", "lower")):
        if sign:
            sides += [less] * ("<" in sign or sign == "=") + [more] * (">" in sign or sign == "=")
    return {(f"{side} bound of", name) for side in sides}


def _lp_objective(text: str) -> Iterator[tuple[str, str, str, int]]:
    """Signs, numbers and names of an objective's linear terms, and where the names stand."""
    sense = _LP_SENSE.search(text)
    if sense is None:
        return
    end = _LP_END.search(text, sense.end())
    stop = end.start() if end else len(text)
    label = text.find(":", sense.end(), stop)
    begin = label + 1 if label >= 0 else sense.end()
    linear = _LP_SQUARES.sub(lambda part: re.sub(r"\S", " ", part[0]), text[begin:stop])
    for term in _LP_TERM.finditer(linear):
        yield term[1], term[2], term[3], begin + term.start(3)
