"""Solves over Ray actors: the same answer, few bytes, lost actors, bad addresses."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from tests.executors.rays import QUIET, iterate, problem_of

import walras as wl
from walras.engines.admm.engine import executor_on
from walras.engines.admm.proofs.incumbent import Incumbent
from walras.engines.admm.worker_pool import Executor
from walras.executors.ray_pool import RayPool

pytestmark = QUIET

cs = wl.domains.cluster_scheduling
te = wl.domains.traffic_engineering


@pytest.mark.parametrize(("objective", "actors"), [(cs.max_min, 4), (cs.proportional_fairness, 3)])
def test_actors_find_what_one_process_finds(
    objective: Any, actors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Iteration by iteration: proofs come after each of them."""
    monkeypatch.setattr(Incumbent, "due", lambda self, iteration: True)
    problem = problem_of(objective)
    one = iterate(problem, 16)
    many = iterate(problem, 16, executor=wl.Ray(actors=actors))
    assert many.x == pytest.approx(one.x, abs=1e-9)
    assert many.prices == pytest.approx(one.prices, abs=1e-9)
    found = many.history.frame()[["value", "bound"]].to_numpy()
    expected = one.history.frame()[["value", "bound"]].to_numpy()
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_solve_is_proved_and_tells_its_traffic(
    caplog: pytest.LogCaptureFixture, kept: Executor
) -> None:
    caplog.set_level(logging.INFO, logger="walras")
    problem = problem_of(cs.proportional_fairness)
    s = wl.solve(problem, engine=wl.engines.ADMM(executor=kept), tolerance=1e-3, verbose=True)
    assert s.status == wl.Status.OPTIMAL
    assert s.gap <= 1e-3
    assert s.history.frame()["traffic"].iloc[-1] > 0
    assert "bytes an iteration" in caplog.text
    assert "Ray: 2 actors" in caplog.text
    exact = wl.solve(problem, engine="interior", tolerance=1e-8)
    assert s.value == pytest.approx(exact.value, abs=1e-3 * problem.shape[1])


def test_actors_tell_what_the_published_timing_shares(kept: Executor) -> None:
    s = wl.solve(
        problem_of(cs.max_min),
        engine=wl.engines.ADMM(mode="paper", executor=kept),
        tolerance=1e-6,
    )
    assert 0.0 < s.timings.ideal < s.timings.iterate / 64


@pytest.mark.parametrize("objective", [te.max_min_fair, te.max_total_flow_by_link])
def test_levels_and_equalities_are_proved_where_the_demands_are(
    objective: Any, pools: list[RayPool]
) -> None:
    net = te.load_topology("B4")
    traffic = 30.0 * te.lognormal_traffic(net, seed=0)
    by_path = objective is te.max_min_fair
    more = (te.candidate_paths(net, 2, cache=False),) if by_path else ()
    problem = objective(net, traffic, *more, **({"levels": 2} if by_path else {}))
    s = wl.solve(problem, engine="admm", tolerance=1e-2, threads=2)
    found = wl.solve(problem, engine=wl.engines.ADMM(executor=wl.Ray(actors=2)), tolerance=1e-2)
    assert (found.status, len(pools)) == (wl.Status.OPTIMAL, max(len(found.levels), 1))
    assert any("repair.correction_system" in pool.bytes_of for pool in pools)
    assert len({pool._actors for pool in pools}) == 1  # of all levels
    assert not pools[0]._actors.holders  # which have ended
    whole = 8 * (len(found.entries) + 3 * len(found.prices.rows))
    assert all(pool.gathered <= whole for pool in pools)  # once
    assert np.array_equal(found.entries, s.entries)


@pytest.mark.parametrize("actors", [0, -1, 2.5, "2", True, None])
def test_numbers_of_actors_that_make_no_sense_are_refused(actors: Any) -> None:
    with pytest.raises(wl.InputError, match="setting actors"):
        wl.Ray(actors=actors)


@pytest.mark.parametrize(
    "address", ["", "host", "host:", ":1", "host:x", "host:99999", "ray://h:1", 6379]
)
def test_texts_that_are_no_address_are_refused(address: Any) -> None:
    with pytest.raises(wl.InputError, match="setting address"):
        wl.Ray(address=address)


def test_without_ray_there_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(wl.EngineError, match=r"ray is not installed.*\.\[scale\]"):
        wl.Ray()


@pytest.mark.parametrize("executor", ["ray", 4, wl.Ray])
def test_what_is_no_executor_is_refused(executor: Any) -> None:
    with pytest.raises(wl.InputError, match=r"setting executor.*walras\.Ray\(actors=2\)"):
        wl.solve(problem_of(cs.max_min), engine=wl.engines.ADMM(executor=executor))


def test_a_gpu_and_an_executor_do_not_go_together() -> None:
    with pytest.raises(wl.InputError, match=r"setting executor.*device is 'cuda'"):
        executor_on("cuda", wl.Ray())


def test_other_engines_refuse_an_executor() -> None:
    with (
        pytest.warns(DeprecationWarning, match=r"ADMM\(executor=\.\.\.\)"),
        pytest.raises(wl.InputError, match="setting executor"),
    ):
        wl.solve(problem_of(cs.max_min), engine="interior", executor=wl.Ray())  # type: ignore[arg-type]
