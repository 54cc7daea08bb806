"""A session: a problem whose demands come and go, and what earlier rounds leave for the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import numpy as np

from walras import checks
from walras.certificate.structure import own_limit, structure
from walras.engines.base import Engine
from walras.errors import InputError
from walras.kernels.schur.sparse import Patterns
from walras.progress import OnProgress
from walras.separable import Rows, Separable, Side
from walras.separable.splice import Source, Splice, shared_rows, spliced, unchecked
from walras.settings import Settings, Start
from walras.solution import Solution
from walras.solving import solve_with
from walras.types import Bools, Floats, Longs

# the largest limit: HiGHS takes what is above for infinite
_LARGEST_LIMIT = 1e20
_SAME = 1e-9  # relative difference of two numbers that are computed in different ways


class SolveSettings(TypedDict, total=False):
    """What :func:`walras.solve` takes beside the problem, an engine and a start."""

    tolerance: float
    time_limit: float | None
    threads: int | None
    on_progress: OnProgress | None
    verbose: bool
    device: str


class Session:
    """A problem that changes from round to round, solved again from what is known.

    Demands come, go and change by name, and limits of resources move. The rest of the statement
    stays as it is. :meth:`solve` starts from the last allocation and its prices, and certifies the
    present problem: its answer is as good as that of :func:`walras.solve` on the same problem
    stated afresh. After an error the session is as before.

    What a demand brings is stated by the function that stated the problem, for the new demands
    alone, with the same resources. Their limits may be those of the session's first problem or the
    present ones. The functions refuse a capacity of 0: after :meth:`limit` set one, state the parts
    with the first limits; the session keeps its own.

    Args:
        problem: The first round, from :mod:`walras.domains` or from arrays.

    Raises:
        InputError: It is no such problem, entries belong to no demand, or it has a constant cost,
            such as that of churn, which no demand owns.

    Example:
        >>> import walras as wl
        >>> from walras.domains import cluster_scheduling as cs
        >>> cluster = {"capacity": [1.0, 2.0], "resource_names": ["v100", "t4"]}
        >>> jobs = cs.max_min(
        ...     [[3.0, 1.0], [1.0, 1.0]], [1, 1], **cluster, demand_names=["a", "b"]
        ... )
        >>> session = wl.Session(jobs)
        >>> round(session.solve().value, 3)
        1.0
        >>> session.remove("b")
        >>> session.add(cs.max_min([[4.0], [2.0]], [2], **cluster, demand_names=["c"]))
        >>> found = session.solve()
        >>> round(found.value, 3), found.problem.demand_names
        (2.333, ('a', 'c'))
    """

    def __init__(self, problem: Separable) -> None:
        first = Source.of(_checked(problem, "problem"))
        names = checks.distinct(first.problem.demand_names, "demand_names", "name")
        self._rule = _Rule.of(first)
        self._sources = [first]
        self._ceilings = [_ceilings(first.problem)]
        self._demands = {name: (0, j) for j, name in enumerate(names)}
        self._limits: dict[int, float] = {}  # by the number of the shared row among all such
        self._present = _closed(first)
        self._last: Start | None = None
        self._patterns = Patterns()

    def __repr__(self) -> str:
        first, words = self._present, f"{len(self._demands)} demands"
        return f"Session({first.objective}: {len(first.resource_names)} resources, {words})"

    @property
    def problem(self) -> Separable:
        """The present problem.

        Raises:
            InputError: No demand is left.
        """
        self._settle()
        return self._present

    @property
    def demand_names(self) -> tuple[str, ...]:
        """The names of the present demands, in their order."""
        return tuple(self._demands)

    def remove(self, names: str | Iterable[str]) -> None:
        """Take demands away.

        Args:
            names: One name, or several.

        Raises:
            InputError: A name is unknown or given twice; nothing is removed.
        """
        given = (names,) if isinstance(names, str) else checks.distinct(names, "names", "name")
        for name in given:
            self._known(name, "names")
        for name in given:
            del self._demands[name]

    def add(self, part: Separable) -> None:
        """Bring in new demands, behind those that are there.

        Args:
            part: The new demands, stated like the session's problem and with its resources, whose
                limits are the first or the present ones.

        Raises:
            InputError: A name is there already, or resources, their limits, rows, scalars or the
                objective differ; nothing is added.
        """
        source, names = self._part(part)
        there = next((name for name in names if name in self._demands), None)
        if there is not None:
            raise InputError(
                f"'{there}' is there already",
                where="demand_names of the part",
                allowed="names of new demands",
                remedy="use change for demands that are there, or remove them first",
            )
        self._take(source, names)

    def change(self, part: Separable) -> None:
        """Replace demands by others of the same names; they keep their places.

        Args:
            part: The demands as they are now, stated as in :meth:`add`.

        Raises:
            InputError: A name is unknown, or as in :meth:`add`; nothing is changed.
        """
        source, names = self._part(part)
        for name in names:
            self._known(name, "demand_names of the part")
        self._take(source, names)

    def limit(self, family: str, upper: Mapping[str, float]) -> None:
        """Set the limits of shared rows, such as the capacities of resources.

        Where a limit of 0 leaves entries no choice, they are fixed at 0; a link fails so.

        Args:
            family: Name of the rows, such as ``capacity``.
            upper: Label of a row, such as the resource's name, and its new upper bound.

        Raises:
            InputError: There are no such rows, a bound is NaN, above 1e20 or below what the row
                holds at least (0 for a capacity), or the rows' amount stands at a shared scalar;
                nothing is changed.
        """
        checks.object_with(upper, "items", "upper", "a mapping such as {'v100': 4.0}")
        source = self._sources[0]
        rows = source.problem.rows
        shared, families = shared_rows(source), _families(rows)
        some = [name for name, own in zip(families, shared, strict=True) if len(own)]
        k = families.index(checks.one_of(family, "family", some, "family of shared rows"))
        found, packing = rows.families[k], structure(source.problem).packing
        before = sum(map(len, shared[:k]))
        number = {_label(found.labels, row - found.start): n for n, row in enumerate(shared[k])}
        wanted: dict[int, float] = {}
        for name, bound in upper.items():
            n = number[checks.one_of(name, f"rows {family}", number, "row")]
            row, where = int(shared[k][n]), f"{family}[{name}]"
            least = max(float(rows.lower[row]), 0.0 if packing[row] else -_LARGEST_LIMIT)
            wanted[before + n] = checks.number(bound, where, least, _LARGEST_LIMIT)
            if np.any(rows.scalar_matrix[row]) or rows.is_utility[row]:
                raise InputError(
                    "has no limit of its own: its amount stands at a shared scalar or in a utility",
                    where=where,
                    allowed="rows such as load <= capacity",
                    remedy="state the problem anew",
                )
        self._limits |= wanted

    def solve(
        self, *, engine: str | Engine = "auto", **settings: Unpack[SolveSettings]
    ) -> Solution:
        """Solve the present problem from what the last rounds left, and certify it.

        Args:
            engine: As :func:`walras.solve` takes it.
            **settings: ``tolerance``, ``time_limit``, ``threads``, ``on_progress``, ``verbose`` and
                ``device`` of :func:`walras.solve`.

        Returns:
            The solution of the present problem.

        Raises:
            InputError: No demand is left, or a setting is wrong.
            InfeasibleError: No allocation meets the constraints.
        """
        checks.known_keys(settings, ("engine", *SolveSettings.__annotations__), "solve")
        self._settle()
        kept = Settings(**settings, start=self._last, patterns=self._patterns)
        found = solve_with(self._present, engine, kept)
        if found.status.has_allocation:
            self._last = Start(found.entries, found.prices.rows, found.scalars)
        return found

    def _known(self, name: str, where: str) -> None:
        checks.one_of(name, where, self._demands, "demand")

    def _part(self, part: Separable) -> tuple[Source, tuple[str, ...]]:
        """New demands as a source, and their names.

        Raises:
            InputError: They do not fit the session's problem.
        """
        given = _checked(part, "part")
        names = checks.distinct(given.demand_names, "demand_names of the part", "name")
        source = Source.of(given)
        self._rule.check(source, self._sources[0], self._limits)
        return source, names

    def _take(self, source: Source, names: tuple[str, ...]) -> None:
        """Let demands be those of a source."""
        self._sources.append(source)
        self._ceilings.append(_ceilings(source.problem))
        self._demands |= {name: (len(self._sources) - 1, j) for j, name in enumerate(names)}

    def _settle(self) -> None:
        """State the present problem, and carry what is known to its entries and rows."""
        if not self._demands:
            raise InputError(
                "no demand is left",
                where="session",
                allowed="at least one demand",
                remedy="add demands before the next solve",
            )
        places = np.array(list(self._demands.values()), dtype=np.int64)
        splice = Splice.of(self._sources, places[:, 0], places[:, 1])
        if splice.is_whole and not self._limits:
            return
        first = _limited(self._sources[0], self._limits)
        sources = [first, *self._sources[1:]]
        splice = replace(splice, sources=sources)
        made = first.problem if splice.is_whole else spliced(splice, tuple(self._demands))
        ceilings = splice.demands(self._ceilings)
        source = Source.of(self._rule.applied(made, ceilings))
        present = _closed(source)
        if self._last is not None:
            before = splice.entries([self._present.upper, *(p.problem.upper for p in sources[1:])])
            self._last = _moved_forgotten(_carried(splice, self._last), before, present)
        self._sources, self._ceilings, self._limits = [source], [ceilings], {}
        self._demands = {name: (0, j) for j, name in enumerate(self._demands)}
        self._present = present


@dataclass(frozen=True, eq=False)
class _Rule:
    """What all demands of a session have in common, and what follows from them.

    Attributes:
        lower: (shared rows,) lower bounds at the begin.
        upper: (shared rows,) upper bounds at the begin.
        follows: (scalars,) True where the upper bound of a scalar is the least of the demands'.
        scalar_upper: (scalars,) the other bounds.
        is_weighed: Whether the gap's denominator is the sum of the weights of utilities.
    """

    lower: Floats
    upper: Floats
    follows: Bools
    scalar_upper: Floats
    is_weighed: bool

    @classmethod
    def of(cls, source: Source) -> _Rule:
        """The rule of the first problem."""
        problem, shared = source.problem, np.concatenate(shared_rows(source))
        return cls(
            lower=problem.rows.lower[shared],
            upper=problem.rows.upper[shared],
            follows=_follows(problem),
            scalar_upper=problem.scalar_upper,
            is_weighed=_is_weighed(problem),
        )

    def applied(self, problem: Separable, ceilings: Floats) -> Separable:
        """The problem with what follows from its demands."""
        least = np.min(ceilings, axis=0, initial=np.inf)
        scale = _weight(problem.rows) if self.is_weighed else problem.gap_scale
        upper = np.where(self.follows, least, self.scalar_upper)
        return unchecked(problem, scalar_upper=upper, gap_scale=scale)

    def check(self, source: Source, present: Source, limits: Mapping[int, float]) -> None:
        """Refuse demands that do not fit the session's problem.

        Raises:
            InputError: Names what differs.
        """
        new, old = source.problem, present.problem
        same = (
            ("resource_names", tuple(new.resource_names), tuple(old.resource_names)),
            ("objective", new.objective, old.objective),
            ("rows", _families(new.rows), _families(old.rows)),
            ("scalars", _scalars(new), _scalars(old)),
            ("gap_scale", self.is_weighed, _is_weighed(new)),
        )
        for where, found, wanted in same:
            if found != wanted:
                _refuse(f"is not that of the session's problem in {where}", where)
        own, shared = shared_rows(source), shared_rows(present)
        if [len(each) for each in own] != [len(each) for each in shared]:
            _refuse("has other rows that are no demand's", "rows")
        self._check_bounds(new.rows, np.concatenate(own), old.rows, np.concatenate(shared), limits)
        other = ~(self.follows & _follows(new)) & (new.scalar_upper != self.scalar_upper)
        if np.any(other):
            _refuse("has another upper bound of a scalar", "scalar_upper")

    def _check_bounds(
        self, new: Rows, own: Longs, old: Rows, shared: Longs, limits: Mapping[int, float]
    ) -> None:
        """Refuse shared rows with bounds that they neither have now nor had at the begin."""
        upper = old.upper[shared]
        upper[list(limits)] = list(limits.values())
        is_known = (new.upper[own] == upper) | (new.upper[own] == self.upper)
        is_known &= new.lower[own] == self.lower
        is_known &= np.all(new.scalar_matrix[own] == old.scalar_matrix[shared], axis=1)
        if not np.all(is_known):
            row = int(np.argmin(is_known))
            name = new.name(int(own[row]))
            _refuse(f"has the bound {new.upper[own[row]]:g} and not {upper[row]:g}", name)


def _refuse(what: str, where: str) -> None:
    raise InputError(
        what,
        where=f"part, {where}",
        allowed="demands that are stated like the session's problem, with its resources",
        remedy="state them by the same function with the same resources; limits change by limit",
    )


def _families(rows: Rows) -> tuple[str, ...]:
    return tuple(family.name for family in rows.families)


def _scalars(problem: Separable) -> tuple[tuple[str, ...], list[float], list[float]]:
    cost, lower = problem.scalar_cost.tolist(), problem.scalar_lower.tolist()
    return tuple(problem.scalar_names), cost, lower


def _weight(rows: Rows) -> float:
    return float(np.sum(rows.weight[rows.is_utility]))


def _is_weighed(problem: Separable) -> bool:
    """Whether the gap's denominator is the sum of the weights of the demands' utilities."""
    total = _weight(problem.rows)
    return problem.gap_scale is not None and abs(problem.gap_scale - total) <= _SAME * total


def _ceilings(problem: Separable) -> Floats:
    """(demands, scalars) the largest value of each scalar that a demand's own rows allow.

    A row ``e t - g x <= b`` allows ``t <= (b + max_q g_q u_q) / e`` where one packing row holds the
    demand's entries, of which each alone could be u_q.
    """
    rows, out = problem.rows, np.full((problem.shape[1], problem.scalars), np.inf)
    held = (rows.side == Side.DEMAND) & np.isfinite(rows.upper)
    held &= np.count_nonzero(rows.scalar_matrix, axis=1) == 1
    if not problem.scalars or not np.any(held):
        return out
    some = np.flatnonzero(held[rows.matrix.indices])
    row, entry = rows.matrix.indices[some], _entry(problem, some)
    with np.errstate(invalid="ignore"):
        gain = -rows.matrix.data[some] * own_limit(problem, structure(problem))[entry]
    most = np.zeros(rows.count)
    np.maximum.at(most, row, gain)
    for k in range(problem.scalars):
        e = rows.scalar_matrix[:, k]
        own = np.flatnonzero(held & (e > 0))
        np.minimum.at(out[:, k], rows.owner[own], (rows.upper[own] + most[own]) / e[own])
    return out


def _follows(problem: Separable) -> Bools:
    """(scalars,) whether each scalar's upper bound is that of its demands' rows."""
    least = np.min(_ceilings(problem), axis=0, initial=np.inf)
    upper = problem.scalar_upper
    with np.errstate(invalid="ignore"):
        near = np.abs(least - upper) <= _SAME * np.abs(upper)
    return np.asarray(np.isfinite(upper) & np.isfinite(least) & near)


def _limited(source: Source, limits: Mapping[int, float]) -> Source:
    """The source with new bounds of some shared rows."""
    if not limits:
        return source
    rows, shared = source.problem.rows, np.concatenate(shared_rows(source))
    upper = rows.upper.copy()
    upper[shared[list(limits)]] = list(limits.values())
    return Source(unchecked(source.problem, rows=replace(rows, upper=upper)), source.ptr)


def _closed(source: Source) -> Separable:
    """The problem with entries fixed at 0 that a shared packing row of bound 0 holds there."""
    problem, rows = source.problem, source.problem.rows
    shared = np.concatenate(shared_rows(source))
    empty = np.zeros(rows.count, dtype=np.bool_)
    empty[shared] = rows.upper[shared] == 0.0
    if not np.any(empty):
        return problem
    empty &= structure(problem).packing
    upper = np.array(problem.upper)
    upper[_entry(problem, np.flatnonzero(empty[rows.matrix.indices]))] = 0.0
    return unchecked(problem, upper=upper)


def _carried(splice: Splice, last: Start) -> Start:
    """What is known of the first source, on a splice's entries and rows; NaN elsewhere."""
    rest = splice.sources[1:]
    x = [last.x, *(np.full(each.problem.entries, np.nan) for each in rest)]
    prices = [last.prices, *(np.full(each.problem.rows.count, np.nan) for each in rest)]
    return Start(splice.entries(x), splice.rows(prices), last.t)


