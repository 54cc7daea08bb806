"""Problems put together from the demands of several."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from walras.domains import cluster_scheduling as cs
from walras.separable import Separable
from walras.separable.splice import Source, Splice, shared_rows, spliced

SPEED = np.array([[3.0, 1.0, 2.0], [1.0, 1.0, 4.0]])


def stated(jobs: list[int], **changes: object) -> Separable:
    names = [f"job{j}" for j in jobs]
    made = cs.max_min(SPEED[:, jobs], np.ones(len(jobs)), [1.0, 2.0], demand_names=names)
    return replace(made, **changes)  # type: ignore[arg-type]


def joined(first: Separable, other: Separable, places: list[tuple[int, int]]) -> Separable:
    source, demand = np.array(places).T
    sources = [Source.of(first), Source.of(other)]
    names = [str(sources[s].problem.demand_names[j]) for s, j in places]
    return spliced(Splice.of(sources, source, demand), names)


def test_a_demand_in_the_midst_is_replaced() -> None:
    made = joined(stated([0, 1]), stated([2]), [(0, 0), (1, 0), (0, 1)])
    wanted = stated([0, 2, 1])
    assert abs(made.rows.matrix - wanted.rows.matrix).nnz == 0
    assert made.demand.tolist() == wanted.demand.tolist()
    assert [made.rows.name(k) for k in range(8)] == [wanted.rows.name(k) for k in range(8)]
    assert made.rows.owner.tolist() == wanted.rows.owner.tolist()


def test_a_whole_source_is_taken_as_it_is() -> None:
    source = Source.of(stated([0, 1]))
    splice = Splice.of([source], np.zeros(2, np.int64), np.arange(2))
    assert splice.is_whole
    assert splice.matrix() is source.problem.rows.matrix
    assert splice.entries([source.problem.resource]) is source.problem.resource


def test_entries_in_any_order() -> None:
    problem = stated([0, 1, 2])
    order = np.array([4, 0, 3, 5, 1, 2])
    mixed = replace(
        problem,
        **{k: getattr(problem, k)[order] for k in ("resource", "demand", "cost", "lower", "upper")},
        quadratic=problem.quadratic[order],
        rows=replace(problem.rows, matrix=sp.csc_array(problem.rows.matrix[:, order])),
        integer=order < 3,
        namer=lambda k: f"entry {order[k]}",
        keys=lambda: 10 * order,
    )
    found = Source.of(mixed).problem
    assert found.demand.tolist() == [0, 0, 1, 1, 2, 2]
    assert found.keys is not None
    assert found.integer is not None
    old = found.keys() // 10
    assert [found.entry_name(k) for k in range(6)] == [f"entry {key}" for key in old]
    assert found.integer.tolist() == (old < 3).tolist()
    back = np.argsort(old)
    assert abs(found.rows.matrix[:, back] - problem.rows.matrix).nnz == 0


def test_names_keys_and_marks_come_along_and_old_problems_are_forgotten() -> None:
    def named(jobs: list[int], word: str) -> Separable:
        return stated(jobs, namer=lambda k: f"{word} {k}", keys=lambda: np.arange(2 * len(jobs)))

    made = joined(named([0, 1], "old"), named([2], "new"), [(0, 1), (1, 0)])
    assert [made.entry_name(k) for k in range(4)] == ["old 2", "old 3", "new 0", "new 1"]
    assert made.keys is not None
    assert made.keys().tolist() == [2, 3, 0, 1]
    again = joined(made, named([0], "last"), [(0, 1), (1, 0)])
    assert [again.entry_name(k) for k in range(4)] == ["new 0", "new 1", "last 0", "last 1"]
    assert len(again.namer.namers) == 2  # type: ignore[union-attr]
    marked = joined(stated([0]), stated([2], integer=np.array([True, False])), [(0, 0), (1, 0)])
    assert marked.integer is not None
    assert marked.integer.tolist() == [False, False, True, False]


def test_shared_rows_are_those_of_resources() -> None:
    assert [rows.tolist() for rows in shared_rows(Source.of(stated([0, 1])))] == [[0, 1], [], []]


def test_values_by_demand_and_by_row() -> None:
    sources = [Source.of(stated([0, 1])), Source.of(stated([2]))]
    splice = Splice.of(sources, np.array([0, 1]), np.array([1, 0]))
    assert splice.demands([np.array([1.0, 2.0]), np.array([3.0])]).tolist() == [2.0, 3.0]
    rows = [np.arange(each.problem.rows.count, dtype=float) for each in sources]
    assert splice.rows([rows[0], 10 + rows[1]]).tolist() == [0, 1, 3, 12, 5, 13]
    assert splice.entries([np.zeros(4), np.ones(2)]).tolist() == pytest.approx([0, 0, 1, 1])
