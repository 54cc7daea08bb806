"""The choice of engine: rules first, then what engines are expected to cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.bank.bank import CASES
from tests.bank.statement import Entry, Row, state
from tests.domains.traffic_engineering.networks import random_case

import walras as wl
from walras.engines.interior.form import MAX_BORDER
from walras.select import choose as choosing
from walras.select.choose import choose

cs, te = wl.domains.cluster_scheduling, wl.domains.traffic_engineering


def test_an_engine_that_is_asked_for_is_taken() -> None:
    for engine in ("interior", "admm", "exact", "integer", "pop"):
        assert choose(CASES[0].base, engine).name == engine


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(wl.InputError, match="allowed: auto, interior, admm, exact, integer, pop"):
        choose(CASES[0].base, "magic")


def test_integers_and_many_free_entries_go_to_exact() -> None:
    problem = CASES[0].base
    whole = replace(problem, integer=np.ones(problem.entries, bool))
    assert choose(whole).name == "exact"
    assert "integer" in choose(whole).reason
    count = MAX_BORDER + 1
    free = state(
        [Entry(0, j, 0.0, -np.inf, quadratic=1.0) for j in range(count)],
        [Row("sum[r0]", {j: 1.0 for j in range(count)}, 1.0, 1.0)],
    )
    assert choose(free).name == "exact"
    assert "free" in choose(free).reason
    s = wl.solve(free)
    assert s.value == pytest.approx(0.5 / count)


def test_two_wide_sides_go_to_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "_NARROW_LIMIT", 3)
    problem = cs.max_min(np.ones((5, 5)), np.ones(5), np.ones(5))
    assert choose(problem).name == "exact"
    assert "narrow side has 5 rows" in choose(problem).reason


def test_the_reason_states_the_predictions() -> None:
    rng = np.random.default_rng(0)
    big = cs.max_min(rng.lognormal(0, 1, (60, 3000)), np.ones(3000), np.full(60, 9.0))
    found = choose(big)
    assert found.name == "interior"
    assert found.seconds["interior"] < found.seconds["exact"]
    assert "predicted" in found.reason


def test_predictions_grow_with_the_problem() -> None:
    rng = np.random.default_rng(1)
    sizes = [(10, 100), (20, 400), (40, 1600)]
    for objective in (cs.max_min, cs.proportional_fairness):
        seconds = [
            choose(objective(rng.lognormal(0, 1, s), np.ones(s[1]), np.full(s[0], 5.0))).seconds
            for s in sizes
        ]
        for engine in ("interior", "exact"):
            times = [prediction[engine] for prediction in seconds]
            assert times == sorted(times)
            assert times[0] < times[-1]


def test_first_order_iterations_are_considered_for_a_few_digits() -> None:
    rng = np.random.default_rng(2)
    wide = cs.total_throughput(rng.lognormal(0, 1, (5000, 60)), np.ones(60), np.full(5000, 0.01))
    assert "admm" not in choose(wide, tolerance=1e-6).seconds
    loose, close = (choose(wide, tolerance=tolerance).seconds for tolerance in (1e-2, 1e-3))
    assert loose["admm"] < close["admm"]
    small = cs.max_min(np.ones((3, 8)), np.ones(8), np.ones(3))
    assert choose(small, tolerance=1e-2).name != "admm"


def test_first_order_iterations_are_not_for_a_scalar_in_the_links_rows() -> None:
    case = random_case(3)
    data = (case.net, case.demand, case.paths)
    assert "admm" in choose(te.max_total_flow(*data), tolerance=1e-2).seconds
    assert "admm" not in choose(te.min_max_utilisation(*data), tolerance=1e-2).seconds


@pytest.mark.parametrize("engine", ["admm", "auto"])
def test_copies_that_do_not_fit_into_memory_are_given_up(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = cs.max_min(np.ones((5, 5)), np.ones(5), np.ones(5))
    monkeypatch.setattr(choosing, "_NARROW_LIMIT", 3)
    monkeypatch.setattr(choosing, "_EXACT_LIMIT", 3)
    assert choose(problem, engine).engine != wl.engines.ADMM(collapse=True)
    monkeypatch.setattr(choosing, "memory", lambda: 2.0**12)
    found = choose(problem, engine)
    assert found.engine == wl.engines.ADMM(collapse=True)
    assert "without copies, with which it takes" in found.reason
    assert choose(problem, "interior").engine == wl.engines.Interior()
    for own in (wl.engines.ADMM(collapse=False), wl.engines.ADMM(mode="paper")):
        assert choose(problem, own).engine is own
    s = wl.solve(problem, engine=engine, tolerance=1e-3)
    assert s.status is wl.Status.OPTIMAL


def test_the_machine_tells_its_memory() -> None:
    assert choosing.memory() > 2.0**28
