"""Ray clusters: reached, told apart, refused."""

from __future__ import annotations

import socket

import pytest
import ray
from tests.executors.rays import CORES, QUIET, iterate, problem_of

import walras as wl
from walras.executors import ray_cluster

pytestmark = QUIET

cs = wl.domains.cluster_scheduling
te = wl.domains.traffic_engineering


def test_more_actors_than_a_given_cluster_has_cores_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray_cluster, "_own_node", [])  # as if the user had started it
    with pytest.raises(wl.EngineError, match=rf"has {CORES} cores.*allowed: 1 to {CORES} actors"):
        wl.solve(problem_of(cs.max_min), engine=wl.engines.ADMM(executor=wl.Ray(actors=CORES + 1)))


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


def test_a_local_ray_listens_on_the_loopback_interface_alone() -> None:
    assert [node["NodeManagerAddress"] for node in ray.nodes()] == ["127.0.0.1"]
