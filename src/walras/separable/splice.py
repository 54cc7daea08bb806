"""A problem put together from the demands of several that share their resources.

Entries lie demand by demand, so that a run of demands is one slice of every array. Rows of a demand
come and go with it. All other rows are shared: they are those of the first source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.separable.form import Rows, Separable, Side
from walras.types import Bools, Ints, Longs

_ARRAYS = ("resource", "cost", "quadratic", "lower", "upper")
_ROW_ARRAYS = ("lower", "upper", "side", "utility", "weight", "parameter")


@dataclass(frozen=True, eq=False)
class Source:
    """A problem whose entries lie demand by demand.

    Attributes:
        problem: The problem.
        ptr: (demands + 1,) first entry of each demand.
    """

    problem: Separable
    ptr: Longs

    @classmethod
    def of(cls, problem: Separable) -> Source:
        """The source of a problem, all of whose entries belong to demands; sorted if need be."""
        if np.any(problem.demand[1:] < problem.demand[:-1]):
            problem = _sorted(problem)
        demands = np.arange(problem.shape[1] + 1)
        return cls(problem, np.searchsorted(problem.demand, demands).astype(np.int64))

    @property
    def own(self) -> Bools:
        """(rows,) True on the rows of demands."""
        rows = self.problem.rows
        return np.asarray((rows.side == Side.DEMAND) & (rows.owner >= 0))


def _sorted(problem: Separable) -> Separable:
    """The same problem with its entries in the order of their demands."""
    order = np.argsort(problem.demand, kind="stable")
    namer, keys, whole = problem.namer, problem.keys, problem.integer
    return replace(
        problem,
        **{name: getattr(problem, name)[order] for name in (*_ARRAYS, "demand")},
        rows=replace(problem.rows, matrix=sp.csc_array(problem.rows.matrix[:, order])),
        integer=None if whole is None else whole[order],
        namer=None if namer is None else lambda k: namer(int(order[k])),
        keys=None if keys is None else lambda: keys()[order],
    )


@dataclass(frozen=True, eq=False)
class Splice:
    """Where each part of a spliced problem comes from.

    Attributes:
        sources: The sources; the first has the shared rows.
        runs: (source, first, last) of consecutive demands of one source, in their new order.
        row_source: (rows,) source of each row.
        row: (rows,) number of each row in its source.
        owner: (rows,) new owner of each row.
        sizes: (families,) number of rows of each family.
    """

    sources: Sequence[Source]
    runs: Sequence[tuple[int, int, int]]
    row_source: Longs
    row: Longs
    owner: Ints
    sizes: Longs

    @classmethod
    def of(cls, sources: Sequence[Source], source: Longs, demand: Longs) -> Splice:
        """The splice of some demands.

        Args:
            sources: The sources; their shared rows are the same, and their families, too.
            source: (demands,) source of each demand.
            demand: (demands,) its number there.
        """
        cuts = np.flatnonzero((np.diff(source) != 0) | (np.diff(demand) != 1)) + 1
        ends = zip(np.append(0, cuts), np.append(cuts, len(source)), strict=True)
        runs = [(int(source[a]), int(demand[a]), int(demand[b - 1]) + 1) for a, b in ends]
        place, row, owner, sizes = _rows(sources, source, demand)
        return cls(sources, runs, place, row, owner, sizes)

    @property
    def is_whole(self) -> bool:
        """Whether it is the first source as it is."""
        return list(self.runs) == [(0, 0, len(self.sources[0].ptr) - 1)]

    @property
    def spans(self) -> list[tuple[int, slice]]:
        """Source and slice of its entries, of each run."""
        ptr = [source.ptr for source in self.sources]
        return [(s, slice(int(ptr[s][a]), int(ptr[s][b]))) for s, a, b in self.runs]

    def entries(self, values: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """(entries,) from arrays of (entries,), one a source; a view where nothing changed."""
        if self.is_whole:
            return values[0]
        used = [values[s] for s in {s for s, _, _ in self.runs}]
        if all(each.strides == (0,) and each[0] == used[0][0] for each in used):
            count = sum(span.stop - span.start for _, span in self.spans)
            return np.broadcast_to(used[0][0], count)
        return np.concatenate([values[s][span] for s, span in self.spans])

    def demands(self, values: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """(demands, ...) from arrays of (demands, ...), one a source."""
        return np.concatenate([values[s][a:b] for s, a, b in self.runs])

    def rows(self, values: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """(rows, ...) from arrays of (rows, ...), one a source."""
        first = np.append(0, np.cumsum([len(each) for each in values]))[:-1]
        return np.asarray(np.concatenate(values)[first[self.row_source] + self.row])

    def matrix(self) -> sp.csc_array:
        """(rows, entries) coefficients."""
        given = [source.problem.rows.matrix for source in self.sources]
        if self.is_whole:
            return given[0]
        numbers, first = self._new_numbers(), [each.indptr for each in given]
        ends = [(s, int(first[s][span.start]), int(first[s][span.stop])) for s, span in self.spans]
        data = np.concatenate([given[s].data[a:b] for s, a, b in ends])
        indices, stop = np.empty(len(data), dtype=np.int32), 0
        pointers = [np.zeros(1, dtype=first[0].dtype)]
        for (s, span), (_, a, b) in zip(self.spans, ends, strict=True):
            out = indices[stop : stop + b - a]
            # Indices are in range; "clip" lets NumPy write them without a copy.
            np.take(numbers[s], given[s].indices[a:b], out=out, mode="clip")
            pointers.append(first[s][span.start + 1 : span.stop + 1] + (stop - a))
            stop += b - a
        pointer = np.concatenate(pointers)
        return sp.csc_array((data, indices, pointer), shape=(len(self.row), len(pointer) - 1))

    def _new_numbers(self) -> list[Ints]:
        """(rows,) new number of each source's rows; shared rows have those of the first source."""
        out: list[Ints] = []
        shared = np.flatnonzero(~self.sources[0].own)
        for s, source in enumerate(self.sources):
            new = np.full(source.problem.rows.count, -1, dtype=np.int32)
            mine = np.flatnonzero(self.row_source == s)
            new[self.row[mine]] = mine
            if s:
                new[np.flatnonzero(~source.own)] = out[0][shared]
            out.append(new)
        return out