def _moved_forgotten(last: Start, before: Floats, present: Separable) -> Start:
    """What is known, without the demands of which entries were closed or opened.

    Their old choice says little: they choose anew at the old prices, as new demands do.
    """
    moved = np.flatnonzero(before != present.upper)
    if not len(moved):
        return last
    chosen = np.zeros(len(present.demand_names), dtype=np.bool_)
    chosen[present.demand[moved]] = True
    return replace(last, x=np.where(chosen[present.demand], np.nan, last.x))


def _checked(problem: object, where: str) -> Separable:
    """A problem whose value is the sum of what its demands bring.

    Raises:
        InputError: It is another kind of problem.
    """
    given = checks.of_kind(
        problem,
        Separable,
        where,
        "a Separable",
        remedy="state it with walras.domains; solve leximin problems one by one",
    )
    rows, row = given.rows, given.rows.matrix.indices
    mine = (rows.side == Side.DEMAND) & (rows.owner >= 0)
    own = np.repeat(given.demand, np.diff(rows.matrix.indptr))
    stray = _entry(given, np.flatnonzero(mine[row] & (rows.owner[row] != own)))
    foreign = np.append(np.flatnonzero(given.demand < 0), stray)
    if len(foreign):
        raise InputError(
            f"{given.entry_name(int(foreign[0]))} belongs to no demand, or to several",
            where=where,
            allowed="entries of one demand each, which come and go with it",
            remedy="solve each round from the last one: walras.solve(problem, start=last)",
        )
    if given.constant:
        raise InputError(
            f"has the constant cost {given.constant:g}, which belongs to no demand",
            where=where,
            allowed="problems without constant costs",
            remedy="solve each round from the last one: walras.solve(problem, start=last)",
        )
    return given


def _entry(problem: Separable, coefficients: Longs) -> Longs:
    """The entries of some coefficients of the matrix."""
    return np.searchsorted(problem.rows.matrix.indptr, coefficients, side="right") - 1


def _label(labels: Sequence[str], k: int) -> str:
    return str(labels[k]) if len(labels) else str(k)
