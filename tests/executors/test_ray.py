"""Solves over Ray actors: the same answer, few bytes, lost actors, bad addresses."""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import ray
from tests.domains.instances import draw

import walras as wl
from walras.engines.admm import ADMM
from walras.engines.admm.engine import executor_on
from walras.engines.admm.form import make_form
from walras.engines.admm.proofs.incumbent import Incumbent
from walras.engines.admm.slices import row_classification
from walras.executors import ray_cluster, ray_pool
from walras.executors.ray_pool import RayPool
from walras.iterate import Iterate
from walras.settings import Settings

cs = wl.domains.cluster_scheduling
te = wl.domains.traffic_engineering
CORES = 4
# Old versions of Ray leave files and processes of their own to the garbage collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(scope="module", autouse=True)
def local_ray() -> Iterator[None]:
    """One local Ray for all tests of this file; none of its processes stays behind."""
    ray.shutdown()  # of one that another file left
    ray_cluster.connect(None, CORES)
    yield
    ray.shutdown()


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[RayPool]:
    """The pools that solves open, in order."""
    opened: list[RayPool] = []

    class Watched(RayPool):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            opened.append(self)

    monkeypatch.setattr(ray_pool, "RayPool", Watched)
    return opened


def problem_of(objective: Any, n: int = 24, m: int = 5) -> wl.Separable:
    data = draw(5, m, n)
    made: wl.Separable = objective(data.throughput, data.size, data.capacity * n / 12)
    return made


def iterate(problem: wl.Separable, iterations: int, **options: Any) -> Iterate:
    return ADMM(iterations=iterations, **options).solve(problem, Settings(tolerance=1e-12))


def pid_of(pool: RayPool, k: int) -> int:
    return int(ray.get(pool._actors.holders[k].__ray_call__.remote(lambda holder: os.getpid())))