def _rows(
    sources: Sequence[Source], source: Longs, demand: Longs
) -> tuple[Longs, Longs, Ints, Longs]:
    """Source, number and new owner of the rows, and how many there are of each family.

    In a family, shared rows come first, then those of the demands in their order.
    """
    found = [_kept_rows(each, s, source, demand) for s, each in enumerate(sources)]
    which = np.concatenate([np.full(len(row), s) for s, (row, *_) in enumerate(found)])
    row, owner, place, family = (np.concatenate(v) for v in zip(*found, strict=True))
    order = np.lexsort((place, family))
    sizes = np.bincount(family, minlength=len(sources[0].problem.rows.families))
    return which[order], row[order], owner[order].astype(np.int32), sizes


def _kept_rows(
    each: Source, s: int, source: Longs, demand: Longs
) -> tuple[Longs, Longs, Longs, Longs]:
    """The rows that a source brings: number, new owner, place in the family, and family."""
    rows, own = each.problem.rows, each.own
    position = np.full(len(each.ptr) - 1, -1, dtype=np.int64)
    position[demand[source == s]] = np.flatnonzero(source == s)
    owner = np.where(own, position[np.where(own, rows.owner, 0)], rows.owner)
    kept = np.flatnonzero(np.where(own, owner >= 0, s == 0))
    family = np.repeat(np.arange(len(rows.families)), [f.stop - f.start for f in rows.families])
    return kept, owner[kept], np.where(own, owner, -1)[kept], family[kept]


