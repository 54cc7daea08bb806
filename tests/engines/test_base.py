"""What all engines share: names, options that are checked, short texts, what they accept."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from tests.bank.bank import CASES
from tests.bank.statement import Entry, Row, state

import walras as wl
from walras.engines.base import Engine
from walras.engines.interior.form import MAX_BORDER
from walras.engines.options import group_of
from walras.select.registry import ENGINES
from walras.settings import Settings

PROBLEM = CASES[0].base
GROUPS = {
    group.__name__: group
    for kind in ENGINES.values()
    for item in fields(kind)
    if (group := group_of(item)) is not None
}
WHOLE = replace(PROBLEM, integer=np.ones(PROBLEM.entries, bool))


def test_engines_are_public_and_named() -> None:
    public = {name for name in dir(wl.engines) if name not in {"Engine", *GROUPS}}
    assert {kind.__name__ for kind in ENGINES.values()} == public
    assert all(kind.name == name for name, kind in ENGINES.items())
    assert all(issubclass(kind, wl.engines.Engine) for kind in ENGINES.values())
    assert {name for name, kind in ENGINES.items() if kind.runs_on_gpu} == {"interior", "admm"}


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_object_solves_as_its_name_does(name: str) -> None:
    by_name = wl.solve(PROBLEM, engine=name, tolerance=1e-4, threads=1)
    by_object = wl.solve(PROBLEM, engine=ENGINES[name](), tolerance=1e-4, threads=1)
    assert by_name.engine == by_object.engine
    assert np.array_equal(by_name.entries, by_object.entries)
    assert len(by_name.history) == len(by_object.history)


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        (wl.engines.Interior(), "Interior()"),
        (
            wl.engines.Interior(0.99, columns=wl.engines.ColumnGeneration(first=4)),
            "Interior(step_fraction=0.99, columns=ColumnGeneration(first=4))",
        ),
        (wl.engines.Exact(), "Exact()"),
        (wl.engines.Integer(seed=3), "Integer(seed=3)"),
        (wl.engines.POP(4, engine=wl.engines.Exact()), "POP(parts=4, engine=Exact())"),
        (wl.engines.POP(engine=wl.engines.Interior()), "POP()"),
        (wl.engines.ADMM(mode="paper", rho=1.0), "ADMM(mode='paper', rho=1.0)"),
    ],
)
def test_a_text_names_the_options_that_differ(engine: Engine, text: str) -> None:
    assert repr(engine) == text


def test_numbers_of_numpy_become_plain_and_options_stay() -> None:
    engine = wl.engines.POP(parts=np.int32(3), seed=np.int64(4))  # type: ignore[arg-type]
    assert (type(engine.parts), type(engine.seed)) == (int, int)
    with pytest.raises(FrozenInstanceError):
        engine.parts = 5  # type: ignore[misc]


def test_engines_say_which_problems_they_take() -> None:
    takes = {name: kind().accepts(WHOLE) is None for name, kind in ENGINES.items()}
    assert takes == {
        "interior": False,
        "admm": False,
        "exact": True,
        "integer": True,
        "pop": False,
        "prices": False,
    }
    assert all(kind().accepts(PROBLEM) is None for kind in ENGINES.values())
    count = MAX_BORDER + 1
    free = state(
        [Entry(0, j, 0.0, -np.inf, quadratic=1.0) for j in range(count)],
        [Row("sum[r0]", dict.fromkeys(range(count), 1.0), 1.0, 1.0)],
    )
    assert "65 free entries" in str(wl.engines.Interior().accepts(free))


@pytest.mark.parametrize("engine", [wl.engines.Interior(), wl.engines.ADMM(), wl.engines.POP()])
def test_a_problem_that_an_engine_does_not_take_is_refused(engine: Engine) -> None:
    with pytest.raises(wl.EngineError, match=r"has integer entries.*engine='auto'") as caught:
        engine.solve(WHOLE, Settings())
    assert repr(engine.name) in caught.value.where