@pytest.mark.parametrize(
    ("objective", "actors"),
    [(cs.max_min, 2), (cs.max_min, 4), (cs.proportional_fairness, 4)],
)
def test_actors_find_what_one_process_finds(
    objective: Any, actors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Iteration by iteration: proofs come after each of them."""
    monkeypatch.setattr(Incumbent, "due", lambda self, iteration: True)
    problem = problem_of(objective)
    one = iterate(problem, 60)
    many = iterate(problem, 60, executor=wl.Ray(actors=actors))
    assert many.x == pytest.approx(one.x, abs=1e-9)
    assert many.prices == pytest.approx(one.prices, abs=1e-9)
    found = many.history.frame()[["value", "bound"]].to_numpy()
    expected = one.history.frame()[["value", "bound"]].to_numpy()
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_solve_is_proved_and_tells_its_traffic(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="walras")
    problem = problem_of(cs.proportional_fairness)
    s = wl.solve(
        problem, engine=wl.engines.ADMM(executor=wl.Ray(actors=2)), tolerance=1e-3, verbose=True
    )
    assert s.status == wl.Status.OPTIMAL
    assert s.gap <= 1e-3
    assert s.history.frame()["traffic"].iloc[-1] > 0
    assert "bytes an iteration" in caplog.text
    assert "Ray: 2 actors" in caplog.text
    exact = wl.solve(problem, engine="interior", tolerance=1e-8)
    assert s.value == pytest.approx(exact.value, abs=1e-3 * problem.shape[1])


def test_actors_tell_what_the_published_timing_shares() -> None:
    s = wl.solve(
        problem_of(cs.max_min),
        engine=wl.engines.ADMM(mode="paper", executor=wl.Ray(actors=2)),
        tolerance=1e-6,
    )
    assert 0.0 < s.timings.ideal < s.timings.iterate / 64


def test_bytes_of_a_pass_do_not_depend_on_the_number_of_demands(pools: list[RayPool]) -> None:
    """A pass sends a price and brings back use and slope of every narrow row, an actor."""
    found = []
    for n in (24, 96):
        iterate(problem_of(cs.proportional_fairness, n), 40, executor=wl.Ray(actors=2))
        found.append(pools[-1].bytes_of)
    narrow = 5 + 1  # and the row that asks for nothing
    for account in found:
        assert account["row_usage"] == 2 * (8 * narrow + 2 * 8 * narrow)
        assert account["advance"] == 2 * (8 * narrow + 8 + 3 * 8)
        assert account["solve_demands"] == 2 * (3 * 8 + 2 * 8)
    assert found[0] == found[1]
    assert {path.partition(".")[0] for path in found[0]} >= {"repair", "bound"}  # proofs, too


@pytest.mark.parametrize("objective", [cs.max_min, cs.proportional_fairness, cs.total_throughput])
def test_the_allocation_crosses_once_when_the_solve_ends(
    objective: Any, pools: list[RayPool]
) -> None:
    problem = problem_of(objective)
    gathered: list[int] = []

    def look(step: wl.progress.Progress) -> None:
        gathered.append(pools[0].gathered)

    s = wl.solve(
        problem, engine=wl.engines.ADMM(executor=wl.Ray(actors=2)), tolerance=1e-3, on_progress=look
    )
    assert s.status == wl.Status.OPTIMAL
    assert sum(step.note == "proof" for step in s.history) > 0
    assert not any(gathered)
    slots = make_form(problem).groups.source.size
    assert pools[0].gathered == 8 * (problem.entries + slots)


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


def flows_by_link(sources: int) -> wl.Separable:
    net = te.load_topology("B4", synthetic=True)
    traffic = te.lognormal_traffic(net, seed=0, total=0.3 * float(np.sum(net.capacity)))
    traffic[sources:] = 0.0
    made: wl.Separable = te.max_total_flow_by_link(net, traffic)
    return made


def test_rows_of_single_demands_cross_at_the_end_alone(
    pools: list[RayPool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_classification, "MOST_CORRECTED", 0)
    found = []
    for sources in (4, 12):
        many = iterate(flows_by_link(sources), 40, executor=wl.Ray(actors=2))
        found.append(pools[-1].bytes_of)
    shared = 38 + 1  # links, and the row that asks for nothing
    for account in found:
        assert account["row_usage"] == 2 * (8 * shared + 2 * 8 * shared)
        assert account["advance"] == 2 * (8 * shared + 8 + 3 * 8)
        assert account["repair.correction_system"] <= 2 * (8 * 38 + 16 + 8 * 38 * (38 + 2))
    assert found[0]["row_usage"] == found[1]["row_usage"]
    one = iterate(flows_by_link(12), 40)
    assert np.array_equal(many.x, one.x)
    assert np.array_equal(many.prices, one.prices)
    problem = flows_by_link(12)
    assert pools[-1].gathered == 8 * (problem.entries + problem.rows.count - 38)


def test_a_lost_actor_takes_the_prices_of_its_own_rows_with_it(
    pools: list[RayPool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_classification, "MOST_CORRECTED", 0)
    problem = flows_by_link(12)

    def kill(step: wl.progress.Progress) -> None:
        if step.iteration >= 20 and not pools[0].replaced:
            os.kill(pid_of(pools[0], 1), signal.SIGKILL)

    s = wl.solve(
        problem, engine=wl.engines.ADMM(executor=wl.Ray(actors=2)), tolerance=1e-2, on_progress=kill
    )
    assert pools[0].replaced >= 1
    assert s.status == wl.Status.OPTIMAL
    assert s.value == pytest.approx(wl.solve(problem, engine="exact").value, rel=2e-2)


def test_a_lost_actor_is_replaced_and_the_solve_goes_on(pools: list[RayPool]) -> None:
    problem = problem_of(cs.max_min)
    killed: list[int] = []

    def kill(step: wl.progress.Progress) -> None:
        if step.iteration >= 20 and not killed:
            killed.append(pid_of(pools[0], 1))
            os.kill(killed[0], signal.SIGKILL)

    s = wl.solve(
        problem, engine=wl.engines.ADMM(executor=wl.Ray(actors=2)), tolerance=1e-3, on_progress=kill
    )
    assert killed
    assert pools[0].replaced == 1
    assert s.status == wl.Status.OPTIMAL
    exact = wl.solve(problem, engine="exact")
    assert s.value == pytest.approx(exact.value, rel=2e-3)


@pytest.mark.parametrize("note", ["proof", ""])
def test_what_a_lost_actor_had_kept_is_proved_again(note: str, pools: list[RayPool]) -> None:
    problem = problem_of(cs.max_min)
    last: list[wl.progress.Progress] = []

    def kill(step: wl.progress.Progress) -> bool:
        if step.iteration < 40 or step.note != note:
            return False
        os.kill(pid_of(pools[0], 0), signal.SIGKILL)
        last.append(step)
        return True

    s = wl.solve(
        problem, engine=wl.engines.ADMM(executor=wl.Ray(actors=2)), tolerance=1e-9, on_progress=kill
    )
    assert (s.status, pools[0].replaced, len(last)) == (wl.Status.INTERRUPTED, 1, 1)
    assert s.certificate.violation <= 1e-9
    assert s.value > 0.0
    assert s.gap < 1.0


def test_the_actors_end_with_the_solve(pools: list[RayPool]) -> None:
    pids: list[int] = []

    def note(step: wl.progress.Progress) -> bool:
        pids.extend(pid_of(pools[0], k) for k in range(2))
        return True

    s = wl.solve(
        problem_of(cs.max_min), engine=wl.engines.ADMM(executor=wl.Ray(actors=2)), on_progress=note
    )
    assert s.status == wl.Status.INTERRUPTED
    assert len(pids) == 2
    deadline = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def test_an_actor_that_cannot_be_kept_is_one_clear_error(
    pools: list[RayPool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_pool, "_LOSSES", 1)
    killed: list[int] = []

    def kill(step: wl.progress.Progress) -> None:
        if not killed:
            killed.append(pid_of(pools[0], 0))
            os.kill(killed[0], signal.SIGKILL)

    with pytest.raises(wl.EngineError, match=r"slice 0 was lost 1 times.*remedy"):
        wl.solve(
            problem_of(cs.max_min),
            engine=wl.engines.ADMM(executor=wl.Ray(actors=2)),
            on_progress=kill,
        )


def test_more_actors_than_a_given_cluster_has_cores_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray_cluster, "_own_node", [])  # as if the user had started it
    with pytest.raises(wl.EngineError, match=rf"has {CORES} cores.*allowed: 1 to {CORES} actors"):
        wl.solve(problem_of(cs.max_min), engine=wl.engines.ADMM(executor=wl.Ray(actors=CORES + 1)))


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


@pytest.mark.timeout(60, func_only=True)  # Ray's own connection attempt goes on for minutes
def test_an_unreachable_address_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens there
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(wl.EngineError, match=rf"{address}.*no Ray cluster can be reached"):
            wl.solve(
                problem_of(cs.max_min), engine=wl.engines.ADMM(executor=wl.Ray(address=address))
            )


def test_a_listener_that_is_not_ray_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray_cluster, "_ANSWER_SECONDS", 3.0)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(wl.EngineError, match="does not answer as Ray"):
            wl.solve(
                problem_of(cs.max_min), engine=wl.engines.ADMM(executor=wl.Ray(address=address))
            )


@pytest.mark.parametrize("address", ["127.0.0.1:1", "auto"])
def test_an_address_of_another_cluster_than_the_connected_one_is_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")  # what "auto" means then
    connected = ray.get_runtime_context().gcs_address
    with pytest.raises(wl.EngineError, match=rf"at {connected} already.*ray\.shutdown\(\)"):
        wl.solve(problem_of(cs.max_min), engine=wl.engines.ADMM(executor=wl.Ray(address=address)))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", None])
def test_the_address_of_the_connected_cluster_is_accepted(host: str | None) -> None:
    connected = ray.get_runtime_context().gcs_address
    address = "auto" if host is None else f"{host}:{connected.rpartition(':')[2]}"
    ray_cluster.connect(address, CORES)
    assert ray.get_runtime_context().gcs_address == connected


def test_a_host_that_nobody_knows_is_another_one() -> None:
    assert not ray_cluster._is_same("no-such-host.invalid:6379", "127.0.0.1:6379")


def test_a_local_ray_grows_unless_it_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "_IDLE_SECONDS", 0.2)

    class Guest:
        def hello(self) -> int:
            return 1

    guest = ray.remote(num_cpus=0)(Guest).remote()
    assert ray.get(guest.hello.remote()) == 1
    with pytest.raises(wl.EngineError, match=rf"has {CORES} cores"):
        ray_cluster.connect(None, CORES + 1)
    ray.kill(guest)
    monkeypatch.undo()
    problem = problem_of(cs.max_min)
    iterate(problem, 4, executor=wl.Ray(actors=2))
    iterate(problem, 4, executor=wl.Ray(actors=CORES + 1))
    assert ray.cluster_resources()["CPU"] == CORES + 1
    ray.shutdown()
    ray_cluster.connect(None, CORES)  # as the other tests know it


def test_a_running_cluster_is_recognised() -> None:
    ray_cluster._require_ray_at(ray.get_runtime_context().gcs_address)


def test_without_ray_there_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(wl.EngineError, match=r"ray is not installed.*\.\[scale\]"):
        wl.Ray()


def test_a_local_ray_listens_on_the_loopback_interface_alone() -> None:
    assert [node["NodeManagerAddress"] for node in ray.nodes()] == ["127.0.0.1"]


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
