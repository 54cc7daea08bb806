"""Connection to a Ray cluster, or a local one on the loopback interface."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time

from walras.errors import EngineError

# Ray's own switches, read when it is first imported: whether a node has more than the loopback
# address, and whether usage reports leave the machine.
_REMOTE_NODES = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
_REPORTS = "RAY_USAGE_STATS_ENABLED"
_REACH_SECONDS = 3.0
_ANSWER_SECONDS = 20.0
_IDLE_SECONDS = 5.0  # in which the actors of a solve before, ended but still there, are gone
_own_node: list[str] = []  # the node of a local Ray that was started here: it may be replaced
_log = logging.getLogger("walras")


def connect(address: str | None, actors: int) -> None:
    """Connect this process to a cluster that has a core for each actor.

    Args:
        address: ``host:port``, ``auto``, or None for the present connection or a local cluster.
        actors: Cores needed.

    Raises:
        EngineError: Nothing there answers as Ray, this process is connected to another cluster, or
            the cluster has too few cores.
    """
    if address is None:
        stay_local()
    import ray  # noqa: PLC0415 (after the switches)

    if ray.is_initialized():
        _require_same(address)
        if address is None and _cores() < actors and _own_is_idle():
            _log.info("Ray: leaving the local workers of before, which are too few")
            ray.shutdown()
    if not ray.is_initialized():
        if address is None:
            _start_local(actors)
        else:
            _join(address)
    cores = _cores()
    if cores < actors:
        raise EngineError(
            f"the Ray cluster has {cores} cores",
            where=f"walras.Ray(actors={actors})",
            allowed=f"1 to {cores} actors",
            remedy="ask for fewer actors, add nodes, or call ray.shutdown() to leave this cluster",
        )


def stay_local() -> None:
    """Switch Ray, before it is imported, to the loopback interface and to no usage reports."""
    os.environ.setdefault(_REMOTE_NODES, "0")
    os.environ.setdefault(_REPORTS, "0")


def _cores() -> int:
    import ray  # noqa: PLC0415

    return int(ray.cluster_resources().get("CPU", 0))


def _require_same(address: str | None) -> None:
    """Refuse an address that is not the connected cluster's; ``auto`` is what ``RAY_ADDRESS`` says.

    Raises:
        EngineError: It is another's.
    """
    import ray  # noqa: PLC0415

    wanted = os.environ.get("RAY_ADDRESS", "") if address == "auto" else address or ""
    if not wanted.rpartition(":")[2].isdecimal() or "/" in wanted:
        return
    connected = str(ray.get_runtime_context().gcs_address)
    if _is_same(wanted, connected):
        return
    raise EngineError(
        f"this program is connected to the Ray cluster at {connected} already",
        where=f"walras.Ray(address={address!r})",
        allowed=f"{connected!r}, or None for the connected cluster",
        remedy="call ray.shutdown() to leave that cluster, then solve with this address",
    )


def _is_same(one: str, other: str) -> bool:
    """Whether two addresses are one port of one machine, by whatever names."""
    (host, _, port), (place, _, gate) = one.rpartition(":"), other.rpartition(":")
    if port != gate:
        return False
    import ray  # noqa: PLC0415

    here = _numbers_of("localhost") | {ray.util.get_node_ip_address()}
    ends, others = _numbers_of(host), _numbers_of(place)
    return bool(ends & others) or bool(ends & here and others & here)


def _numbers_of(host: str) -> set[str]:
    """The addresses of a host; its name where nothing knows it."""
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(host.strip("[]"), None)}
    except OSError:
        return {host}


def _own_is_idle() -> bool:
    """Whether the connected cluster is a local one started here, that nobody uses any more."""
    import ray  # noqa: PLC0415

    if ray.get_runtime_context().get_node_id() not in _own_node:
        return False
    deadline = time.monotonic() + _IDLE_SECONDS
    while _in_use():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def _in_use() -> bool:
    """Whether an actor lives there, or a task holds a core; an actor may hold none."""
    import ray  # noqa: PLC0415

    try:  # the public list of actors needs the dashboard
        from ray._private.state import actors  # noqa: PLC0415
    except ImportError:
        return True
    if any(actor["State"] != "DEAD" for actor in actors().values()):
        return True
    return bool(ray.available_resources().get("CPU", 0) < ray.cluster_resources().get("CPU", 0))


def _start_local(actors: int) -> None:
    _log.info("Ray: starting %d local workers, which takes some seconds", actors)
    import ray  # noqa: PLC0415

    ray.init(
        address="local",
        num_cpus=actors,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    _own_node[:] = [ray.get_runtime_context().get_node_id()]


def _join(address: str) -> None:
    import ray  # noqa: PLC0415

    _log.info("Ray: connecting to %s", address)
    if address != "auto":
        _require_ray_at(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise _unreachable(address, str(error).splitlines()[0]) from error


def _require_ray_at(address: str) -> None:
    """Ray itself waits for minutes, and then ends the program."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _REACH_SECONDS).close()
    except OSError as error:
        raise _unreachable(address, str(error)) from error
    check = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
    try:
        healthy = subprocess.run(check, capture_output=True, timeout=_ANSWER_SECONDS, check=False)
        failed = healthy.returncode != 0
    except subprocess.TimeoutExpired:
        failed = True
    if failed:
        raise _unreachable(address, "what listens there does not answer as Ray")


def _unreachable(address: str, reason: str) -> EngineError:
    return EngineError(
        f"no Ray cluster can be reached: {reason}",
        where=f"walras.Ray(address={address!r})",
        allowed="the address of a running cluster's head, or None for a local one",
        remedy="check the address with `ray health-check --address`, or start `ray start --head`",
    )
