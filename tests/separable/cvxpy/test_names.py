"""What the user calls columns, entries, scalars and the objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import pytest
from tests.separable.statements import OBJECTIVES, Cluster, M, N, cluster

from walras.separable import Separable
from walras.separable.cvxpy.compile import Stated, Template
from walras.separable.cvxpy.names import first_column, variable_name


def filled(objective: Any, *more: Any) -> Separable:
    c = next(v for v in objective.variables() if v.shape == (M, N))
    stated = [Stated(cp.sum(c, axis=1) <= 3), Stated(cp.sum(c, axis=0) <= 1), *map(Stated, more)]
    return Template(objective, stated).fill()[0]


def test_variables_begin_one_after_the_other() -> None:
    given = [cp.Variable((2, 3)), cp.Variable(4), cp.Variable()]
    assert [first_column(given, v) for v in given] == [0, 6, 10]
    with pytest.raises(KeyError):
        first_column(given, cp.Variable())


def test_columns_have_the_names_of_their_elements() -> None:
    given = [cp.Variable((2, 2), name="x"), cp.Variable(2, name="v"), cp.Variable(name="s")]
    names = ["x[0, 0]", "x[1, 0]", "x[0, 1]", "x[1, 1]", "v[0]", "v[1]", "s"]
    assert [variable_name(given, k) for k in range(7)] == names
    assert variable_name(given, 7) == "column 7"


WORDS: dict[str, tuple[Callable[[Cluster], Any], str]] = {
    "nothing": (lambda c: cp.Minimize(0 * cp.sum(c.x)), "linear"),
    "linear": (OBJECTIVES["linear"], "linear"),
    "log": (OBJECTIVES["log"], "log"),
    "two": (lambda c: cp.Maximize(cp.sum(cp.log(c.y)) + cp.sum(cp.sqrt(c.y))), "log + power"),
    "log and linear": (lambda c: cp.Maximize(cp.sum(cp.log(c.y)) + c.x[0, 0]), "log + linear"),
    "twice": (lambda c: cp.Maximize(cp.log(c.y[0]) + cp.log(c.y[1])), "log"),
    "least": (OBJECTIVES["min"], "max-min"),
    "least twice": (lambda c: cp.Maximize(2 * cp.min(c.y) + cp.min(cp.sum(c.x, 1))), "max-min"),
    "log and least": (lambda c: cp.Maximize(cp.sum(cp.log(c.y)) + cp.min(c.y)), "log + max-min"),
    "largest": (lambda c: cp.Minimize(cp.max(c.x @ c.size)), "min-max"),
    "largest and linear": (OBJECTIVES["max of loads"], "min-max + linear"),
    "of entries": (OBJECTIVES["sum of min"], "linear"),
}


@pytest.mark.parametrize("name", WORDS)
def test_the_objective_has_the_words_of_its_atoms(name: str) -> None:
    build, words = WORDS[name]
    assert filled(build(cluster())).objective == words


def test_a_shared_variable_of_the_users_is_no_extreme() -> None:
    c, t = cluster(), cp.Variable(name="level")
    problem = filled(cp.Maximize(t + cp.sum(c.x)), c.y >= t)
    assert (problem.scalar_names, problem.objective) == (["level"], "linear")
    alone = Template(cp.Maximize(t), [Stated(c.y >= t), Stated(c.capacity), Stated(c.time)])
    assert alone.fill()[0].objective == "linear"


def test_an_extreme_without_a_cost_gives_the_objective_no_word() -> None:
    c = cluster()
    problem = filled(cp.Maximize(cp.sum(c.x)), cp.max(c.x @ c.size) <= 2)
    assert (problem.scalar_names, problem.objective) == (["max"], "linear")


def test_extremes_beside_each_other_have_their_own_names() -> None:
    c = cluster()
    problem = filled(cp.Maximize(cp.min(c.y) - cp.max(c.x @ c.size)))
    names = dict(zip(problem.scalar_names, problem.scalar_cost.tolist(), strict=True))
    assert names == {"min": -1.0, "max": 1.0}


def test_entries_are_named_as_the_user_writes_them() -> None:
    c = cluster()
    problem = filled(cp.Maximize(cp.sum(cp.minimum(c.y, 1.2)) + cp.sum(cp.log(c.y + 2))))
    names = [problem.entry_name(k) for k in range(problem.entries)]
    assert names[:2] == ["x[0, 0]", "x[1, 0]"]
    assert sorted(n for n in names if n.startswith("x[")) == sorted(
        f"x[{i}, {j}]" for i in range(M) for j in range(N)
    )
    assert names.count("minimum") == N
    assert names[-N:] == [f"the constant of utility {k}" for k in range(N)]
    assert len(names) == M * N + 2 * N
