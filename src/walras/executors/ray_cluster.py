"""Connection to a Ray cluster, or a local one on the loopback interface."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys

from walras.errors import EngineError

# Ray's own switches, read when it is first imported: whether a node has more than the loopback
# address, and whether usage reports leave the machine.
_REMOTE_NODES = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
_REPORTS = "RAY_USAGE_STATS_ENABLED"
_REACH_SECONDS = 3.0
_ANSWER_SECONDS = 20.0
_log = logging.getLogger("walras")


def connect(address: str | None, actors: int) -> None:
    """Connect this process to a cluster that has a core for each actor.

    Args:
        address: ``host:port``, ``auto``, or None for the present connection or a local cluster.
        actors: Cores needed.

    Raises:
        EngineError: Nothing there answers as Ray, or it has too few cores.
    """
    if address is None:
        stay_local()
    import ray  # noqa: PLC0415 (after the switches)

    if not ray.is_initialized():
        if address is None:
            _start_local(actors)
        else:
            _join(address)
    cores = int(ray.cluster_resources().get("CPU", 0))
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