def spliced(splice: Splice, names: Sequence[str]) -> Separable:
    """The problem of a splice; scalars, objective and gap are those of the first source.

    Args:
        splice: Which demands of which sources.
        names: (demands,) their names.
    """
    problems = [source.problem for source in splice.sources]
    first = problems[0]
    whole = None
    if any(each.integer is not None for each in problems):
        none = [np.zeros(p.entries, np.bool_) for p in problems]
        marks = zip(problems, none, strict=True)
        whole = splice.entries([o if p.integer is None else p.integer for p, o in marks])
    arrays = {name: splice.entries([getattr(each, name) for each in problems]) for name in _ARRAYS}
    keys = None if first.keys is None else _keys(splice)
    counts = splice.demands([np.diff(source.ptr) for source in splice.sources])
    return unchecked(
        first,
        **arrays,
        demand=np.repeat(np.arange(len(counts), dtype=np.int32), counts),
        demand_names=tuple(names),
        rows=_stacked(splice, [each.rows for each in problems]),
        integer=whole,
        namer=None if first.namer is None else _Namer.spliced(splice),
        keys=None if keys is None else lambda: keys,
    )


def unchecked(problem: Separable, **changes: Any) -> Separable:
    """``dataclasses.replace`` without the checks, for arrays that come from checked problems."""
    made = object.__new__(Separable)
    known = {name: getattr(problem, name) for name in Separable.__dataclass_fields__}
    vars(made).update(known | changes)
    return made


def _stacked(splice: Splice, rows: Sequence[Rows]) -> Rows:
    """All rows of a splice, with the labels of their families."""
    arrays = {name: splice.rows([getattr(each, name) for each in rows]) for name in _ROW_ARRAYS}
    families, stop = [], 0
    for k, size in enumerate(splice.sizes.tolist()):
        start, stop = stop, stop + size
        of_row = zip(
            splice.row_source[start:stop].tolist(), splice.row[start:stop].tolist(), strict=True
        )
        runs = [each.families[k] for each in rows]
        some = any(len(run.labels) for run in runs)
        labels = [runs[s].labels[row - runs[s].start] for s, row in of_row] if some else []
        families.append(replace(runs[0], start=start, stop=stop, labels=labels))
    return Rows(
        matrix=splice.matrix(),
        scalar_matrix=splice.rows([each.scalar_matrix for each in rows]),
        owner=splice.owner,
        families=tuple(families),
        **arrays,
    )


@dataclass(frozen=True, eq=False)
class _Namer:
    """The users' own names of entries, by the problem that each came with.

    Attributes:
        namers: What names the entries of one problem.
        which: (entries,) whose each is.
        number: (entries,) its number there.
    """

    namers: tuple[Callable[[int], str], ...]
    which: Ints
    number: Longs

    def __call__(self, entry: int) -> str:
        """The name of an entry."""
        return self.namers[int(self.which[entry])](int(self.number[entry]))

    @classmethod
    def of(cls, problem: Separable) -> _Namer:
        """The names of a problem."""
        if isinstance(problem.namer, _Namer):
            return problem.namer
        count = problem.entries
        return cls((problem.entry_name,), np.zeros(count, np.int32), np.arange(count))

    @classmethod
    def spliced(cls, splice: Splice) -> _Namer:
        """The names of a splice; problems none of whose entries are left are forgotten."""
        own = [cls.of(source.problem) for source in splice.sources]
        first = np.append(0, np.cumsum([len(each.namers) for each in own]))[:-1]
        shifted = [each.which + at for each, at in zip(own, first, strict=True)]
        kept, which = np.unique(splice.entries(shifted), return_inverse=True)
        namers = [namer for each in own for namer in each.namers]
        number = splice.entries([each.number for each in own])
        return cls(tuple(namers[k] for k in kept.tolist()), which.astype(np.int32), number)


def _keys(splice: Splice) -> Longs:
    """(entries,) numbers that tell entries apart."""
    none = np.zeros(0, np.int64)
    given = [source.problem.keys for source in splice.sources]
    return splice.entries([none if each is None else each() for each in given])


def shared_rows(source: Source) -> list[Longs]:
    """The numbers of the shared rows of each family."""
    own = source.own
    families = source.problem.rows.families
    return [f.start + np.flatnonzero(~own[f.start : f.stop]) for f in families]
